package static_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/static"
)

func get(t *testing.T, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	static.Handler().ServeHTTP(w, r)
	return w.Result()
}

func TestURLHoldsHashAndIsServedForEver(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"css/app.built.css", static.Bundle, "icons.svg", "vendor/htmx.min.js"} {
		u := static.URL(name)
		if !regexp.MustCompile(`^/-/static/.+-[0-9a-f]{12}\.(css|js|svg)$`).MatchString(u) {
			t.Errorf("address of %s is %s", name, u)
		}
		res := get(t, u)
		if res.StatusCode != http.StatusOK || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, Cache-Control %q", u, res.StatusCode, res.Header.Get("Cache-Control"))
		}
		plain := get(t, static.Prefix+name)
		if plain.StatusCode != http.StatusOK || plain.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("plain %s: %d, Cache-Control %q", name, plain.StatusCode, plain.Header.Get("Cache-Control"))
		}
	}
}

func TestGzipIsTheSameContent(t *testing.T) {
	t.Parallel()
	u := static.URL("css/app.built.css")
	plain, err := io.ReadAll(get(t, u).Body)
	if err != nil {
		t.Fatal(err)
	}
	res := get(t, u, "Accept-Encoding", "br, gzip")
	if res.Header.Get("Content-Encoding") != "gzip" || res.Header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("headers %v", res.Header)
	}
	zr, err := gzip.NewReader(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(zr)
	if err != nil || string(unpacked) != string(plain) {
		t.Fatalf("gzip holds something else (%v)", err)
	}
}

func TestUnchangedUnknownAndOtherMethods(t *testing.T) {
	t.Parallel()
	u := static.URL(static.Bundle)
	if res := get(t, u, "If-None-Match", get(t, u).Header.Get("ETag")); res.StatusCode != http.StatusNotModified {
		t.Errorf("unchanged: %d", res.StatusCode)
	}
	for _, path := range []string{static.Prefix, static.Prefix + "css/", static.Prefix + "../static.go", static.Prefix + "nothing.js", static.Prefix + "css/app.built-000000000000.css"} {
		if res := get(t, path); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	w := httptest.NewRecorder()
	static.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, u, nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// The stylesheet refers to the fonts by addresses that are served, and cached
// for ever as their names hold the version.
func TestFontsOfStylesheetAreServed(t *testing.T) {
	t.Parallel()
	css, err := io.ReadAll(get(t, static.URL("css/app.built.css")).Body)
	if err != nil {
		t.Fatal(err)
	}
	urls := regexp.MustCompile(`url\(["']?(/-/static/[^"')]+)`).FindAllStringSubmatch(string(css), -1)
	if len(urls) < 6 {
		t.Fatalf("%d fonts in the stylesheet", len(urls))
	}
	for _, u := range urls {
		res := get(t, u[1])
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "font/woff2" || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", u[1], res.StatusCode, res.Header)
		}
	}
}

// Budgets: what a first visit loads stays small.
func TestSizes(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int64{"css/app.built.css": 24 << 10, static.Bundle: 48 << 10, "icons.svg": 16 << 10} {
		if res := get(t, static.URL(name), "Accept-Encoding", "gzip"); res.ContentLength > most {
			t.Errorf("%s is %d bytes packed, more than %d", name, res.ContentLength, most)
		}
	}
}

// What comes from elsewhere is named with its version and has its licence.
func TestVendoredFilesAreListed(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("vendor/VERSIONS")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"vendor", "vendor/fonts"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() && e.Name() != "VERSIONS" && !strings.Contains(string(list), e.Name()+" ") {
				t.Errorf("%s/%s is not in VERSIONS", dir, e.Name())
			}
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		pkg := strings.Fields(line)[1]
		file := strings.NewReplacer("@", "", "/", "-").Replace(pkg)
		if _, err := os.Stat("vendor/licences/" + file + ".txt"); err != nil {
			t.Errorf("%s has no licence: %v", pkg, err)
		}
	}
}

// What is kept compressed is served under its plain name, in both forms, and
// the page for diagrams may run its scripts and nothing else.
func TestPackedAndFramed(t *testing.T) {
	t.Parallel()
	get := func(name, encoding string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, static.Prefix+name, nil)
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		static.Handler().ServeHTTP(w, r)
		return w
	}
	packed, plain := get("vendor/mermaid.min.js", "gzip"), get("vendor/mermaid.min.js", "")
	if packed.Code != http.StatusOK || packed.Header().Get("Content-Encoding") != "gzip" || !strings.HasPrefix(packed.Body.String(), "\x1f\x8b") {
		t.Errorf("packed: %d %v", packed.Code, packed.Header())
	}
	if plain.Code != http.StatusOK || plain.Header().Get("Content-Encoding") != "" || plain.Body.Len() < 2*packed.Body.Len() || !strings.Contains(plain.Body.String(), "mermaid") {
		t.Errorf("plain: %d %v, %d bytes", plain.Code, plain.Header(), plain.Body.Len())
	}
	frame := get("js/mermaid.html", "")
	if csp := frame.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "sandbox allow-scripts; default-src 'none';") || frame.Header().Get("X-Frame-Options") != "SAMEORIGIN" {
		t.Errorf("frame: %v", frame.Header())
	}
}
