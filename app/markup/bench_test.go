package markup

import (
	"strings"
	"testing"
)

const benchComment = "Thanks @ann, this **fixes** #1 as of abc1234.\n\n- [x] one\n- [ ] two\n\n```go\nfunc main() {}\n```\n\nSee [the docs](https://e.com/x) and `code`.\n"

// benchRender renders text again and again; without a cache if compile.
func benchRender(b *testing.B, texts []Source, compile bool) {
	b.Helper()
	r := New(Config{SiteURL: "http://forge.test"})
	look := (&world{}).lookup()
	if compile {
		for i := range texts {
			texts[i].Options.Files.Raw = func(p string) string { return "/raw/" + p } // no key: not kept
		}
	}
	size := 0
	for _, t := range texts {
		size += len(t.Text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.RenderAll(b.Context(), look, texts); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkComment(b *testing.B) {
	benchRender(b, []Source{{benchComment, Options{Mode: Comment, Owner: "o", Repo: "r"}}}, true)
}

// BenchmarkThread is a page of 50 comments that was shown before.
func BenchmarkThread(b *testing.B) {
	var texts []Source
	for i := range 50 {
		texts = append(texts, Source{strings.Repeat("word ", i) + benchComment, Options{Mode: Comment, Owner: "o", Repo: "r"}})
	}
	benchRender(b, texts, false)
}

func BenchmarkReadme(b *testing.B) {
	var text strings.Builder
	for _, ex := range commonmark(b) {
		text.WriteString("\n\n" + ex.markdown)
	}
	benchRender(b, []Source{{text.String(), Options{Owner: "o", Repo: "r"}}}, true)
}

func BenchmarkTitle(b *testing.B) {
	for b.Loop() {
		Title("cmd: `serve` loses :tada: requests on SIGTERM")
	}
}
