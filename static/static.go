// Package static embeds what pages load besides themselves: the stylesheet,
// scripts, fonts and icons. URL gives each an address that holds a hash of its
// content, so that browsers keep it for ever and never use a stale one.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// Prefix is where Handler is mounted.
const Prefix = "/-/static/"

// Bundle is the name of the one script that every page loads: htmx, its
// extensions and the behaviours that all pages share, one after the other.
// Scripts of single pages are loaded by their own name.
const Bundle = "js/app.js"

//go:embed css/app.built.css js vendor icons.svg favicon.svg
var files embed.FS

// bundled lists what Bundle is made of, in order.
func bundled() []string {
	return []string{
		"vendor/htmx.min.js",
		"vendor/idiomorph.min.js",
		"vendor/htmx-ext-preload.min.js",
		"vendor/htmx-ext-response-targets.min.js",
		"js/page.js", "js/theme.js", "js/time.js", "js/menu.js", "js/dialog.js",
		"js/copy.js", "js/swipe.js", "js/toast.js", "js/form.js", "js/draft.js", "js/composer.js",
		"js/keep.js", "js/text.js", "js/live.js", "js/shortcuts.js", "js/list.js", "js/lines.js", "js/thread.js", "js/review.js", "js/conflict.js", "js/palette.js",
	}
}

// asset is one file as it is served.
type asset struct {
	body, gzipped []byte
	mediaType     string
	etag          string
	url           string
	versioned     bool // the plain name already tells versions apart
}

// index maps both plain and hashed names to assets; it is built once and then
// only read.
var index = sync.OnceValue(func() map[string]*asset {
	m := map[string]*asset{}
	add := func(name string, body []byte) {
		a := newAsset(name, body)
		name = strings.TrimSuffix(name, ".gz")
		m[name] = a
		m[strings.TrimPrefix(a.url, Prefix)] = a
	}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := files.ReadFile(name)
		if err == nil {
			add(name, body)
		}
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("static: read embedded files: %v", err))
	}
	var all bytes.Buffer
	for _, name := range bundled() {
		a := m[name]
		if a == nil {
			panic(fmt.Sprintf("static: %s is not embedded", name))
		}
		all.Write(a.body)
		all.WriteString("\n;\n")
	}
	add(Bundle, all.Bytes())
	return m
})

func newAsset(name string, body []byte) *asset {
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:6])
	name, packed := strings.CutSuffix(name, ".gz")
	ext := path.Ext(name)
	a := &asset{body: body, etag: `"` + hash + `"`, mediaType: mediaType(ext)}
	a.url = Prefix + strings.TrimSuffix(name, ext) + "-" + hash + ext
	if strings.HasPrefix(name, "vendor/fonts/") {
		a.url, a.versioned = Prefix+name, true
		return a
	}
	if packed {
		a.body, a.gzipped = nil, body
	} else if len(body) > 512 {
		var buf bytes.Buffer
		// Writes to a buffer do not fail, and the level is valid.
		w, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
		_, _ = w.Write(body)
		_ = w.Close()
		a.gzipped = buf.Bytes()
	}
	return a
}

func mediaType(ext string) string {
	switch ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	return "text/plain; charset=utf-8"
}

// URL is the address of the file called name, such as "css/app.built.css" or
// Bundle. It panics when there is no such file, which a page's test finds.
func URL(name string) string {
	a := index()[name]
	if a == nil {
		panic(fmt.Sprintf("static: no file %q", name))
	}
	return a.url
}

// Handler serves everything below Prefix. Hashed addresses may be kept for
// ever; plain ones are checked again at each use. An unknown name is 404.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		a := index()[strings.TrimPrefix(r.URL.Path, Prefix)]
		if a == nil {
			http.NotFound(w, r)
			return
		}
		a.serve(w, r)
	})
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.mediaType)
	h.Set("ETag", a.etag)
	h.Set("X-Content-Type-Options", "nosniff")
	if a.versioned || r.URL.Path == a.url {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	if path.Ext(r.URL.Path) == ".html" {
		// A page of ours for a frame, in which it may only run its scripts.
		h.Set("Content-Security-Policy", "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'")
		h.Set("X-Frame-Options", "SAMEORIGIN")
	}
	body := a.body
	if a.gzipped != nil {
		h.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = a.gzipped
		} else if body == nil { // kept compressed only, and no browser asks for it plain
			unpacked, err := unpack(a.gzipped)
			if err != nil {
				http.Error(w, "damaged file", http.StatusInternalServerError)
				return
			}
			body = unpacked
		}
	}
	if strings.Contains(r.Header.Get("If-None-Match"), a.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the reader has gone; nothing to do
	}
}

func unpack(gzipped []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(gzipped))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return body, nil
}
