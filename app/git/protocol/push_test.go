package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/git/protocol"
)

// overBoth runs f over HTTP and over SSH.
func overBoth(t *testing.T, opts []option, f func(t *testing.T, s *server, c *client, url string)) {
	for _, transport := range []string{"http", "ssh"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, opts...)
			url := s.url
			if transport == "ssh" {
				s.startSSH()
				url = s.sshURL
			}
			f(t, s, s.client(), url)
		})
	}
}

func (s *server) ref(name string) string {
	s.t.Helper()
	repo, err := s.store.Open(context.Background(), s.id)
	must(s.t, err)
	ref, err := repo.Ref(context.Background(), name)
	if errors.Is(err, git.ErrNotFound) {
		return ""
	}
	must(s.t, err)
	return string(ref.OID)
}

func TestPushRules(t *testing.T) {
	t.Parallel()
	overBoth(t, nil, func(t *testing.T, s *server, c *client, url string) {
		c.work(url, 2)
		c.git("work", "push", "-q", "origin", "main", "main:side", "main:refs/notes/x")
		c.refused("the default branch cannot be deleted", "work", "push", "origin", ":main")
		c.refused("cannot be pushed", "work", "push", "origin", "main:refs/pull/1/head")
		c.refused("hidden", "work", "push", "origin", "main:refs/gitfor/x")
		// refs are judged one by one
		out := c.refused("cannot be pushed", "work", "push", "origin", "main:good", "main:refs/other/bad")
		if !strings.Contains(out, "[new branch]") || s.ref("refs/heads/good") == "" {
			t.Fatalf("the good ref did not move:\n%s", out)
		}
		out = c.refused("atomic", "work", "push", "--atomic", "origin", "main:good2", "main:refs/other/bad")
		if s.ref("refs/heads/good2") != "" {
			t.Fatalf("an atomic push moved a ref:\n%s", out)
		}
		c.git("work", "push", "-q", "--atomic", "origin", "main:a", "main:b", ":side")
		if s.ref("refs/heads/a") == "" || s.ref("refs/heads/b") == "" || s.ref("refs/heads/side") != "" {
			t.Fatal("an atomic push did not move all its refs")
		}
		// a branch where a folder of branches is
		c.git("work", "push", "-q", "origin", "main:dir/x")
		c.refused("exists; cannot create", "work", "push", "origin", "main:dir")
		c.refused("exists; cannot create", "work", "push", "--atomic", "origin", "main:dir", "main:c")
		if out := c.refused("exists; cannot create", "work", "push", "origin", "main:dir", "main:d"); s.ref("refs/heads/d") == "" {
			t.Fatalf("the good ref did not move:\n%s", out)
		}
		// only commits in branches
		c.refused("branch can only hold a commit", "work", "push", "origin", "HEAD^{tree}:refs/heads/tree")
		// rewriting
		c.git("work", "commit", "-q", "--amend", "-m", "other")
		c.refused("non-fast-forward", "work", "push", "origin", "main")
		c.git("work", "push", "-q", "--force", "origin", "main")
		if s.ref("refs/heads/main") != c.git("work", "rev-parse", "HEAD") {
			t.Fatal("forced push did not move the ref")
		}
		if list, _ := os.ReadDir(s.receive.Quarantine); len(list) != 0 {
			t.Fatalf("%d folders are left in quarantine", len(list))
		}
	})
}

func TestStalePush(t *testing.T) {
	t.Parallel()
	var s *server
	move := func(context.Context, *protocol.Push) error {
		// another push wins between check and update
		return os.WriteFile(filepath.Join(s.path(), "refs/heads/main"), []byte(s.ref("refs/heads/side")+"\n"), 0o666)
	}
	s = newServer(t)
	c := s.client()
	c.work(s.url, 2)
	c.git("work", "push", "-q", "origin", "main", "main~1:refs/heads/side")
	s.hooks.Check = move
	c.commits("work", 1)
	c.refused("fetch first", "work", "push", "origin", "main", "main:new")
	if s.ref("refs/heads/new") == "" {
		t.Fatal("the other ref did not move")
	}
}

func TestStaleLock(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client()
	c.work(s.url, 1)
	c.git("work", "push", "-q", "origin", "main")
	c.commits("work", 1)
	lock := filepath.Join(s.path(), "refs/heads/main.lock")
	must(t, os.WriteFile(lock, nil, 0o666))
	c.refused("another push is moving this ref", "work", "push", "origin", "main")
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(lock, old, old))
	c.git("work", "push", "-q", "origin", "main")
	if exists(lock) {
		t.Fatal("the lock is still there")
	}
}

func TestHooks(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var log []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, fmt.Sprintf(format, args...))
	}
	hooks := protocol.Hooks{
		Check: func(ctx context.Context, p *protocol.Push) error {
			for _, c := range p.Commands {
				forced, err := p.Forced(ctx, c)
				if err != nil {
					return err
				}
				note("check %s %s forced=%v options=%v", c.Kind, c.Ref, forced, p.Options)
				if c.Kind == protocol.Delete {
					continue
				}
				if _, err := p.Repo.Commit(ctx, c.New); err != nil {
					return err
				}
				if c.Ref == "refs/heads/no" {
					c.Reject("not this one")
				}
			}
			if slices.Contains(p.Options, "all") {
				return &protocol.Refusal{Message: "Nothing today.\nAsk again tomorrow."}
			}
			if slices.Contains(p.Options, "broken") {
				return errors.New("secret detail")
			}
			return nil
		},
		Prepare: func(_ context.Context, p *protocol.Push) error {
			for _, c := range p.Pending() {
				note("prepare %s", c.Ref)
			}
			return nil
		},
		Done: func(_ context.Context, p *protocol.Push, results []protocol.Result) ([]string, error) {
			for _, r := range results {
				note("done %s %v", r.Ref, r.OK)
				if r.OK {
					if _, err := p.Repo.Commit(context.WithoutCancel(t.Context()), r.New); err != nil {
						return nil, err
					}
				}
			}
			return []string{"Open a pull request:", "  http://example.org/new"}, nil
		},
	}
	overBoth(t, []option{withHooks(hooks)}, func(t *testing.T, s *server, c *client, url string) {
		mu.Lock()
		log = nil
		mu.Unlock()
		c.work(url, 1)
		out, err := c.try("work", "push", "-o", "a=b", "-o", "c", "origin", "main:yes", "main:no")
		if err == nil || !strings.Contains(out, "not this one") || !strings.Contains(out, "remote: Open a pull request:") {
			t.Fatalf("%v\n%s", err, out)
		}
		out = c.refused("remote: Nothing today.", "work", "push", "-o", "all", "origin", "main:maybe")
		if !strings.Contains(out, "remote: Ask again tomorrow.") || !strings.Contains(out, "Nothing today.)") {
			t.Fatal(out)
		}
		out = c.refused("internal error", "work", "push", "-o", "broken", "origin", "main:maybe")
		if strings.Contains(out, "secret detail") {
			t.Fatal(out)
		}
		if len(s.errs) != 1 || !strings.Contains(s.errs[0].Error(), "secret detail") {
			t.Fatalf("errors for the log: %v", s.errs)
		}
		if s.ref("refs/heads/maybe") != "" || s.ref("refs/heads/no") != "" || s.ref("refs/heads/yes") == "" {
			t.Fatal("refs moved that should not, or the other way round")
		}
	})
	t.Cleanup(func() {
		for _, want := range []string{"check create refs/heads/yes forced=false options=[a=b c]", "prepare refs/heads/yes",
			"done refs/heads/yes true", "done refs/heads/no false"} {
			if !slices.Contains(log, want) {
				t.Errorf("%q did not happen: %q", want, log)
			}
		}
		if slices.Contains(log, "prepare refs/heads/no") {
			t.Error("a refused ref was prepared")
		}
	})
}

func TestPushFromShallow(t *testing.T) {
	t.Parallel()
	overBoth(t, nil, func(t *testing.T, s *server, c *client, url string) {
		c.work(url, 5)
		c.git("work", "push", "-q", "origin", "main")
		c.git("", "clone", "-q", "--depth=2", url, "shallow")
		c.commits("shallow", 1)
		c.git("shallow", "push", "-q", "origin", "main")
		if s.ref("refs/heads/main") != c.git("shallow", "rev-parse", "HEAD") {
			t.Fatal("push from a shallow clone did not arrive")
		}
		// a history that the server has not got
		c.git("", "init", "-q", "other")
		c.commits("other", 4)
		c.git("", "clone", "-q", "--depth=2", "file://"+c.dir+"/other", "cut")
		out := c.refused("shallow update not allowed", "cut", "push", url, "main:cut")
		if !strings.Contains(out, "git fetch --unshallow") {
			t.Fatalf("no hint:\n%s", out)
		}
		if s.ref("refs/heads/cut") != "" {
			t.Fatal("a ref with missing history appeared")
		}
	})
}

func TestBadPacks(t *testing.T) {
	t.Parallel()
	for _, few := range []int{1, 1000} { // index-pack, unpack-objects
		t.Run(fmt.Sprintf("unpack limit %d", few), func(t *testing.T) {
			t.Parallel()
			overBoth(t, []option{func(s *server) { s.receive.UnpackLimit, s.receive.MaxPack = few, 1<<20 }}, func(t *testing.T, s *server, c *client, url string) {
				c.work(url, 1)
				// a tree entry called ".git"
				c.write("tree", "100644 blob "+c.git("work", "rev-parse", "HEAD:"+firstFile(t, c.dir+"/work"))+"\t.git\n")
				cmd := c.cmd(t.Context(), "work", "mktree", "--missing")
				f, err := os.Open(filepath.Join(c.dir, "tree"))
				must(t, err)
				cmd.Stdin = f
				tree, err := cmd.Output()
				must(t, err)
				commit := c.git("work", "commit-tree", "-m", "bad", strings.TrimSpace(string(tree)))
				out := c.refused("hasDotgit", "work", "push", "origin", commit+":refs/heads/bad")
				if !strings.Contains(out, "unpacker error") {
					t.Fatal(out)
				}
				// too large
				c.write("work/big", randomText(3<<20))
				c.git("work", "add", "-A")
				c.git("work", "commit", "-q", "-m", "big")
				start := time.Now()
				c.refused("larger than the 1 MB", "work", "push", "origin", "main:big")
				if d := time.Since(start); d > 10*time.Second {
					t.Fatalf("the refusal took %v", d)
				}
				if s.ref("refs/heads/bad") != "" || s.ref("refs/heads/big") != "" {
					t.Fatal("a refused ref appeared")
				}
				c.git("work", "push", "-q", "origin", "main~1:refs/heads/main")
			})
		})
	}
}

func TestThinPackAndManyObjects(t *testing.T) {
	t.Parallel()
	overBoth(t, nil, func(t *testing.T, s *server, c *client, url string) {
		c.work(url, 150)
		c.git("work", "push", "-q", "origin", "main")
		if packs, _ := filepath.Glob(s.path() + "/objects/pack/*.idx"); len(packs) != 1 {
			t.Fatalf("%d packs after a push of 450 objects", len(packs))
		}
		c.write("work/long", randomText(200_000))
		c.git("work", "add", "-A")
		c.git("work", "commit", "-q", "-m", "long")
		c.git("work", "push", "-q", "origin", "main")
		f, err := os.OpenFile(filepath.Join(c.dir, "work/long"), os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteString("one more line\n")
		must(t, err)
		must(t, f.Close())
		c.git("work", "commit", "-q", "-a", "-m", "longer")
		c.git("work", "repack", "-q", "-a", "-d")
		c.git("work", "push", "-q", "--thin", "origin", "main")
		c.git("", "--git-dir="+s.path(), "fsck", "--strict")
	})
}

// firstFile is a file of a work tree.
func firstFile(t *testing.T, dir string) string {
	t.Helper()
	list, err := filepath.Glob(dir + "/f*")
	must(t, err)
	if len(list) == 0 {
		t.Fatal("no file")
	}
	return filepath.Base(list[0])
}

// randomText is text that does not compress, the same each time.
func randomText(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(' ' + r.IntN(90))
		if i%60 == 59 {
			b[i] = '\n'
		}
	}
	return string(b)
}
