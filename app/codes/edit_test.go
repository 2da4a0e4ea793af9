package codes_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/git/gittest"
)

// form reads the fields of the page's form of this action, as a browser would
// send them.
func form(t *testing.T, page *apptest.Response, action string) url.Values {
	t.Helper()
	v := url.Values{}
	f := page.Find(`form[action="` + action + `"]`)
	if f.Length() != 1 {
		t.Fatalf("%d forms of %s", f.Length(), action)
	}
	inputs := f.Find("input, textarea, select")
	for i := range inputs.Nodes {
		el := inputs.Eq(i)
		name, _ := el.Attr("name")
		kind, _ := el.Attr("type")
		if _, checked := el.Attr("checked"); name == "" || (kind == "radio" || kind == "checkbox") && !checked || kind == "file" {
			continue
		}
		value, _ := el.Attr("value")
		if el.Is("textarea") {
			// A browser sends line feeds as CRLF.
			value = strings.ReplaceAll(el.Text(), "\n", "\r\n")
		}
		v.Set(name, value)
	}
	return v
}

func TestEditKeepsBytes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.repo("r", commit("one", text("crlf.txt", "a\r\nb\r\nc\r\n"), text("lf.txt", "a\nb\nc"), text("mixed.txt", "a\r\nb\nc\r\nd\r\n"),
		text("latin.txt", "caf\xe9\r\nb\r\n"), text("top.txt", "\n\nb\n"), text("bad-\xff.txt", "b\n"), text("bin", "b\x00"),
		gittest.File{Path: "run.sh", Content: "b\n", Mode: "100755"}))
	for path, want := range map[string]string{"crlf.txt": "a\r\nB!\r\nc\r\n", "lf.txt": "a\nB!\nc", "mixed.txt": "a\r\nB!\nc\r\nd\r\n",
		"latin.txt": "caf\xe9\r\nB!\r\n", "top.txt": "\n\nB!\n", "bad-\xff.txt": "B!\n", "run.sh": "B!\n"} {
		address := "/ann/r/edit/main/" + strings.ReplaceAll(url.PathEscape(path), "+", "%2B")
		v := form(t, s.ann.Get(address).OK(), address)
		v.Set("content", strings.Replace(v.Get("content"), "b", "B!", 1))
		s.ann.PostForm(address, v).Want(http.StatusSeeOther)
		s.fetch(w, "r")
		if got := w.Git("cat-file", "blob", "main:"+path); strings.TrimSuffix(want, "\n") != strings.TrimSuffix(got, "\n") {
			// mixed.txt: the edited line takes the dominant ending.
			if path != "mixed.txt" || got+"\n" != "a\r\nB!\r\nc\r\nd\r\n" {
				t.Errorf("%q: %q, want %q", path, got, want)
			}
		}
		if stat := w.Git("diff", "--numstat", "main~1", "main"); !strings.HasPrefix(stat, "1\t1\t") || strings.Contains(stat, "\n") {
			t.Errorf("%q: changed %s", path, stat)
		}
	}
	if mode := w.Git("ls-tree", "main", "run.sh"); !strings.HasPrefix(mode, "100755") {
		t.Errorf("mode lost: %s", mode)
	}
	if log := w.Git("log", "-1", "--format=%an <%ae> %s", "main"); !strings.HasPrefix(log, "ann <ann@example.com> Update ") {
		t.Errorf("commit: %s", log)
	}
	s.ann.Get("/ann/r/edit/main/bin").Want(http.StatusConflict)
	s.bob.Get("/ann/r/edit/main/lf.txt").Want(http.StatusForbidden)
	if to := s.Anon().Get("/ann/r/edit/main/lf.txt").Want(http.StatusSeeOther).Location(); !strings.HasPrefix(to, "/login") {
		t.Errorf("a stranger goes to %s", to)
	}
}

func TestEditConflictsAndBranches(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.repo("r", commit("one", text("d/a.txt", "a\nb\n"), text("other", "x")))
	const address = "/ann/r/edit/main/d/a.txt"
	v := form(t, s.ann.Get(address).OK(), address)
	// Another file changes: no conflict.
	w.Commit(commit("other", text("other", "y")))
	s.push(w, "r")
	v.Set("content", "mine\r\nb\r\n")
	stale := url.Values{}
	for k := range v {
		stale.Set(k, v.Get(k))
	}
	if to := s.ann.PostForm(address, v).Want(http.StatusSeeOther).Location(); to != "/ann/r/blob/main/d/a.txt" {
		t.Errorf("sent to %s", to)
	}
	// The file itself changed: what was typed is kept, and what others did is
	// shown.
	stale.Set("content", "typed by me\r\n")
	stale.Del("idempotency_key")
	page := s.ann.PostForm(address, stale).Want(http.StatusConflict)
	if !strings.Contains(page.Text("textarea[name=content]"), "typed by me") || !strings.Contains(page.Text(".diff"), "mine") {
		t.Errorf("conflict: %s", page.Text("main"))
	}
	again := form(t, page, address)
	again.Set("target", "new")
	again.Set("new_branch", "bad..name")
	refused := s.ann.PostForm(address, again).Want(http.StatusUnprocessableEntity)
	if !strings.Contains(refused.Text("textarea[name=content]"), "typed by me") {
		t.Error("the text is lost")
	}
	again.Set("new_branch", "fix/1")
	if to := s.ann.PostForm(address, again).Want(http.StatusSeeOther).Location(); to != "/ann/r/compare/main...fix/1" {
		t.Errorf("sent to %s", to)
	}
	s.ann.Get("/ann/r/compare/main...fix/1").OK()
	s.fetch(w, "r")
	if got := w.Git("show", "fix/1:d/a.txt"); got != "typed by me" {
		t.Errorf("on the branch: %q", got)
	}
	if got := w.Git("show", "main:d/a.txt"); got != "mine\nb" {
		t.Errorf("on main: %q", got)
	}
	// Move, delete.
	v = form(t, s.ann.Get(address).OK(), address)
	v.Set("path", "e/f g%.txt")
	s.ann.PostForm(address, v).Want(http.StatusSeeOther)
	s.fetch(w, "r")
	if got := w.Git("ls-tree", "-r", "--name-only", "main"); got != "e/f g%.txt\nother" {
		t.Errorf("after the move: %s", got)
	}
	const gone = "/ann/r/delete/main/e/f%20g%25.txt"
	s.ann.PostForm(gone, form(t, s.ann.Get(gone).OK(), gone)).Want(http.StatusSeeOther)
	s.ann.Get("/ann/r/blob/main/e/f%20g%25.txt").Want(http.StatusNotFound)
	s.ann.API(http.MethodPatch, "/repos/ann/r", map[string]any{"archived": true}).OK()
	s.ann.Get("/ann/r/edit/main/other").Want(http.StatusForbidden)
}

func TestNewFilesAndUploads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.repo("r")
	const address = "/ann/r/new/main"
	v := form(t, s.ann.Get(address).OK(), address)
	v.Set("path", "docs/../x")
	v.Set("content", "# Hi\r\n")
	bad := s.ann.PostForm(address, v).Want(http.StatusUnprocessableEntity)
	if bad.Text("textarea[name=content]") != "# Hi" {
		t.Error("the text is lost")
	}
	v.Set("path", "docs/Read me.md")
	v.Set("message", "First ✓")
	s.ann.PostForm(address, v).Want(http.StatusSeeOther)
	s.ann.PostForm(address, v) // the second click
	s.fetch(w, "r")
	if got := w.Git("log", "--format=%s", "main"); got != "First ✓" {
		t.Errorf("log: %s", got)
	}
	if got := w.Git("show", "main:docs/Read me.md"); got != "# Hi" {
		t.Errorf("content %q", got)
	}
	v = form(t, s.ann.Get(address+"/docs").OK(), address+"/docs")
	v.Set("path", "Docs/x.md")
	warned := s.ann.PostForm(address+"/docs", v).Want(http.StatusUnprocessableEntity)
	if !strings.Contains(warned.Body, "Only the case") {
		t.Error("no word of the collision")
	}
	v.Set("collide", "true")
	s.ann.PostForm(address+"/docs", v).Want(http.StatusSeeOther)

	// Several files and a folder in one commit, bytes as they are.
	var b bytes.Buffer
	mp := multipart.NewWriter(&b)
	for name, content := range map[string]string{"a.bin": "\x00\xff\r\n", "ü b.txt": "x\r\ny", "tree/deep/c": "c"} {
		part, err := mp.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="files"; filename="` + name + `"`}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := mp.WriteField("message", "Upload"); err != nil {
		t.Fatal(err)
	}
	if err := mp.Close(); err != nil {
		t.Fatal(err)
	}
	to := s.ann.Do(http.MethodPost, "/ann/r/upload/main/docs", &b, "Content-Type", mp.FormDataContentType(), "Sec-Fetch-Site", "same-origin").
		Want(http.StatusSeeOther).Location()
	if to != "/ann/r/tree/main/docs" {
		t.Errorf("sent to %s", to)
	}
	s.fetch(w, "r")
	if got := w.Git("diff", "--name-only", "-z", "main~1", "main"); got != "docs/a.bin\x00docs/tree/deep/c\x00docs/ü b.txt\x00" {
		t.Errorf("uploaded %q", got)
	}
	if got := w.Git("cat-file", "blob", "main:docs/a.bin"); got != "\x00\xff\r" {
		t.Errorf("bytes %q", got)
	}
	s.ann.Post("/ann/r/upload/main", "message", "none").Want(http.StatusUnprocessableEntity)
}

// TestEditorRefusesSecrets keeps the text of a file that holds a secret, and says
// where it can be allowed.
func TestEditorRefusesSecrets(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.repo("r")
	const address = "/ann/r/new/main"
	v := form(t, s.ann.Get(address).OK(), address)
	secret := "TOKEN=" + "ghp_" + "9aB3dE5fG7hJ1kL2mN4pQ6rS8tU0vW2xY4zA"
	v.Set("path", "k.env")
	v.Set("content", secret)
	bad := s.ann.PostForm(address, v).Want(http.StatusUnprocessableEntity)
	if bad.Text("textarea[name=content]") != secret {
		t.Error("the text is lost")
	}
	bad.Has("github-pat").Has("/ann/r/allow-secret?code=")
}
