package highlight

import (
	"path"
	"strings"
	"sync"
)

// LanguageKind says what a language is for.
type LanguageKind byte

// Kinds of languages. Statistics count programming and markup only.
const (
	UnknownKind LanguageKind = iota
	Programming
	Markup
	Data
	Prose
)

// Info is what to show of a file's language.
type Info struct {
	Name  string // "" where unknown
	Color string // #rrggbb; "" where unknown
	Kind  LanguageKind
}

// Counted says whether statistics of a repository count the language.
func (i Info) Counted() bool { return i.Kind == Programming || i.Kind == Markup }

// languageTable lists languages: name, colour, kind, and the names and endings
// of their files.
const languageTable = `
Go|#00add8|p|.go
Python|#3572a5|p|.py .pyw .pyi .pyx SConstruct SConscript wscript
JavaScript|#f1e05a|p|.js .mjs .cjs .jsx .es6 Jakefile
TypeScript|#3178c6|p|.ts .tsx .mts .cts
Java|#b07219|p|.java .jav
C|#555555|p|.c .h .idc
C++|#f34b7d|p|.cpp .cc .cxx .c++ .hpp .hh .hxx .h++ .inl .ipp .tpp .cppm .ino
C#|#178600|p|.cs .csx .cake
Rust|#dea584|p|.rs
Ruby|#701516|p|.rb .rake .gemspec .ru .podspec Rakefile Gemfile Vagrantfile Podfile Brewfile Fastfile
PHP|#4f5d95|p|.php .phtml .php3 .php4 .php5 .inc
Swift|#f05138|p|.swift
Kotlin|#a97bff|p|.kt .kts .ktm
Scala|#c22d40|p|.scala .sbt .sc
Objective-C|#438eff|p|.m
Objective-C++|#6866fb|p|.mm
Dart|#00b4ab|p|.dart
Elixir|#6e4a7e|p|.ex .exs
Erlang|#b83998|p|.erl .hrl rebar.config
Haskell|#5e5086|p|.hs .hsc .lhs
OCaml|#ef7a08|p|.ml .mli .mll .mly
F#|#b845fc|p|.fs .fsi .fsx
Clojure|#db5855|p|.clj .cljs .cljc .boot
Lua|#000080|p|.lua .rockspec .wlua
Perl|#0298c3|p|.pl .pm .t .psgi cpanfile
Raku|#0000fb|p|.raku .rakumod .p6 .pm6
R|#198ce7|p|.r .rd .rsx .Rprofile
Julia|#a270ba|p|.jl
MATLAB|#e16737|p|.matlab
Fortran|#4d41b1|p|.f .f77 .for .f90 .f95 .f03 .f08
Zig|#ec915c|p|.zig
Nim|#ffc200|p|.nim .nims .nimble
Crystal|#000100|p|.cr
D|#ba595e|p|.d .di
V|#4f87c4|p|.vv .vsh
Groovy|#4298b8|p|.groovy .gvy .gradle Jenkinsfile
Visual Basic .NET|#945db7|p|.vb .vbs
Pascal|#e3f171|p|.pas .dpr .dfm .lpr
Ada|#02f88c|p|.adb .ads .ada
COBOL|#3b6b8a|p|.cob .cbl .cpy
Common Lisp|#3fb68b|p|.lisp .lsp .asd .cl
Emacs Lisp|#c065db|p|.el
Scheme|#1e4aec|p|.scm .ss .sld
Racket|#3c5caa|p|.rkt .rktd
Prolog|#74283c|p|.pro .prolog
Assembly|#6e4c13|p|.asm .s .nasm .a51
Verilog|#b2b7f8|p|.v .veo .vh
SystemVerilog|#dae1c2|p|.sv .svh
VHDL|#adb2cb|p|.vhd .vhdl
Solidity|#aa6746|p|.sol
Shell|#89e051|p|.sh .bash .zsh .ksh .fish .bats .bashrc .zshrc .profile
PowerShell|#012456|p|.ps1 .psm1 .psd1
Batchfile|#c1f12e|p|.bat .cmd
Makefile|#427819|p|.mk .mak Makefile makefile GNUmakefile BSDmakefile
CMake|#da3434|p|.cmake CMakeLists.txt
Dockerfile|#384d54|p|.dockerfile Dockerfile Containerfile
Nix|#7e7eff|p|.nix
HCL|#844fba|p|.tf .tfvars .hcl .nomad
Starlark|#76d275|p|.bzl .star BUILD WORKSPACE BUILD.bazel MODULE.bazel
Just|#384d54|p|.just justfile Justfile
Meson|#007800|p|meson.build meson_options.txt
Vim Script|#199f4b|p|.vim .vimrc .nvimrc
AWK|#c30e9b|p|.awk .gawk
Tcl|#e4cc98|p|.tcl .adp .tm
Cuda|#3a4e3a|p|.cu .cuh
GLSL|#5686a5|p|.glsl .vert .frag .geom .comp
HLSL|#aace60|p|.hlsl .fx .fxh
GDScript|#355570|p|.gd
QML|#44a51c|p|.qml .qbs
Elm|#60b5cc|p|.elm
PureScript|#1d222d|p|.purs
ReScript|#ed5051|p|.res .resi
Gleam|#ffaff3|p|.gleam
Odin|#60affe|p|.odin
WebAssembly|#04133b|p|.wat .wast
CoffeeScript|#244776|p|.coffee .cson Cakefile
SQL|#e38c00|d|.sql .ddl
PLpgSQL|#336790|p|.pgsql
HTML|#e34c26|m|.html .htm .xhtml .html.hl
CSS|#663399|m|.css
SCSS|#c6538c|m|.scss
Sass|#a53b70|m|.sass
Less|#1d365d|m|.less
Stylus|#ff6347|m|.styl
Vue|#41b883|m|.vue
Svelte|#ff3e00|m|.svelte
Astro|#ff5a03|m|.astro
templ|#66d0dd|m|.templ
Jinja|#a52a22|m|.jinja .jinja2 .j2
ERB|#701516|m|.erb .html.erb .rhtml
Haml|#ece2a9|m|.haml
Pug|#a86454|m|.pug .jade
Handlebars|#f7931e|m|.hbs .handlebars
Mustache|#724b3b|m|.mustache
Twig|#c1d026|m|.twig
Blade|#f7523f|m|.blade.php
Smarty|#f0c040|m|.tpl
TeX|#3d6117|m|.tex .sty .cls .ltx .dtx .bib
Typst|#239dad|m|.typ
XSLT|#eb8ceb|m|.xsl .xslt
PostScript|#da291c|m|.ps .eps
Jupyter Notebook|#da5b0b|m|.ipynb
MDX|#fcb32c|m|.mdx
Markdown|#083fa1|t|.md .markdown .mkd .mdown
reStructuredText|#141414|t|.rst
AsciiDoc|#73a0c5|t|.adoc .asciidoc .asc
Org|#77aa99|t|.org
Text|#8a8a8a|t|.txt README LICENSE COPYING CHANGELOG AUTHORS NOTICE
JSON|#292929|d|.json .jsonl .json5 .jsonc .geojson .webmanifest .ipynb_meta composer.lock
YAML|#cb171e|d|.yml .yaml .clang-format
TOML|#9c4221|d|.toml Cargo.lock poetry.lock Pipfile
XML|#0060ac|d|.xml .xsd .rss .atom .plist .csproj .vbproj .fsproj .props .targets .xaml .wsdl
SVG|#ff9900|d|.svg
INI|#d1dbe0|d|.ini .cfg .conf .properties .editorconfig .gitconfig .gitmodules
CSV|#237346|d|.csv
TSV|#237346|d|.tsv
Diff|#8a8a8a|d|.diff .patch
Protocol Buffer|#6f6f6f|d|.proto
GraphQL|#e10098|d|.graphql .gql .graphqls
Thrift|#d12127|d|.thrift
Go Module|#00add8|d|go.mod go.sum go.work go.work.sum
Ignore List|#8a8a8a|d|.gitignore .dockerignore .npmignore .eslintignore
`

// languages finds languages by name and by files. Made once, never changed.
var languages = sync.OnceValue(func() map[string]Info {
	m := map[string]Info{}
	kinds := map[string]LanguageKind{"p": Programming, "m": Markup, "d": Data, "t": Prose}
	for row := range strings.Lines(languageTable) {
		f := strings.Split(strings.TrimSpace(row), "|")
		if len(f) != 4 {
			continue
		}
		info := Info{f[0], f[1], kinds[f[2]]}
		m["="+strings.ToLower(info.Name)] = info
		for file := range strings.FieldsSeq(f[3]) {
			if _, taken := m[strings.ToLower(file)]; !taken {
				m[strings.ToLower(file)] = info
			}
		}
	}
	return m
})

// Language tells the language of a file by its name alone, which is quick
// enough for all files of a repository.
func Language(name string) Info {
	base := strings.ToLower(path.Base(name))
	table := languages()
	if info, ok := table[base]; ok && !strings.HasPrefix(base, "=") {
		return info
	}
	for at := range len(base) {
		if base[at] == '.' {
			if info, ok := table[base[at:]]; ok {
				return info
			}
		}
	}
	if stem, _, ok := strings.Cut(base, "."); ok && (stem == "dockerfile" || stem == "makefile" || stem == "jenkinsfile") {
		return table[stem]
	}
	if l := byName().match(path.Base(name)); l != nil {
		return LanguageNamed(l.Config().Name)
	}
	return Info{}
}

// LanguageNamed returns the language of the given name, as a setting or a
// lexer has it.
func LanguageNamed(name string) Info {
	key := strings.ToLower(strings.TrimSpace(name))
	switch key {
	case "":
		return Info{}
	case "react":
		key = "javascript"
	case "bash", "zsh", "fish":
		key = "shell"
	case "docker":
		key = "dockerfile"
	case "gas", "nasm", "armasm":
		key = "assembly"
	case "viml":
		key = "vim script"
	case "terraform":
		key = "hcl"
	case "base makefile":
		key = "makefile"
	case "fsharp":
		key = "f#"
	case "mysql", "transact-sql":
		key = "sql"
	case "postgresql sql dialect":
		key = "plpgsql"
	case "vb.net":
		key = "visual basic .net"
	case "objectpascal":
		key = "pascal"
	case "emacslisp":
		key = "emacs lisp"
	case "plaintext", "fallback":
		return Info{}
	}
	if info, ok := languages()["="+key]; ok {
		return info
	}
	return Info{Name: name}
}

// Vendored says whether a path belongs to what others wrote or a program made,
// which statistics leave out.
func Vendored(file string) bool {
	lower := strings.ToLower(file)
	for dir := range strings.SplitSeq(path.Dir(lower), "/") {
		switch dir {
		case "vendor", "node_modules", "third_party", "third-party", "thirdparty", "bower_components", "dist", "godeps",
			"external", "externals", ".yarn", "testdata", "fixtures", "deps", "_vendor", ".venv", "venv", "site-packages", "pods":
			return true
		}
	}
	base := path.Base(lower)
	for _, end := range []string{".min.js", ".min.css", ".pb.go", "_templ.go", "_generated.go", ".gen.go", ".pb.cc", ".pb.h", "_pb2.py", ".map", ".designer.cs", ".g.dart"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	switch base {
	case "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "go.sum", "cargo.lock", "poetry.lock", "composer.lock", "gemfile.lock":
		return true
	}
	return strings.HasPrefix(base, "jquery") && strings.HasSuffix(base, ".js")
}
