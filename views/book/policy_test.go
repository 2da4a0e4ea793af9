package book_test

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/views/book"
	"github.com/gitfor/gitfor/views/link"
)

// No page holds what the Content-Security-Policy refuses: inline scripts,
// style attributes, event attributes, javascript: addresses. Nor does one name
// a file of another origin, or use an id twice.
func TestPagesKeepThePolicy(t *testing.T) {
	t.Parallel()
	scripts := regexp.MustCompile(`<script[^>]*>`)
	refused := regexp.MustCompile(`<style|\sstyle="|\son[a-z]+="|javascript:|(?:src|href)="https?://|hx-on|hx-vals="js`)
	ids := regexp.MustCompile(`\sid="([^"]+)"`)
	for _, f := range append(book.Frames(), "") {
		w := httptest.NewRecorder()
		book.Handler().ServeHTTP(w, httptest.NewRequest("GET", link.Book()+"?frame="+f, nil))
		html := w.Body.String()
		if bad := refused.FindString(html); bad != "" {
			t.Errorf("frame %q holds %q", f, bad)
		}
		for _, tag := range scripts.FindAllString(html, -1) {
			if !strings.Contains(tag, ` src="/-/static/`) {
				t.Errorf("frame %q holds %s", f, tag)
			}
		}
		seen := map[string]bool{}
		for _, m := range ids.FindAllStringSubmatch(html, -1) {
			if seen[m[1]] {
				t.Errorf("frame %q has the id %q twice", f, m[1])
			}
			seen[m[1]] = true
		}
	}
}
