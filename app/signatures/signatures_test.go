package signatures_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world is an instance with ann, whose address is confirmed, and her repository.
type world struct {
	*apptest.Server
	t    *testing.T
	ann  *apptest.Client
	repo *model.Repo
	dir  string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := apptest.New(t)
	w := &world{Server: s, t: t, ann: s.User(t, "ann"), dir: t.TempDir()}
	w.repo = dbtest.Repo(t, s.DB, w.ann.Account, "box", dbtest.RepoOpts{})
	dbtest.Exec(t, s.DB, "UPDATE directory.user_emails SET verified_at = now() WHERE account_id = ?", w.ann.Account.ID)
	w.git("init", "-q", "-b", "main")
	w.git("remote", "add", "origin", strings.Replace(s.URL, "://", "://x:"+w.ann.Token+"@", 1)+"/ann/box.git")
	return w
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	out, err := w.try(args...)
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

func (w *world) try(args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// key makes an SSH key and is the path of its private half.
func (w *world) key(name string) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), name)
	if out, err := exec.CommandContext(w.t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
		w.t.Fatalf("ssh-keygen: %v %s", err, out)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// want asks the API about a commit.
func (w *world) want(sha string, verified bool, reason string) {
	w.t.Helper()
	var got struct {
		Commit struct {
			Verification struct {
				Verified   bool    `json:"verified"`
				Reason     string  `json:"reason"`
				Payload    *string `json:"payload"`
				VerifiedAt *string `json:"verified_at"`
			} `json:"verification"`
		} `json:"commit"`
	}
	w.ann.API(http.MethodGet, "/repos/ann/box/commits/"+sha, nil).OK().Into(&got)
	v := got.Commit.Verification
	if v.Verified != verified || v.Reason != reason || (v.VerifiedAt != nil) != verified {
		w.t.Errorf("%s: %+v, want %v %s", sha[:7], v, verified, reason)
	}
}

// forget makes what was found be found anew.
func (w *world) forget() {
	w.t.Helper()
	dbtest.Exec(w.t, w.DB, "UPDATE directory.commit_signatures SET checked_at = checked_at - interval '1 hour'")
}

// signingOnly adds a key that verifies its commit and opens nothing, and
// removes it again; what was verified stays so.
func (w *world) signingOnly(key, commit string) {
	w.t.Helper()
	const keys = "/user/ssh_signing_keys"
	var added struct{ ID int64 }
	w.ann.API(http.MethodPost, keys, map[string]any{"title": "signs", "key": read(w.t, key+".pub")}).Want(http.StatusCreated).Into(&added)
	w.ann.API(http.MethodGet, keys, nil).OK().Has(`"title":"mine"`).Has(`"title":"signs"`)
	var opening []struct{ Title string }
	w.ann.API(http.MethodGet, "/user/keys", nil).OK().Into(&opening)
	if len(opening) != 1 || opening[0].Title != "mine" {
		w.t.Errorf("the keys for access are %+v", opening)
	}
	w.ann.API(http.MethodGet, fmt.Sprintf("/user/keys/%d", added.ID), nil).Want(http.StatusNotFound)
	w.ann.Get("/settings/keys").OK().Has("Signs only")
	w.forget()
	w.want(commit, true, "valid")
	data, _, err := accounts.ParseSSHKey(read(w.t, key+".pub"))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.App.Auth.BySSHKey(w.t.Context(), data.Fingerprint); !fault.Is(err, fault.Forbidden) {
		w.t.Errorf("the key signs in: %v", err)
	}
	one := fmt.Sprintf("%s/%d", keys, added.ID)
	w.ann.API(http.MethodGet, one, nil).OK().Has(`"title":"signs"`)
	w.ann.API(http.MethodDelete, one, nil).Want(http.StatusNoContent)
	w.ann.API(http.MethodGet, one, nil).Want(http.StatusNotFound)
}

func TestSSHSignatures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, other := w.key("mine"), w.key("other")
	w.git("commit", "-q", "--allow-empty", "-m", "unsigned")
	unsigned := w.git("rev-parse", "HEAD")
	sign := []string{"-c", "gpg.format=ssh", "-c", "user.signingkey=" + mine, "commit", "-q", "-S", "--allow-empty", "-m"}
	w.git(append(sign, "signed")...)
	signed := w.git("rev-parse", "HEAD")
	w.git("-c", "gpg.format=ssh", "-c", "user.signingkey="+other, "commit", "-q", "-S", "--allow-empty", "-m", "by another key")
	foreign := w.git("rev-parse", "HEAD")
	w.git("push", "-q", "origin", "main")
	w.want(unsigned, false, "unsigned")
	w.want(signed, false, "unknown_key")
	w.ann.API(http.MethodPost, "/user/keys", map[string]any{"title": "mine", "key": read(t, mine+".pub")}).Want(http.StatusCreated)
	w.Anon().API(http.MethodGet, "/users/ann/ssh_signing_keys", nil).OK().Has(`"title":"mine"`)
	w.forget()
	w.want(signed, true, "valid")
	w.want(foreign, false, "unknown_key")
	w.ann.Get("/ann/box/commit/" + signed).OK().Has("Verified")
	w.ann.Get("/ann/box/commits/main").OK().Has("Verified").Has("Unverified")
	w.signingOnly(other, foreign)

	// A signature of somebody else's commit, and of an address that is not hers.
	g, err := w.App.Repos.Open(t.Context(), w.repo)
	if err != nil {
		t.Fatal(err)
	}
	_, signature, err := g.SignedCommit(t.Context(), git.OID(signed))
	if err != nil {
		t.Fatal(err)
	}
	who := git.Person{Name: "Ann", Email: "ann@example.com", When: time.Unix(1_700_000_000, 0)}
	forged, err := g.CommitTree(t.Context(), git.CommitSpec{Tree: g.EmptyTree(), Author: who, Committer: who, Message: "forged",
		Sign: func([]byte) (string, error) { return signature, nil }})
	if err != nil {
		t.Fatal(err)
	}
	broken, err := g.CommitTree(t.Context(), git.CommitSpec{Tree: g.EmptyTree(), Author: who, Committer: who, Message: "broken",
		Sign: func([]byte) (string, error) {
			return "-----BEGIN SSH SIGNATURE-----\nbm9uZQ==\n-----END SSH SIGNATURE-----", nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.UpdateRefs(t.Context(), []git.RefUpdate{{Name: "refs/tags/forged", New: forged}, {Name: "refs/tags/broken", New: broken}}); err != nil {
		t.Fatal(err)
	}
	w.want(string(forged), false, "invalid")
	w.want(string(broken), false, "malformed_signature")
	w.git("-c", "gpg.format=ssh", "-c", "user.signingkey="+mine, "-c", "user.email=x@example.com", "commit", "-q", "-S", "--allow-empty", "-m", "elsewhere")
	w.git("-c", "gpg.format=ssh", "-c", "user.signingkey="+mine, "tag", "-s", "-m", "a tag", "v1", signed)
	w.git("push", "-q", "origin", "main", "v1")
	var tag struct {
		Verification struct {
			Verified bool   `json:"verified"`
			Reason   string `json:"reason"`
		} `json:"verification"`
	}
	w.ann.API(http.MethodGet, "/repos/ann/box/git/tags/"+w.git("rev-parse", "v1"), nil).OK().Into(&tag)
	if !tag.Verification.Verified || tag.Verification.Reason != "valid" {
		t.Errorf("the tag: %+v", tag)
	}
	// An address that is not confirmed does not count.
	dbtest.Exec(t, w.DB, "UPDATE directory.user_emails SET verified_at = NULL")
	dbtest.Exec(t, w.DB, "DELETE FROM directory.commit_signatures")
	w.want(signed, false, "unverified_email")
}

func TestPGPSignatures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	entity, err := openpgp.NewEntity("Ann", "", "ann@example.com", nil)
	if err != nil {
		t.Fatal(err)
	}
	var public bytes.Buffer
	out, err := armor.Encode(&public, openpgp.PublicKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := entity.Serialize(out); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	g, err := w.App.Repos.Open(t.Context(), w.repo)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(email, message string) string {
		t.Helper()
		who := git.Person{Name: "Ann", Email: email, When: time.Unix(1_700_000_000, 0)}
		oid, err := g.CommitTree(t.Context(), git.CommitSpec{Tree: g.EmptyTree(), Author: who, Committer: who, Message: message,
			Sign: func(payload []byte) (string, error) {
				var sig bytes.Buffer
				err := openpgp.ArmoredDetachSign(&sig, entity, bytes.NewReader(payload), nil)
				return sig.String(), err
			}})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.UpdateRefs(t.Context(), []git.RefUpdate{{Name: "refs/heads/" + message, New: oid}}); err != nil {
			t.Fatal(err)
		}
		return string(oid)
	}
	good, bad := commit("ann@example.com", "main"), commit("other@example.com", "other")
	w.want(good, false, "unknown_key")
	w.ann.API(http.MethodPost, "/user/gpg_keys", map[string]any{"name": "mine", "armored_public_key": public.String()}).Want(http.StatusCreated)
	w.forget()
	w.want(good, true, "valid")
	w.want(bad, false, "bad_email")
}

// TestInstanceSigns edits in the browser's way and by the API, and lets git
// verify the commits by the instance's public key.
func TestInstanceSigns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	put := func(name string, more map[string]any) string {
		t.Helper()
		in := map[string]any{"message": "add " + name, "content": base64.StdEncoding.EncodeToString([]byte(name))}
		for k, v := range more {
			in[k] = v
		}
		var out struct {
			Commit struct {
				SHA string `json:"sha"`
			} `json:"commit"`
		}
		w.ann.API(http.MethodPut, "/repos/ann/box/contents/"+name, in).Want(http.StatusCreated).Into(&out)
		return out.Commit.SHA
	}
	first := put("a.txt", nil)
	w.want(first, true, "valid")
	// What is said to be committed by somebody else is not vouched for.
	other := put("b.txt", map[string]any{"committer": map[string]any{"name": "Bob", "email": "bob@example.com"}})
	w.want(other, false, "unsigned")
	w.ann.Get("/ann/box/commit/" + first).OK().Has("Verified")
	signers := filepath.Join(t.TempDir(), "signers")
	if err := os.WriteFile(signers, []byte(w.Anon().Get("/-/signing-keys").OK().Body), 0o600); err != nil {
		t.Fatal(err)
	}
	w.git("fetch", "-q", "origin")
	if out, err := w.try("-c", "gpg.ssh.allowedSignersFile="+signers, "verify-commit", first); err != nil {
		t.Errorf("git does not verify it: %v %s", err, out)
	}
	if _, err := w.try("-c", "gpg.ssh.allowedSignersFile="+signers, "verify-commit", other); err == nil {
		t.Error("git verifies a commit that was not signed")
	}
}

// TestRuleForSignedCommits refuses unsigned commits to a branch.
func TestRuleForSignedCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ann.Post("/ann/box/settings/branches", "pattern", "main", "signed", "on", "admins", "on", "reviews", "0").Want(http.StatusSeeOther)
	w.git("commit", "-q", "--allow-empty", "-m", "unsigned")
	if out, err := w.try("push", "origin", "main"); err == nil || !strings.Contains(out, "no verified signature") {
		t.Errorf("%v %s", err, out)
	}
	key := w.key("mine")
	w.ann.API(http.MethodPost, "/user/keys", map[string]any{"title": "mine", "key": read(t, key+".pub")}).Want(http.StatusCreated)
	w.git("-c", "gpg.format=ssh", "-c", "user.signingkey="+key, "commit", "-q", "--amend", "-S", "--allow-empty", "-m", "signed")
	w.git("push", "-q", "origin", "main")
	w.ann.API(http.MethodPut, "/repos/ann/box/contents/a.txt", map[string]any{"message": "m", "content": "YQ=="}).Want(http.StatusCreated)
}
