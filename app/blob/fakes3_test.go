package blob

import (
	"bufio"
	"bytes"
	"crypto/md5" //nolint:gosec // S3's ETag is an MD5
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeS3 is as much of S3 as the store uses: one bucket, whole objects.
type fakeS3 struct {
	mu      sync.Mutex
	objects map[string][]byte
	t       *testing.T
}

func newFakeS3(t *testing.T) string {
	t.Helper()
	f := &fakeS3{objects: map[string][]byte{}, t: t}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return "s3://key:secret@" + strings.TrimPrefix(s.URL, "http://") + "/bucket/below?region=us-east-1&insecure=1"
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=key/") {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	key := strings.TrimPrefix(r.URL.Path, "/bucket/")
	switch {
	case r.Method == http.MethodGet && key == "" || r.URL.Query().Has("list-type"):
		f.list(w, r.URL.Query())
	case r.Method == http.MethodPut:
		f.objects[key] = f.body(r)
		w.Header().Set("ETag", f.etag(key))
	case r.Method == http.MethodDelete:
		delete(f.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		content, ok := f.objects[key]
		if !ok {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<Error><Code>NoSuchKey</Code><Message>none</Message></Error>")
			return
		}
		w.Header().Set("ETag", f.etag(key))
		http.ServeContent(w, r, "", time.Now(), bytes.NewReader(content))
	}
}

func (f *fakeS3) etag(key string) string {
	return fmt.Sprintf(`"%x"`, md5.Sum(f.objects[key])) //nolint:gosec // as above
}

// body undoes the chunks that a signed stream consists of.
func (f *fakeS3) body(r *http.Request) []byte {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		b, _ := io.ReadAll(r.Body)
		return b
	}
	var out []byte
	in := bufio.NewReader(r.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			f.t.Errorf("chunk: %v", err)
			return nil
		}
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil || n == 0 {
			return out
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			f.t.Errorf("chunk: %v", err)
			return nil
		}
		out = append(out, chunk[:n]...)
	}
}

func (f *fakeS3) list(w http.ResponseWriter, q url.Values) {
	type object struct {
		Key          string
		Size         int
		LastModified string
		ETag         string
	}
	var out struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		IsTruncated bool
		Contents    []object
	}
	for key, content := range f.objects {
		if strings.HasPrefix(key, q.Get("prefix")) {
			out.Contents = append(out.Contents, object{key, len(content), time.Now().UTC().Format(time.RFC3339), f.etag(key)})
		}
	}
	sort.Slice(out.Contents, func(i, j int) bool { return out.Contents[i].Key < out.Contents[j].Key })
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(out)
}
