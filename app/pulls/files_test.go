package pulls_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// PUB-02: 10,001 files, 200,000 lines in one, and a line of 5 MB.
func TestHugeChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("switch", "-q", "-c", "huge")
	for i := range 10_001 {
		dir := filepath.Join(b.dir, fmt.Sprintf("d%02d", i/200))
		if i%200 == 0 {
			check(t, os.MkdirAll(dir, 0o750))
		}
		check(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%05d.txt", i)), []byte(fmt.Sprintf("file %d\n", i)), 0o600))
	}
	b.commit("huge", "many files")
	b.git("switch", "-q", "main")
	b.commit("long", "long", "long.txt", lines(1, 200_000), "wide.txt", strings.Repeat("x", 5<<20)+"\n")
	b.push("huge", "long")
	many, long := b.open("huge", "main"), b.open("long", "main")
	at := fmt.Sprintf("/ada/engine/pull/%d/files", many)
	b.ada.Get(at).OK() // the first look computes what the others read
	start := time.Now()
	page := b.ada.Get(at).OK().Has("10,001 files").Has("9,851 further files").Has("Review changes")
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("the page took %v", took)
	}
	t.Logf("%v, %d bytes", time.Since(start), len(page.Body))
	if n := len(page.Body); n > 2<<20 {
		t.Errorf("the page has %d bytes", n)
	}
	next, _ := page.Find("#more-files a").Attr("href")
	b.ada.HTMX(next, "more-files").OK().Has("9,701 further files").Has("f00150.txt")
	later, _ := page.Find("#changed-files a").Attr("href")
	b.ada.HTMX(later, "changed-files").OK().Has("f10000.txt")
	b.ada.Get(at + "?after=10000").OK().Has("f10000.txt")
	at = fmt.Sprintf("/ada/engine/pull/%d/files", long)
	start = time.Now()
	page = b.ada.Get(at).OK().Has("+200,001").Has("Load more")
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("the page took %v", took)
	}
	t.Logf("%v, %d bytes", time.Since(start), len(page.Body))
	if n := len(page.Body); n > 2<<20 {
		t.Errorf("the page has %d bytes", n)
	}
	more, _ := page.Find(`a[hx-get*="file=long.txt"]`).Attr("href")
	part := b.ada.HTMX(more, "x").OK().Has("Load more").Has("line 2999")
	more, _ = part.Find(`a[hx-get*="lines="]`).Attr("href")
	b.ada.HTMX(more, "x").OK().Has("line 5999")
	b.ada.Get(more).OK().Has("line 5999")
}

// Unchanged lines are shown on demand; moved ones are marked.
func TestDiffOptions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	block := "func alpha() {\n\tfirst := 1\n\tsecond := 2\n\treturn\n}\n"
	b.commit("main", "code", "code.go", block+lines(1, 40), "space.txt", "a  b\nc\n")
	b.push("main")
	b.commit("fast", "move", "code.go", lines(1, 40)+block, "a.txt", lines(1, 29)+"thirty\n"+lines(31, 60), "space.txt", "a b\nc\n")
	b.push("fast")
	n := b.open("fast", "main")
	at := fmt.Sprintf("/ada/engine/pull/%d/files", n)
	page := b.ada.Get(at).OK().Has("Moved from code.go, line 1").Has("Moved to code.go, line 41").Has("26 lines not shown")
	up, _ := page.Find(`[data-diff-file="a.txt"] tr.hunk a`).First().Attr("href")
	got := b.ada.HTMX(up, "x").OK().Has("line 10").Has("6 lines not shown")
	if strings.Contains(got.Body, "line 50") {
		t.Error("more is shown than was asked for")
	}
	up, _ = got.Find(`tr.hunk a`).First().Attr("href")
	b.ada.HTMX(up, "x").OK().Has("line 1<")
	all, _ := page.Find(`[data-diff-file="a.txt"] a[title*="unchanged"]`).Attr("href")
	b.ada.HTMX(all, "x").OK().Has("line 60")
	b.ada.Get(at + "?diff=split").OK().Has("side by side")
	if strings.Contains(b.ada.Get(at+"?w=1").OK().Text("#review-files"), "a b") {
		t.Error("white space is not hidden")
	}
	b.ada.Get(at + "?file=nothing.txt").Want(http.StatusNotFound)
}
