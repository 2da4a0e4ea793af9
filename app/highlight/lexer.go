package highlight

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// lexerFor chooses the lexer of a file: by what the file says of itself (a
// modeline), its name, or the program that runs it. nil where nothing tells.
func lexerFor(name string, src []byte) chroma.Lexer {
	if l := lexerNamed(modeline(src)); l != nil {
		return l
	}
	if l := byName().match(path.Base(name)); l != nil {
		return l
	}
	return lexerNamed(shebang(src))
}

// lexerNamed returns the lexer of a language by its name or an alias; nil for
// unknown ones and for plain text.
func lexerNamed(lang string) chroma.Lexer {
	lang = strings.ToLower(strings.TrimSpace(lang))
	if lang == "" || len(lang) > 40 {
		return nil
	}
	if alias, ok := aliases(lang); ok {
		lang = alias
	}
	l := byName().names[lang]
	if l == nil {
		l = byName().exts["."+lang]
	}
	if l == nil || l.Config().Name == "plaintext" || l.Config().Name == "fallback" {
		return nil
	}
	return l
}

// aliases are names that people use and chroma does not know.
func aliases(lang string) (string, bool) {
	switch lang {
	case "golang":
		return "go", true
	case "shell-session", "sh-session", "shellsession":
		return "console", true
	case "jsonc", "json5", "jsonl", "geojson", "topojson":
		return "json", true
	case "c++":
		return "cpp", true
	case "el", "emacs-lisp":
		return "elisp", true
	case "viml":
		return "vim", true
	case "jsx", "javascriptreact":
		return "react", true
	case "typescriptreact":
		return "tsx", true
	case "patch":
		return "diff", true
	case "text", "txt", "plain", "none":
		return "", true
	}
	return "", false
}

// index finds lexers by name without going through all patterns of all.
type index struct {
	names map[string]chroma.Lexer // names and aliases
	files map[string]chroma.Lexer // whole file names
	exts  map[string]chroma.Lexer // with their dot, in lower case
	globs []glob
}

type glob struct {
	pattern string
	lexer   chroma.Lexer
}

// byName is made once, at first use, and never changed.
var byName = sync.OnceValue(newIndex)

func newIndex() *index {
	ix := &index{names: map[string]chroma.Lexer{}, files: map[string]chroma.Lexer{}, exts: map[string]chroma.Lexer{}}
	all := lexers.GlobalLexerRegistry.Lexers
	for _, l := range all {
		c := l.Config()
		ix.names[strings.ToLower(c.Name)] = l
		for _, a := range c.Aliases {
			if _, taken := ix.names[strings.ToLower(a)]; !taken {
				ix.names[strings.ToLower(a)] = l
			}
		}
	}
	for _, l := range all {
		ix.add(l, l.Config().Filenames, true)
	}
	for _, l := range all {
		ix.add(l, l.Config().AliasFilenames, false)
	}
	// Where several languages share an ending, the likelier one.
	for ext, lang := range map[string]string{
		".h": "c", ".m": "objective-c", ".pl": "perl", ".pm": "perl", ".t": "perl", ".v": "verilog", ".ts": "typescript",
		".r": "r", ".cls": "tex", ".sty": "tex", ".fs": "fsharp", ".inc": "php", ".s": "gas", ".rs": "rust", ".cs": "c#",
		".md": "markdown", ".tf": "hcl", ".sql": "sql", ".yml": "yaml", ".html": "html", ".htm": "html", ".xml": "xml",
		".svg": "xml", ".mjs": "javascript", ".cjs": "javascript", ".mts": "typescript", ".cts": "typescript", ".jsx": "react",
		".ipynb": "json", ".geojson": "json", ".webmanifest": "json", ".lock": "", ".txt": "", ".templ": "templ", ".d": "d", ".b": "brainfuck",
		".cfg": "ini", ".conf": "ini", ".toml": "toml", ".bzl": "starlark", ".gitconfig": "ini", ".editorconfig": "ini",
	} {
		if l := ix.names[lang]; l != nil {
			ix.exts[ext] = l
		} else if lang == "" {
			delete(ix.exts, ext)
		}
	}
	for name, lang := range map[string]string{
		".gitconfig": "ini", ".gitmodules": "ini", ".editorconfig": "ini", "go.mod": "go", "cargo.lock": "toml", "poetry.lock": "toml",
		"package-lock.json": "json", "composer.lock": "json", "pipfile": "toml", ".bashrc": "bash", ".zshrc": "bash", ".profile": "bash",
		"build": "python", "workspace": "python", "vagrantfile": "ruby", "jenkinsfile": "groovy", "codeowners": "", ".gitignore": "",
	} {
		if l := ix.names[lang]; l != nil {
			ix.files[name] = l
		} else if lang == "" {
			delete(ix.files, name)
		}
	}
	return ix
}

func (ix *index) add(l chroma.Lexer, patterns []string, first bool) {
	put := func(m map[string]chroma.Lexer, key string) {
		key = strings.ToLower(key)
		if old := m[key]; old == nil || first && better(l, old) {
			m[key] = l
		}
	}
	for _, p := range patterns {
		rest, ext := strings.CutPrefix(p, "*.")
		switch {
		case !strings.ContainsAny(p, "*?["):
			put(ix.files, p)
		case ext && !strings.ContainsAny(rest, "*?["):
			put(ix.exts, "."+rest)
		default:
			ix.globs = append(ix.globs, glob{p, l})
		}
	}
}

// better orders lexers that claim the same files.
func better(a, b chroma.Lexer) bool {
	priority := func(l chroma.Lexer) float32 {
		if p := l.Config().Priority; p != 0 {
			return p
		}
		return 1 // the default
	}
	if c := cmp.Compare(priority(a), priority(b)); c != 0 {
		return c > 0
	}
	return a.Config().Name < b.Config().Name
}

// match finds the lexer of a file by its name, without folders.
func (ix *index) match(name string) chroma.Lexer {
	lower := strings.ToLower(name)
	if l := ix.files[lower]; l != nil {
		return l
	}
	for at := range len(lower) { // the longest ending first: .html.erb before .erb
		if lower[at] == '.' {
			if l := ix.exts[lower[at:]]; l != nil {
				return l
			}
		}
	}
	for _, g := range ix.globs {
		if ok, _ := path.Match(g.pattern, name); ok {
			return g.lexer
		}
	}
	return nil
}

// shebang returns the language of the program named in a first line such as
// #!/usr/bin/env python3.
func shebang(src []byte) string {
	if !bytes.HasPrefix(src, []byte("#!")) {
		return ""
	}
	line, _, _ := bytes.Cut(src[2:min(len(src), 200)], []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return ""
	}
	prog := path.Base(words[0])
	for _, w := range words[1:] {
		if prog != "env" {
			break
		}
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			prog = path.Base(w)
		}
	}
	prog = strings.TrimRight(prog, "0123456789.")
	switch prog {
	case "node", "nodejs", "deno", "bun":
		return "javascript"
	case "sh", "bash", "dash", "ksh", "zsh", "ash":
		return "bash"
	case "gawk", "mawk", "nawk":
		return "awk"
	case "pypy":
		return "python"
	case "Rscript":
		return "r"
	case "runghc", "runhaskell":
		return "haskell"
	case "tclsh", "wish":
		return "tcl"
	case "make", "gmake":
		return "makefile"
	}
	return prog
}

var (
	vimLine   = regexp.MustCompile(`(?:^|\s)(?:vi|vim|ex):\s*(?:set?\s[^:\n]*?|[^\n]*?[:\s])?(?:ft|filetype|syntax)=([\w+#.-]+)`)
	emacsLine = regexp.MustCompile(`-\*-\s*(?:.*?mode:\s*)?([\w+#.-]+)\s*(?:;.*?)?-\*-`)
)

// modeline returns the language that a line for vim or Emacs among the first
// or last five names.
func modeline(src []byte) string {
	for _, part := range [][]byte{head(src, 5), tailLines(src, 5)} {
		if m := vimLine.FindSubmatch(part); m != nil {
			return string(m[1])
		}
	}
	if m := emacsLine.FindSubmatch(head(src, 2)); m != nil {
		return string(m[1])
	}
	return ""
}

func head(src []byte, lines int) []byte {
	src = src[:min(len(src), 2000)]
	at := 0
	for range lines {
		nl := bytes.IndexByte(src[at:], '\n')
		if nl < 0 {
			return src
		}
		at += nl + 1
	}
	return src[:at]
}

func tailLines(src []byte, lines int) []byte {
	src = bytes.TrimRight(src[max(0, len(src)-2000):], "\n")
	at := len(src)
	for range lines {
		nl := bytes.LastIndexByte(src[:at], '\n')
		if nl < 0 {
			return src
		}
		at = nl
	}
	return src[at:]
}
