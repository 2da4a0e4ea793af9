package lfs_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/lfs"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

func (s *site) account(name string) *model.Account {
	s.t.Helper()
	a, err := accountdb.ByName(s.t.Context(), s.DB.Directory(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// Somebody else's lock holds against a client that does not ask about locks,
// the editor, the API and a merge.
func TestLocksAreEnforced(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := newClone(t)
	w.start(s.remote(s.ann, "ann/art"))
	first, _ := random(1000)
	w.commit("img.png", first)
	w.commit("notes.txt", []byte("notes\n"))
	w.git("push", "-q", "origin", "main")
	w.git("lfs", "lock", "img.png")

	b := newClone(t)
	b.git("clone", "-q", s.remote(s.bob, "ann/art"), ".")
	b.git("config", "lfs.locksverify", "false")
	second, _ := random(1000)
	b.commit("img.png", second)
	for _, ref := range []string{"HEAD:main", "HEAD:topic"} {
		out, err := b.try("push", "origin", ref)
		if err == nil || !strings.Contains(out, "img.png is locked by ann") {
			t.Errorf("push to %s: %v %s", ref, err, out)
		}
	}
	b.git("reset", "-q", "--hard", "origin/main")
	b.commit("other.txt", []byte("fine\n"))
	b.git("push", "-q", "origin", "HEAD:main")
	// Their own change goes on, and reaches others' branches by a merge.
	w.git("pull", "-q", "--rebase", "origin", "main")
	w.commit("img.png", second)
	w.git("push", "-q", "origin", "main")
	b.git("checkout", "-q", "-b", "topic")
	b.commit("topic.txt", []byte("topic\n"))
	b.git("push", "-q", "origin", "topic")
	b.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
	b.git("push", "-q", "origin", "topic")

	res := s.bob.Post("/ann/art/delete/main/img.png", "message", "away")
	if res.Status != http.StatusUnprocessableEntity && res.Status != http.StatusConflict {
		t.Errorf("the editor answers %d", res.Status)
	}
	res.Has("img.png is locked by ann")
	s.bob.API(http.MethodPut, "/repos/ann/art/contents/img.png", map[string]any{"message": "m", "branch": "main",
		"content": base64.StdEncoding.EncodeToString([]byte("x")), "sha": b.git("rev-parse", "origin/main:img.png")}).
		Want(http.StatusUnprocessableEntity).Has("locked by ann")

	page := s.bob.Get("/ann/art/blob/main/img.png").OK()
	if got := page.Text("#main .badge"); !strings.Contains(got, "LFS") || !strings.Contains(got, "Locked by ann") {
		t.Errorf("badges: %s", got)
	}
	if raw := s.bob.Get("/ann/art/raw/main/img.png").OK(); raw.Body != string(second) {
		t.Error("raw is not the content")
	}
	s.bob.Get("/ann/art/edit/main/img.png").Want(http.StatusConflict).Has("large file storage")

	// bob may not end ann's lock; ann, as the owner of the repository, may end
	// any.
	if out, err := b.try("lfs", "unlock", "--force", "img.png"); err == nil || !strings.Contains(out, "maintainer") {
		t.Errorf("unlock: %v %s", err, out)
	}
	w.git("lfs", "unlock", "img.png")
	third, _ := random(1000)
	b.git("checkout", "-q", "main")
	b.git("pull", "-q", "origin", "main")
	b.git("lfs", "lock", "img.png")
	b.commit("img.png", third)
	b.git("push", "-q", "origin", "main")
	settings := s.ann.Get("/ann/art/settings/lfs").OK().Has("img.png").Has("bob")
	action, _ := settings.Find("form[action*='/settings/lfs/locks/']").Attr("action")
	s.ann.Post(action).Want(http.StatusSeeOther)
	s.ann.Get("/ann/art/settings/lfs").OK().Has("No file is locked")
	forced := false
	for _, e := range dbtest.Events(t.Context(), t, s.DB) {
		forced = forced || e.Type == "lfs.unlocked" && strings.Contains(string(e.Data), `"forced":true`) || e.Type == "lfs.unlocked" && strings.Contains(string(e.Data), `"forced": true`)
	}
	if !forced {
		t.Error("the forced end of the lock is in no event")
	}
}

func TestLockOfAPullRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := newClone(t)
	w.start(s.remote(s.ann, "ann/art"))
	w.commit("img.png", []byte("one"))
	w.git("push", "-q", "origin", "main")
	b := newClone(t)
	b.git("clone", "-q", s.remote(s.bob, "ann/art"), ".")
	b.git("checkout", "-q", "-b", "topic")
	b.commit("img.png", []byte("two"))
	b.git("push", "-q", "origin", "topic")
	s.bob.API(http.MethodPost, "/repos/ann/art/pulls", map[string]any{"title": "two", "head": "topic", "base": "main"}).Want(http.StatusCreated)
	w.git("lfs", "lock", "img.png")
	res := s.bob.API(http.MethodPut, "/repos/ann/art/pulls/1/merge", map[string]any{})
	if res.Status < 400 || !strings.Contains(res.Body, "locked by ann") {
		t.Fatalf("merge: %d %s", res.Status, res.Body)
	}
	w.git("lfs", "unlock", "img.png")
	s.bob.API(http.MethodPut, "/repos/ann/art/pulls/1/merge", map[string]any{}).OK()
}

func TestLockAPI(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const at = "/ann/art.git/info/lfs/locks"
	s.api(s.ann, http.MethodPost, at, map[string]any{"path": "a.png"}).Want(http.StatusCreated).Has(`"owner":{"name":"ann"}`)
	s.api(s.bob, http.MethodPost, at, map[string]any{"path": "a.png"}).Want(http.StatusConflict).Has("locked by ann").Has(`"lock"`)
	for _, path := range []string{"", "../x", "/x", "a//b", "a\x00b", strings.Repeat("x", 5000)} {
		s.api(s.ann, http.MethodPost, at, map[string]any{"path": path}).Want(http.StatusUnprocessableEntity)
	}
	s.api(s.bob, http.MethodPost, at, map[string]any{"path": "b.png", "ref": map[string]any{"name": "refs/heads/x"}}).Want(http.StatusCreated)
	s.api(s.Anon(), http.MethodGet, at, nil).OK()
	s.api(s.Anon(), http.MethodPost, at, map[string]any{"path": "c"}).Want(http.StatusUnauthorized)
	var page struct {
		Locks []struct{ Path string }
		Next  string `json:"next_cursor"`
	}
	s.api(s.bob, http.MethodGet, at+"?limit=1", nil).OK().Into(&page)
	if len(page.Locks) != 1 || page.Locks[0].Path != "a.png" || page.Next == "" {
		t.Fatalf("first page: %+v", page)
	}
	page.Locks = nil
	s.api(s.bob, http.MethodGet, at+"?limit=1&cursor="+page.Next, nil).OK().Into(&page)
	if len(page.Locks) != 1 || page.Locks[0].Path != "b.png" {
		t.Fatalf("second page: %+v", page)
	}
	var split struct{ Ours, Theirs []struct{ ID, Path string } }
	s.api(s.bob, http.MethodPost, at+"/verify", map[string]any{}).OK().Into(&split)
	if len(split.Ours) != 1 || len(split.Theirs) != 1 || split.Theirs[0].Path != "a.png" {
		t.Fatalf("verify: %+v", split)
	}
	s.api(s.bob, http.MethodPost, at+"/"+split.Theirs[0].ID+"/unlock", map[string]any{"force": true}).Want(http.StatusForbidden)
	s.api(s.ann, http.MethodPost, at+"/"+split.Ours[0].ID+"/unlock", map[string]any{}).Want(http.StatusForbidden)
	s.api(s.ann, http.MethodPost, at+"/"+split.Ours[0].ID+"/unlock", map[string]any{"force": true}).OK()
	s.api(s.ann, http.MethodPost, at+"/"+split.Ours[0].ID+"/unlock", map[string]any{"force": true}).Want(http.StatusNotFound)
}

// A fork has its source's large files, and a merged pull request brings the
// fork's to the source.
func TestForks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	content, _ := random(2000)
	w := newClone(t)
	w.start(s.remote(s.ann, "ann/art"))
	w.commit("a.bin", content)
	w.git("push", "-q", "origin", "main")
	eve := s.User(t, "eve")
	eve.API(http.MethodPost, "/repos/ann/art/forks", map[string]any{}).Want(http.StatusAccepted)
	f := newClone(t)
	f.git("clone", "-q", s.remote(eve, "eve/art"), ".")
	if !bytes.Equal(f.read("a.bin"), content) {
		t.Fatal("the fork has another content")
	}
	news, oid := random(3000)
	f.git("checkout", "-q", "-b", "topic")
	f.commit("b.bin", news)
	f.git("push", "-q", "origin", "topic")
	s.api(s.ann, http.MethodGet, "/ann/art.git/info/lfs/objects/"+oid, nil).Want(http.StatusNotFound)
	eve.API(http.MethodPost, "/repos/ann/art/pulls", map[string]any{"title": "b", "head": "eve:topic", "base": "main"}).Want(http.StatusCreated)
	s.ann.API(http.MethodPut, "/repos/ann/art/pulls/1/merge", map[string]any{}).OK()
	deadline := time.Now().Add(10 * time.Second)
	for s.api(s.ann, http.MethodGet, "/ann/art.git/info/lfs/objects/"+oid, nil).Status != http.StatusOK {
		if time.Now().After(deadline) {
			t.Fatal("the merged content did not come to the source")
		}
	}
	r := newClone(t)
	r.git("clone", "-q", s.remote(s.ann, "ann/art"), ".")
	if !bytes.Equal(r.read("b.bin"), news) {
		t.Error("the clone has another content")
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	kept, keptID := random(100)
	lost, lostID := random(100)
	put := func(body []byte, oid string) {
		t.Helper()
		s.ann.Do(http.MethodPut, "/ann/art.git/info/lfs/objects/"+oid, bytes.NewReader(body), "Authorization", "Bearer "+s.ann.Token).OK()
	}
	put(kept, keptID)
	put(lost, lostID)
	store := s.App.Blobs.Space(lfs.Space)
	want := func(step string, removed int, there bool) {
		t.Helper()
		n, err := s.App.LFS.Sweep(t.Context())
		if err != nil || n != removed {
			t.Errorf("%s: %d removed, %v; want %d", step, n, err, removed)
		}
		if _, err := store.Stat(t.Context(), lostID); (err == nil) != there {
			t.Errorf("%s: the content is there: %v", step, err == nil)
		}
		if _, err := store.Stat(t.Context(), keptID); err != nil {
			t.Errorf("%s: the kept one is gone: %v", step, err)
		}
	}
	want("all held", 0, true)
	dbtest.Exec(t, s.DB, "DELETE FROM directory.lfs_holders WHERE oid = ?", lostID)
	want("just let go", 0, true)
	dbtest.Exec(t, s.DB, "UPDATE directory.lfs_blobs SET unheld_at = unheld_at - interval '2 days' WHERE oid = ?", lostID)
	// Somebody uploads it again before it goes.
	put(lost, lostID)
	want("held again", 0, true)
	dbtest.Exec(t, s.DB, "DELETE FROM directory.lfs_holders WHERE oid = ?", lostID)
	want("let go again", 0, true)
	dbtest.Exec(t, s.DB, "UPDATE directory.lfs_blobs SET unheld_at = unheld_at - interval '2 days' WHERE oid = ?", lostID)
	want("a day later", 1, false)
	put(lost, lostID)
	want("uploaded anew", 0, true)
}

func TestPointers(t *testing.T) {
	t.Parallel()
	const oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
	good := "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 12345\n"
	for text, want := range map[string]bool{
		good: true,
		"version https://git-lfs.github.com/spec/v1\next-0-foo sha256:" + oid + "\noid sha256:" + oid + "\nsize 1\n": true,
		strings.Replace(good, "size 12345", "size -1", 1):                                                            false,
		strings.Replace(good, "sha256:", "md5:", 1):                                                                  false,
		strings.Replace(good, "4d7a", "4D7A", 1):                                                                     false,
		strings.Replace(good, "spec/v1", "spec/v9", 1):                                                               false,
		good + strings.Repeat("x", 1024):                                                                             false,
		"":                                                                                                           false,
	} {
		p, ok := lfs.ParsePointer([]byte(text))
		if ok != want || ok && p.OID != oid {
			t.Errorf("%q: %+v, %v", text, p, ok)
		}
	}
	if !blob.IsSHA256(oid) {
		t.Error("no SHA-256")
	}
}
