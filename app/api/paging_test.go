package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gitfor/gitfor/app/web"
)

func TestLink(t *testing.T) {
	t.Parallel()
	kit, err := web.New(web.Config{URL: "https://forge.example"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ query, want string }{
		{"", `<https://forge.example/api/v3/x?page=2>; rel="next", <https://forge.example/api/v3/x?page=3>; rel="last"`},
		{"?page=3", `<https://forge.example/api/v3/x?page=2>; rel="prev", <https://forge.example/api/v3/x?page=1>; rel="first"`},
		{"?per_page=100&a=%26", ""},
		{"?page=-4&per_page=0", `<https://forge.example/api/v3/x?page=2&per_page=0>; rel="next", <https://forge.example/api/v3/x?page=70&per_page=0>; rel="last"`},
	} {
		h := kit.Handler(func(r *web.Router) {
			r.API().Get("/x", web.Access{Name: "anyone", Allow: func(*web.Ctx) error { return nil }}, func(c *web.Ctx) error {
				PageOf(c).LinkTotal(c, 70)
				return c.NoContent()
			})
		})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v3/x"+tc.query, nil))
		if got := w.Header().Get("Link"); got != tc.want {
			t.Errorf("%s: Link %q, want %q", tc.query, got, tc.want)
		}
	}
}
