package highlight

import (
	"context"
	"fmt"
	"html"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

var tag = regexp.MustCompile(`<[^>]*>`)

// text is the text of a line's HTML.
func text(line template.HTML) string {
	return html.UnescapeString(tag.ReplaceAllString(string(line), ""))
}

// checkLine says what is wrong with a line's HTML.
func checkLine(line template.HTML) string {
	depth := 0
	for _, m := range tag.FindAllString(string(line), -1) {
		switch {
		case m == "</span>" || m == "</bdi>":
			depth--
		case regexp.MustCompile(`^<span class="[a-z0-9]+">$`).MatchString(m):
			depth++
		case regexp.MustCompile(`^<bdi class="hidden-char" data-char="U\+[0-9A-F]+" title="[a-z -]+">$`).MatchString(m):
			depth++
		default:
			return "odd tag " + m
		}
		if depth < 0 {
			return "an end tag too many"
		}
	}
	if depth != 0 {
		return "a span is open at the end"
	}
	if strings.Contains(string(line), "\n") {
		return "a line break"
	}
	return ""
}

func TestLinesKeepTheText(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob("../markup/*.go")
	for _, file := range append(files, more...) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f := lines(t.Context(), lexerFor(file, src), src, time.Minute)
		if !f.Coloured || f.Language != "Go" || f.Invalid || f.CRLF || f.NoNewline {
			t.Errorf("%s: %t %q", file, f.Coloured, f.Language)
		}
		want := strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")
		if len(f.Lines) != len(want) {
			t.Fatalf("%s: %d lines, want %d", file, len(f.Lines), len(want))
		}
		for i, l := range f.Lines {
			if bad := checkLine(l); bad != "" {
				t.Errorf("%s:%d: %s: %s", file, i+1, bad, l)
			}
			if text(l) != want[i] && len(f.Hidden) == 0 {
				t.Errorf("%s:%d: %q, want %q", file, i+1, text(l), want[i])
			}
		}
	}
}

func TestSpansOverLines(t *testing.T) {
	t.Parallel()
	f := Lines(t.Context(), "a.go", []byte("/* a\nb <c> */ var x = `d\ne`\n"))
	want := []template.HTML{
		`<span class="cm">/* a</span>`,
		`<span class="cm">b &lt;c&gt; */</span> <span class="kd">var</span> x = <span class="s">` + "`d</span>",
		`<span class="s">e` + "`</span>",
	}
	if !slices.Equal(f.Lines, want) {
		t.Errorf("got %q\nwant %q", f.Lines, want)
	}
}

func TestLineEndsAndBytes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		src                      string
		lines                    []string
		invalid, crlf, noNewline bool
	}{
		"empty":      {"", nil, false, false, false},
		"one":        {"a", []string{"a"}, false, false, true},
		"newline":    {"\n", []string{""}, false, false, false},
		"two":        {"a\n\nb\n", []string{"a", "", "b"}, false, false, false},
		"crlf":       {"a\r\nb\r\n", []string{"a", "b"}, false, true, false},
		"lone cr":    {"a\rb\n", []string{"a␍b"}, false, false, false},
		"mixed":      {"a\r\nb\nc\n", []string{"a", "b", "c"}, false, false, false},
		"bom":        {"\xef\xbb\xbfa\n", []string{"a"}, false, false, false},
		"latin 1":    {"caf\xe9\xe9\n", []string{"caf\uFFFD\uFFFD"}, true, false, false},
		"cut utf-8":  {"\xe2\x82", []string{"\uFFFD\uFFFD"}, true, false, true},
		"utf-16":     {"\xff\xfea\x00\r\x00\n\x00\xe9\x00", []string{"a", "é"}, false, true, true},
		"utf-16 be":  {"\xfe\xff\x00a\x00\n\xd8", []string{"a"}, false, false, false},
		"nul":        {"a\x00b\n", []string{"a\u2400b"}, false, false, false},
		"whitespace": {"  \t\n", []string{"  \t"}, false, false, false},
	} {
		for _, file := range []string{"x.unknownext", "x.go", "x.py", "x.md", "x.html"} {
			f := Lines(t.Context(), file, []byte(tc.src))
			var got []string
			for _, l := range f.Lines {
				got = append(got, text(l))
			}
			if !slices.Equal(got, tc.lines) || f.Invalid != tc.invalid || f.CRLF != tc.crlf || f.NoNewline != tc.noNewline {
				t.Errorf("%s as %s: %q %+v", name, file, got, f)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	if f := Lines(t.Context(), "a.json", []byte(strings.Repeat("[1],\n", MaxBytes/5+1))); f.Coloured || f.Language != "JSON" || len(f.Lines) != MaxBytes/5+1 {
		t.Errorf("a large file: coloured %t, %q, %d lines", f.Coloured, f.Language, len(f.Lines))
	}
	if f := Lines(t.Context(), "a.js", []byte("var a;\n"+strings.Repeat("x", MaxLine+1))); f.Coloured || len(f.Lines) != 2 {
		t.Errorf("a long line: coloured %t, %d lines", f.Coloured, len(f.Lines))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	src := strings.Repeat("var a = 1\n", 1000)
	if f := Lines(ended, "a.go", []byte(src)); f.Coloured || len(f.Lines) != 1000 || text(f.Lines[999]) != "var a = 1" {
		t.Errorf("after the end of its context: coloured %t, %d lines", f.Coloured, len(f.Lines))
	}
}

func TestLanguageOfFiles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, src, want string }{
		{"main.go", "", "Go"}, {"dir.py/x.rs", "", "Rust"}, {"Makefile", "", "Makefile"}, {"Dockerfile.dev", "FROM x", "Dockerfile"},
		{"a.h", "", "C"}, {"a.m", "", "Objective-C"}, {"a.html.erb", "", "ERB"}, {"A.PY", "", "Python"},
		{"run", "#!/usr/bin/env python3\n", "Python"}, {"run", "#!/bin/sh -e\n", "Shell"}, {"run", "#!/usr/bin/env -S FOO=1 node --x\n", "JavaScript"},
		{"run", "#!/usr/bin/perl5.30\n", "Perl"}, {"run", "#!\n", ""}, {"run", "x", ""},
		{"x.conf", "# vim: set ft=python :\n", "Python"}, {"x", "a\n// -*- mode: c++; x: y -*-\n", "C++"}, {"x", "# -*- ruby -*-\n", "Ruby"},
		{"x.txt", strings.Repeat("x\n", 50) + "# vim: ts=4 syntax=go\n", "Go"}, {"x.fs", "", "F#"}, {"x.jsx", "", "JavaScript"},
	} {
		if got := Lines(t.Context(), tc.name, []byte(tc.src)).Language; got != tc.want {
			t.Errorf("%s %q is %q, want %q", tc.name, tc.src, got, tc.want)
		}
	}
	if f := LinesIn(t.Context(), "golang", []byte("var x int\n")); !f.Coloured || f.Language != "Go" {
		t.Errorf("golang is %q", f.Language)
	}
}

func TestLanguageTable(t *testing.T) {
	t.Parallel()
	color := regexp.MustCompile(`^#[0-9a-f]{6}$`)
	n := 0
	for row := range strings.Lines(languageTable) {
		if row = strings.TrimSpace(row); row == "" {
			continue
		}
		f := strings.Split(row, "|")
		if len(f) != 4 || !color.MatchString(f[1]) || !strings.Contains("pmdt", f[2]) {
			t.Errorf("bad row %q", row)
		}
		n++
	}
	if n < 60 {
		t.Errorf("%d languages", n)
	}
	for name, want := range map[string]Info{
		"a/b/main.go": {"Go", "#00add8", Programming}, "README.md": {"Markdown", "#083fa1", Prose}, "x.blade.php": {"Blade", "#f7523f", Markup},
		"Dockerfile.prod": {"Dockerfile", "#384d54", Programming}, "nothing.zzz": {}, "": {}, "=go": {},
		"x.agda": {Name: "Agda"},
	} {
		if got := Language(name); got != want {
			t.Errorf("%q is %+v, want %+v", name, got, want)
		}
	}
	for name, want := range map[string]bool{"vendor/x/y.go": true, "a/node_modules/b.js": true, "x.min.js": true, "go.sum": true, "main.go": false, "vendors.go": false, "a_templ.go": true} {
		if Vendored(name) != want {
			t.Errorf("%q vendored: %t", name, !want)
		}
	}
}

func TestHidden(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"if isAdmin \u202e\u2066 { \u2069": "11:202E! 14:2066! 20:2069!",
		"a\u200bb":                         "1:200B", "a\u200db": "1:200D", "pass\u00adword": "4:00AD", "x\ufeff": "1:FEFF",
		"a\U000e0041b": "1:E0041", "a\ufe01": "1:FE01", "a\x07b\x1b[0m": "1:0007 3:001B", "\u3164 = 1": "0:3164", "a\u2028b": "1:2028",
		"café naïve e\u0301 à": "", "non\u00a0breaking\u202fspace": "", "👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3": "",
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f": "", "नमस्\u200dते می\u200cخواهم": "", "שלום\u200f!": "", "tab\there": "",
		"日本語\U000e0100": "", "\u200f x": "0:200F!", "plain ascii": "",
	} {
		var got []string
		for _, h := range Hidden(s) {
			bidi := ""
			if h.Bidi {
				bidi = "!"
			}
			got = append(got, fmt.Sprintf("%d:%04X%s", h.Start, h.Rune, bidi))
			if r, size := utf8.DecodeRuneInString(s[h.Start:h.End]); r != h.Rune || size != h.End-h.Start || h.Name == "" {
				t.Errorf("%q: bad range %+v", s, h)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q hides %q, want %q", s, strings.Join(got, " "), want)
		}
		if hasHidden(s) != (want != "") {
			t.Errorf("%q: hasHidden is %t", s, hasHidden(s))
		}
	}
	f := Lines(t.Context(), "a.go", []byte("x := 1\ny := \"\u202e\"\n"))
	if !slices.Equal(f.Hidden, []int{1}) || !strings.Contains(string(f.Lines[1]), `<bdi class="hidden-char" data-char="U+202E" title="right-to-left override">`) {
		t.Errorf("got %v %q", f.Hidden, f.Lines)
	}
}

func TestMark(t *testing.T) {
	t.Parallel()
	line := template.HTML(`<span class="k">if</span> a &lt; <span class="s">é&#34;</span>`)
	for _, tc := range []struct {
		ranges []Span
		want   string
	}{
		{nil, string(line)},
		{[]Span{{0, 2}}, `<span class="k"><mark class="w">if</mark></span> a &lt; <span class="s">é&#34;</span>`},
		{[]Span{{1, 4}}, `<span class="k">i<mark class="w">f</mark></span><mark class="w"> a</mark> &lt; <span class="s">é&#34;</span>`},
		{[]Span{{0, 1}, {5, 6}, {7, 9}}, `<span class="k"><mark class="w">i</mark>f</span> a <mark class="w">&lt;</mark> <span class="s"><mark class="w">é</mark>&#34;</span>`},
		{[]Span{{9, 100}}, `<span class="k">if</span> a &lt; <span class="s">é<mark class="w">&#34;</mark></span>`},
	} {
		if got := string(Mark(line, tc.ranges, "w")); got != tc.want {
			t.Errorf("%v\n got %s\nwant %s", tc.ranges, got, tc.want)
		}
	}
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ lang, code, want string }{
		{"go", "var x\n", "<span class=\"kd\">var</span> x\n"},
		{"GO", "var x", `<span class="kd">var</span> x`},
		{"nosuch", "<b>\n", "&lt;b&gt;\n"}, {"", "a & b", "a &amp; b"}, {"text", "<", "&lt;"}, {".go", "<", "&lt;"},
		{"js", "</script>", `<span class="o">&lt;</span>/script&gt;`},
	} {
		if got := string(Snippet(tc.lang, tc.code)); got != tc.want {
			t.Errorf("%s %q is %q, want %q", tc.lang, tc.code, got, tc.want)
		}
	}
	long := strings.Repeat("x", MaxLine+1)
	if got := string(Snippet("go", long)); got != long {
		t.Error("a long line was coloured")
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	list := Classes()
	if !slices.Contains(list, "k") || !slices.Contains(list, "c1") || slices.Contains(list, "") || slices.Contains(list, "bg") || !slices.IsSorted(list) {
		t.Errorf("classes %q", list)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	c := NewCache(1 << 20)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			f, err := c.Lines(t.Context(), "b1", "dir/a.go", []byte("var x\n"))
			if err != nil || !f.Coloured || len(f.Lines) != 1 {
				t.Errorf("got %+v, %v", f, err)
			}
		})
	}
	wg.Wait()
	if f, ok := c.Get("b1", "other/a.go"); !ok || f.Language != "Go" {
		t.Errorf("got %+v, %t", f, ok)
	}
	if _, ok := c.Get("b1", "a.py"); ok {
		t.Error("another name has the same colours")
	}
}

// TestEveryLexer colours a text that is odd in every language.
func TestEveryLexer(t *testing.T) {
	t.Parallel()
	src := "<?php if (x < 1) { \"a\\\"b\" } // c\n/* d */ # e 'f\n\n\tüß \u202e <b onclick=1>&amp; `g` ${h} 0x1F 1.5e3\n---\n@i: [j](k)\n"
	want := strings.Split(strings.TrimSuffix(src, "\n"), "\n")
	for name := range byName().names {
		f := LinesIn(t.Context(), name, []byte(src))
		if len(f.Lines) != len(want) {
			t.Errorf("%s: %d lines", name, len(f.Lines))
			continue
		}
		for i, l := range f.Lines {
			if bad := checkLine(l); bad != "" || text(l) != want[i] {
				t.Errorf("%s: %s: %q is %q", name, bad, want[i], l)
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "a\r\nb", "\xff\xfe\x00a", "<b>\u202e</b>\n", "/*\n*/", "'''\n", "```go\nx\n```\n"} {
		f.Add("a.go", []byte(s))
		f.Add("a.md", []byte(s))
		f.Add("a.php", []byte(s))
	}
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		file := Lines(t.Context(), name, src)
		clean, _ := prepare(src)
		var want []string
		for l := range strings.Lines(clean) {
			want = append(want, strings.TrimSuffix(l, "\n"))
		}
		if len(file.Lines) != len(want) {
			t.Fatalf("%d lines, want %d", len(file.Lines), len(want))
		}
		for i, l := range file.Lines {
			if bad := checkLine(l); bad != "" {
				t.Errorf("line %d: %s: %q", i, bad, l)
			}
			if len(Hidden(want[i])) == 0 && text(l) != want[i] {
				t.Errorf("line %d: %q, want %q", i, text(l), want[i])
			}
		}
	})
}

func BenchmarkLines(b *testing.B) {
	src, err := os.ReadFile("language.go")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		Lines(b.Context(), "language.go", src)
	}
}

func BenchmarkPlainLines(b *testing.B) {
	src := []byte(strings.Repeat("some plain text & more of it\n", 1000))
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		Lines(b.Context(), "a.txt", src)
	}
}

func BenchmarkLanguage(b *testing.B) {
	for b.Loop() {
		Language("a/b/c/main_test.go")
	}
}
