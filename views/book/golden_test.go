package book_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/gitfor/gitfor/views/book"
	"github.com/gitfor/gitfor/views/ui"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Hashes in addresses change with the files they name; the markup does not.
var hashed = regexp.MustCompile(`(/-/static/[a-z0-9./_-]+?)-[0-9a-f]{12}\.`)

// Each story's markup is as it was when somebody last looked at it.
func TestGolden(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 15, 16, 17, 0, time.UTC)
	for _, s := range book.Stories(now) {
		t.Run(s.Key, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			ctx := ui.WithFormKeys(t.Context(), func() string { return "key" })
			if err := s.Show.Render(ctx, &b); err != nil {
				t.Fatal(err)
			}
			got := hashed.ReplaceAll(b.Bytes(), []byte("$1-HASH."))
			// One element a line reads better in a diff.
			got = append(bytes.ReplaceAll(got, []byte("><"), []byte(">\n<")), '\n')
			got = relative.ReplaceAll(got, []byte(">AGO</time>"))
			got = moments.ReplaceAll(got, []byte(`<time datetime="THEN" title="THEN" data-ago>`))
			path := filepath.Join("testdata", s.Key+".golden")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (-update writes it)", err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("markup changed (-want +got); if it should, run with -update:\n%s", d)
			}
		})
	}
}

// Comments and events use the clock; what they say is tested in views/ui.
var (
	relative = regexp.MustCompile(`>[^<>]*</time>`)
	moments  = regexp.MustCompile(`<time datetime="[^"]*" title="[^"]*" data-ago>`)
)
