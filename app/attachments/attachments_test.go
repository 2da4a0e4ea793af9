package attachments_test

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/attachments"
	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/attachdb"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// upload sends a file as the field for Markdown does.
func upload(t *testing.T, s *apptest.Server, c *apptest.Client, repo, name, content string) *apptest.Response {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("context", repo); err != nil {
		t.Fatal(err)
	}
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return c.Do(http.MethodPost, "/"+repo+"/attachments", &b, "Content-Type", w.FormDataContentType(), "Origin", s.URL, "Sec-Fetch-Site", "same-origin")
}

const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"

// site is an instance with ada's public repository engine and private
// repository safe; bob is a stranger to both.
func site(t *testing.T) (s *apptest.Server, ada, bob *apptest.Client) {
	t.Helper()
	s = apptest.New(t)
	ada, bob = s.User(t, "ada"), s.User(t, "bob")
	ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "engine"}).Want(http.StatusCreated)
	ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "safe", "private": true}).Want(http.StatusCreated)
	return s, ada, bob
}

// sent is the address of an uploaded file without the server's.
func sent(t *testing.T, s *apptest.Server, r *apptest.Response) string {
	t.Helper()
	url, _ := r.Want(http.StatusCreated).JSON()["url"].(string)
	path, ok := strings.CutPrefix(url, s.URL)
	if !ok {
		t.Fatalf("url %q", url)
	}
	return path
}

func TestAccess(t *testing.T) {
	t.Parallel()
	s, ada, bob := site(t)
	res := upload(t, s, bob, "ada/engine", `shot <1>".png`, png)
	at := sent(t, s, res)
	if md := res.JSON()["markdown"].(string); !strings.HasPrefix(md, "![shot -1--.png](http") {
		t.Errorf("markdown %q", md)
	}
	// In no text yet only its uploader sees it.
	bob.Get(at).OK()
	ada.Get(at).Want(http.StatusNotFound)
	s.Anon().Get(at).Want(http.StatusNotFound)
	open := func(c *apptest.Client, repo, url string, confidential bool) string {
		t.Helper()
		pairs := []string{"title", "See", "body", "![x](" + s.URL + url + ")"}
		if confidential {
			pairs = append(pairs, "confidential", "true")
		}
		return c.Post("/"+repo+"/issues/new", pairs...).Want(http.StatusSeeOther).Location()
	}
	page := open(bob, "ada/engine", at, false)
	s.Anon().Get(page).OK().Has(`src="` + s.URL + at + `"`)
	got := s.Anon().Get(at).OK()
	if got.Header.Get("Content-Type") != "image/png" || !strings.Contains(got.Header.Get("Content-Security-Policy"), "sandbox") || got.Body != png {
		t.Errorf("sent %v", got.Header)
	}
	// A confidential issue's file is seen by those who see the issue.
	secret := sent(t, s, upload(t, s, ada, "ada/engine", "s.txt", "secret"))
	open(ada, "ada/engine", secret, true)
	bob.Get(secret).Want(http.StatusNotFound)
	ada.Get(secret).OK()
	// A private repository's by those who read it.
	private := sent(t, s, upload(t, s, ada, "ada/safe", "p.txt", "private"))
	open(ada, "ada/safe", private, false)
	bob.Get(private).Want(http.StatusNotFound)
	ada.Get(private).OK()
	upload(t, s, bob, "ada/safe", "x.txt", "x").Want(http.StatusNotFound)
	upload(t, s, s.Anon(), "ada/engine", "x.txt", "x").Want(http.StatusSeeOther)
}

// What a browser would run is sent as something that it does not run
// (PUB-12).
func TestActiveContent(t *testing.T) {
	t.Parallel()
	s, ada, _ := site(t)
	for name, content := range map[string]string{
		"a.html": "<script>alert(1)</script>", "a.svg": `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>`,
		"a.xml": `<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>`, "a.eml": "Content-Type: text/html\n\n<script>alert(1)</script>",
		"a.js": "alert(1)", "a.xhtml": "<html xmlns='http://www.w3.org/1999/xhtml'/>",
	} {
		r := ada.Get(sent(t, s, upload(t, s, ada, "ada/engine", name, content))).OK()
		csp := r.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.HasSuffix(csp, "sandbox") || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", name, r.Header)
		}
		if kind := r.Header.Get("Content-Type"); name != "a.svg" && !strings.HasPrefix(kind, "text/plain") {
			t.Errorf("%s is sent as %s", name, kind)
		}
	}
	upload(t, s, ada, "ada/engine", "empty", "").Want(http.StatusUnprocessableEntity)
	upload(t, s, ada, "ada/engine", "large", strings.Repeat("x", attachments.MaxSize+1)).Want(http.StatusRequestEntityTooLarge)
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s, ada, _ := site(t)
	ctx := t.Context()
	repo, _, err := repodb.Find(ctx, s.DB.Directory(), "ada", "engine", ada.Account.ID)
	if err != nil {
		t.Fatal(err)
	}
	used := sent(t, s, upload(t, s, ada, "ada/engine", "used.txt", "used"))
	loose := sent(t, s, upload(t, s, ada, "ada/engine", "loose.txt", "loose"))
	issue := ada.Post("/ada/engine/issues/new", "title", "See", "body", s.URL+used).Want(http.StatusSeeOther).Location()
	row := func(path string) *model.Attachment {
		t.Helper()
		a, err := attachdb.Find(ctx, s.DB.Repo(repo.ID), attachdb.Named(path)[0])
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	space, sha := s.App.Blobs.Space(fmt.Sprintf("attachments/%d", repo.ID)), row(loose).SHA256
	sweep := func(in time.Duration, again bool) {
		t.Helper()
		next, err := s.App.Attachments.Sweep(ctx, repo.ID, time.Now().Add(in))
		if err != nil || next.IsZero() == again {
			t.Fatalf("in %v: next %v, %v", in, next, err)
		}
	}
	sweep(0, true)
	ada.Get(loose).OK()
	sweep(attachments.Loose+time.Hour, true)
	ada.Get(loose).Want(http.StatusNotFound)
	ada.Get(used).OK()
	if _, err := space.Stat(ctx, sha); err != nil {
		t.Errorf("the content went at once: %v", err)
	}
	sweep(attachments.Loose+26*time.Hour, false)
	if _, err := space.Stat(ctx, sha); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the content stays: %v", err)
	}
	ada.Post(issue + "/delete").Want(http.StatusSeeOther)
	if a := row(used); len(a.Threads) != 0 || a.LooseAt == nil {
		t.Errorf("the issue is gone, its file says %+v", a)
	}
	sweep(attachments.Loose+time.Hour, true)
	if _, err := attachdb.Find(ctx, s.DB.Repo(repo.ID), attachdb.Named(used)[0]); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("the file of the deleted issue stays: %v", err)
	}
}
