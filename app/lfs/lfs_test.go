package lfs_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/lfs"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/repodb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// site is an instance with ann, who owns ann/art, and bob, who may write to it.
type site struct {
	*apptest.Server
	t        *testing.T
	ann, bob *apptest.Client
	ssh      string
}

func newSite(t *testing.T) *site {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	s := &site{t: t, ssh: addr}
	s.Server = apptest.NewWorking(t, func(c *app.Config) { c.SSHListen = addr })
	s.User(t, "root0")
	s.ann, s.bob = s.User(t, "ann"), s.User(t, "bob")
	s.ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "art"}).Want(http.StatusCreated)
	s.mayWrite("art", s.bob)
	return s
}

func (s *site) id(name string) int64 {
	s.t.Helper()
	owner, name, _ := strings.Cut(name, "/")
	repo, err := repodb.ByName(s.t.Context(), s.DB.Directory(), owner, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return repo.ID
}

func (s *site) mayWrite(name string, c *apptest.Client) {
	s.t.Helper()
	dbtest.Exec(s.t, s.DB, "INSERT INTO directory.collaborators (repo_id, account_id, role, created_at) VALUES (?, ?, 'write', ?)",
		s.id("ann/"+name), c.Account.ID, time.Now())
}

// clone is a working copy with git-lfs.
type clone struct {
	t   *testing.T
	dir string
	env []string
}

func newClone(t *testing.T) *clone {
	t.Helper()
	c := &clone{t: t, dir: t.TempDir()}
	home := t.TempDir()
	c.env = append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	c.git("lfs", "install")
	return c
}

func (c *clone) try(args ...string) (string, error) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (c *clone) git(args ...string) string {
	c.t.Helper()
	out, err := c.try(args...)
	if err != nil {
		c.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (c *clone) write(name string, content []byte) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clone) read(name string) []byte {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return b
}

// commit commits a file, which git-lfs keeps when its name ends in .bin or
// .png.
func (c *clone) commit(name string, content []byte) {
	c.t.Helper()
	c.write(name, content)
	c.git("add", "-A")
	c.git("commit", "-qm", "change "+name)
}

// start makes a new history that keeps .bin and .png large.
func (c *clone) start(remote string) {
	c.t.Helper()
	c.git("init", "-q", "-b", "main")
	c.git("remote", "add", "origin", remote)
	c.git("lfs", "track", "*.bin", "*.png")
}

func (s *site) remote(c *apptest.Client, name string) string {
	return strings.Replace(s.URL, "http://", "http://x:"+c.Token+"@", 1) + "/" + name + ".git"
}

func random(n int) ([]byte, string) {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	h := sha256.Sum256(b)
	return b, hex.EncodeToString(h[:])
}

// api calls an LFS endpoint as a client does.
func (s *site) api(c *apptest.Client, method, path string, in any) *apptest.Response {
	s.t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	headers := []string{"Accept", lfs.MediaType, "Content-Type", lfs.MediaType}
	if c.Token != "" {
		headers = append(headers, "Authorization", "Bearer "+c.Token)
	}
	return c.Do(method, path, bytes.NewReader(b), headers...)
}

func TestClientOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	content, oid := random(300_000)
	w := newClone(t)
	w.start(s.remote(s.ann, "ann/art"))
	w.commit("big.bin", content)
	w.git("push", "-q", "origin", "main")
	if _, err := s.App.Blobs.Space(lfs.Space).Stat(t.Context(), oid); err != nil {
		t.Fatalf("the content is not in the store: %v", err)
	}
	r := newClone(t)
	r.git("clone", "-q", s.URL+"/ann/art.git", ".") // a stranger
	if !bytes.Equal(r.read("big.bin"), content) {
		t.Error("the clone has another content")
	}
	// The same content needs no second upload, and a push creates as ever.
	w.git("remote", "add", "fresh", s.remote(s.ann, "ann/fresh"))
	w.git("push", "-q", "fresh", "main")
	p := newClone(t)
	p.git("clone", "-q", s.remote(s.ann, "ann/fresh"), ".")
	if !bytes.Equal(p.read("big.bin"), content) {
		t.Error("the clone of the created repository has another content")
	}
	// What is private stays so, though the same blob is public elsewhere.
	other, secret := random(1000)
	w.commit("secret.bin", other)
	w.git("push", "-q", "fresh", "main")
	in := map[string]any{"operation": "download", "objects": []any{map[string]any{"oid": secret, "size": 1000}}}
	s.api(s.bob, http.MethodPost, "/ann/fresh.git/info/lfs/objects/batch", in).Want(http.StatusNotFound)
	s.api(s.Anon(), http.MethodPost, "/ann/fresh.git/info/lfs/objects/batch", in).Want(http.StatusUnauthorized)
	s.api(s.ann, http.MethodPost, "/ann/art.git/info/lfs/objects/batch", in).OK().Has(`"code":404`)
	s.api(s.ann, http.MethodGet, "/ann/art.git/info/lfs/objects/"+secret, nil).Want(http.StatusNotFound)
	s.api(s.ann, http.MethodGet, "/ann/fresh.git/info/lfs/objects/"+secret, nil).OK()
}

func TestClientOverSSH(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := newClone(t)
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	s.ann.API(http.MethodPost, "/user/keys", map[string]any{"title": "laptop", "key": string(public)}).Want(http.StatusCreated)
	w.env = append(w.env, "GIT_SSH_COMMAND=ssh -i "+key+" -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR")
	content, _ := random(50_000)
	host, port, _ := net.SplitHostPort(s.ssh)
	remote := "ssh://git@" + host + ":" + port + "/ann/art.git"
	w.start(remote)
	w.commit("a.bin", content)
	w.git("push", "-q", "origin", "main")
	r := newClone(t)
	r.env = append(r.env, w.env[len(w.env)-1])
	r.git("clone", "-q", remote, ".")
	if !bytes.Equal(r.read("a.bin"), content) {
		t.Error("the clone has another content")
	}
	r.git("lfs", "lock", "a.bin")
	if out := r.git("lfs", "locks"); !strings.Contains(out, "a.bin") || !strings.Contains(out, "ann") {
		t.Errorf("locks: %s", out)
	}
}

func TestUploadsInParts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	content, oid := random(200_000)
	w := newClone(t)
	w.start(s.remote(s.ann, "ann/art"))
	w.git("config", "lfs.tustransfers", "true")
	w.commit("big.bin", content)
	// Half of it arrived before the line broke.
	size := fmt.Sprint(len(content))
	at := "/ann/art.git/info/lfs/tus/" + oid + "?size=" + size
	head := []string{"Authorization", "Bearer " + s.ann.Token, "Tus-Resumable", "1.0.0", "Content-Type", "application/offset+octet-stream"}
	res := s.ann.Do(http.MethodPatch, at, bytes.NewReader(content[:100_000]), append(head, "Upload-Offset", "0")...).Want(http.StatusNoContent)
	if got := res.Header.Get("Upload-Offset"); got != "100000" {
		t.Errorf("the offset is %s", got)
	}
	if got := s.ann.Do(http.MethodHead, at, nil, head...).OK().Header.Get("Upload-Offset"); got != "100000" {
		t.Errorf("the offset is %s", got)
	}
	s.ann.Do(http.MethodPatch, at, strings.NewReader("x"), append(head, "Upload-Offset", "5")...).Want(http.StatusConflict)
	w.env = append(w.env, "GIT_TRACE=1")
	out := w.git("push", "origin", "main")
	if !strings.Contains(out, `starting transfer adapter "tus"`) {
		t.Errorf("the client did not use tus: %s", out)
	}
	if got := s.api(s.ann, http.MethodGet, "/ann/art.git/info/lfs/objects/"+oid, nil).OK(); got.Body != string(content) {
		t.Error("another content arrived")
	}
	part := s.ann.Do(http.MethodGet, "/ann/art.git/info/lfs/objects/"+oid, nil, "Authorization", "Bearer "+s.ann.Token, "Range", "bytes=10-19")
	if part.Status != http.StatusPartialContent || part.Body != string(content[10:20]) {
		t.Errorf("a range: %d", part.Status)
	}
}

func TestWrongUploads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	content, oid := random(5000)
	at := "/ann/art.git/info/lfs/objects/" + oid
	put := func(c *apptest.Client, path, body string) *apptest.Response {
		headers := []string{"Accept", lfs.MediaType}
		if c.Token != "" {
			headers = append(headers, "Authorization", "Bearer "+c.Token)
		}
		return c.Do(http.MethodPut, path, strings.NewReader(body), headers...)
	}
	put(s.ann, at, "something else").Want(http.StatusUnprocessableEntity).Has(`"message"`)
	put(s.ann, at+"?size=4000", string(content)).Want(http.StatusUnprocessableEntity)
	put(s.ann, "/ann/art.git/info/lfs/objects/x", "x").Want(http.StatusUnprocessableEntity)
	put(s.Anon(), at, string(content)).Want(http.StatusUnauthorized)
	put(s.User(t, "eve"), at, string(content)).Want(http.StatusForbidden)
	s.api(s.ann, http.MethodPost, "/ann/art.git/info/lfs/verify", map[string]any{"oid": oid, "size": 5000}).Want(http.StatusNotFound)
	put(s.ann, at, string(content)).OK()
	s.api(s.ann, http.MethodPost, "/ann/art.git/info/lfs/verify", map[string]any{"oid": oid, "size": 5000}).OK()
	s.api(s.ann, http.MethodPost, "/ann/art.git/info/lfs/verify", map[string]any{"oid": oid, "size": 5001}).Want(http.StatusUnprocessableEntity)
	batch := func(c *apptest.Client, op string, objects ...any) *apptest.Response {
		return s.api(c, http.MethodPost, "/ann/art.git/info/lfs/objects/batch", map[string]any{"operation": op, "objects": objects})
	}
	batch(s.ann, "upload", map[string]any{"oid": "x", "size": 1}).OK().Has(`"code":422`)
	batch(s.ann, "fetch").Want(http.StatusUnprocessableEntity)
	batch(s.Anon(), "upload").Want(http.StatusUnauthorized)
	if strings.Contains(batch(s.ann, "upload", map[string]any{"oid": oid, "size": 5000}).OK().Body, "actions") {
		t.Error("what is there is uploaded again")
	}
}

func TestTransferTokenFitsOneRepository(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, oid := random(10)
	s.ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "other", "private": true}).Want(http.StatusCreated)
	var out struct {
		Objects []struct {
			Actions map[string]struct {
				Href   string
				Header map[string]string
			}
		}
	}
	s.api(s.bob, http.MethodPost, "/ann/art.git/info/lfs/objects/batch", map[string]any{"operation": "upload",
		"objects": []any{map[string]any{"oid": oid, "size": 10}}}).OK().Into(&out)
	token := out.Objects[0].Actions["upload"].Header["Authorization"]
	if !strings.HasPrefix(token, lfs.Scheme+" ") {
		t.Fatalf("token %q", token)
	}
	get := func(path string) *apptest.Response {
		return s.Anon().Do(http.MethodGet, path, nil, "Authorization", token)
	}
	get("/ann/art.git/info/lfs/locks").OK()
	get("/ann/other.git/info/lfs/locks").Want(http.StatusNotFound)
	get("/api/v3/user").Want(http.StatusUnauthorized)
	get("/ann/art.git/info/refs?service=git-receive-pack").Want(http.StatusUnauthorized)
	s.Anon().Do(http.MethodGet, "/ann/art.git/info/lfs/locks", nil, "Authorization", token+"x").Want(http.StatusUnauthorized)
	// The role is asked anew: bob may not write any more.
	dbtest.Exec(t, s.DB, "DELETE FROM directory.collaborators WHERE account_id = ?", s.bob.Account.ID)
	s.Anon().Do(http.MethodPut, "/ann/art.git/info/lfs/objects/"+oid, strings.NewReader("x"), "Authorization", token).Want(http.StatusForbidden)
}

func TestQuota(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.User(t, "x")
	root := s.As(t, s.account("root0"))
	root.Post("/admin/lfs", "quota", "many", "largest", "").Want(http.StatusUnprocessableEntity).Has(`value="many"`)
	root.Post("/admin/lfs", "quota", "2", "largest", "1").Want(http.StatusSeeOther)
	w := newClone(t)
	w.start(s.remote(s.ann, "ann/art"))
	huge, _ := random(1<<20 + 1)
	w.commit("huge.bin", huge)
	if out, err := w.try("push", "origin", "main"); err == nil || !strings.Contains(out, "may have at most 1.0 MB") {
		t.Errorf("a file over the limit: %v %s", err, out)
	}
	w.git("rm", "-q", "huge.bin")
	w.git("commit", "--amend", "-qm", "first", "--allow-empty")
	for i := range 2 {
		b, _ := random(1 << 20)
		w.commit(fmt.Sprintf("%d.bin", i), b)
	}
	w.git("push", "-q", "origin", "main")
	b, _ := random(10)
	w.commit("last.bin", b)
	if out, err := w.try("push", "origin", "main"); err == nil || !strings.Contains(out, "2.0 MB of 2.0 MB") {
		t.Errorf("a file over the quota: %v %s", err, out)
	}
	s.ann.Get("/ann/art/settings/lfs").OK().Has("near their limit")
	root.Get("/admin/lfs").OK().Has("ann")
	s.ann.Get("/admin/lfs").Want(http.StatusNotFound)
}
