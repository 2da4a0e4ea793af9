package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/git/gittest"
)

func TestMaintain(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	w.Git("config", "fastimport.unpackLimit", "1")
	for i := range 4 { // a pack each
		grow(w, 30+i)
	}
	var updates []RefUpdate
	tip := OID(w.Git("rev-parse", "main"))
	for i := range 600 {
		updates = append(updates, RefUpdate{fmt.Sprintf("refs/tags/t%d", i), "", tip})
	}
	if err := repo.UpdateRefs(ctx, updates); err != nil {
		t.Fatal(err)
	}
	lost := blob(t, repo, "nothing refers to this")
	before, err := repo.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if before.Packs < 4 || before.LooseRefs != 601 || before.GraphFresh || before.LooseObjects != 1 || before.Bytes < 1000 {
		t.Errorf("before: %+v", before)
	}
	needs := before.Needs()
	if !needs.Refs || !needs.Graph {
		t.Errorf("needs: %+v", needs)
	}
	objects := checkObjects(t, repo, w)
	if err := repo.Maintain(ctx, MaintainOptions{Refs: true, Repack: true, Graph: true}); err != nil {
		t.Fatal(err)
	}
	after, err := repo.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if after.Packs >= before.Packs || after.LooseRefs != 0 || after.PackedRefs != 601 || !after.GraphFresh || !after.HasBitmap || !after.HasMIDX {
		t.Errorf("after: %+v", after)
	}
	same(t, "needs nothing", after.Needs().None(), true)
	same(t, "objects", checkObjects(t, repo, w), objects)
	checkRefs(t, repo, w, "maintained")
	grow(w, 2)
	if s, _ := repo.Stats(ctx); s.GraphFresh {
		t.Error("the graph is stale after a commit")
	}
	if err := repo.Maintain(ctx, MaintainOptions{Full: true, Graph: true}); err != nil {
		t.Fatal(err)
	}
	if after, err = repo.Stats(ctx); err != nil || after.Packs != 1 || after.CruftPacks != 1 || after.LooseObjects != 0 || !after.HasBitmap {
		t.Errorf("full: %+v %v", after, err)
	}
	if ok, _ := repo.Has(ctx, lost); !ok {
		t.Error("an object in its grace period is gone")
	}
	w.Git("fsck", "--connectivity-only", "--no-dangling")
	checkRefs(t, repo, w, "after a full repack")
}

func TestMaintainLetsGo(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		repo, w := newRepo(t)
		ctx := t.Context()
		grow(w, 3)
		lost := blob(t, repo, "nothing refers to this")
		raw := string(lost)
		path := filepath.Join(repo.Path, "objects", raw[:2], raw[2:])
		month := time.Now().Add(-31 * 24 * time.Hour)
		if err := os.Chtimes(path, month, month); err != nil {
			t.Fatal(err)
		}
		// However old its file is, it is found to be unreachable only now.
		full := MaintainOptions{Full: true, Expire: true, KeepUnreachable: keep}
		if err := repo.Maintain(ctx, full); err != nil {
			t.Fatal(err)
		}
		if ok, _ := repo.Has(ctx, lost); !ok {
			t.Fatalf("keep %v: gone before its grace period", keep)
		}
		full.Grace = time.Millisecond
		release, err := repo.Hold(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := repo.Maintain(ctx, full); !keep && !errors.Is(err, ErrWriting) || keep && err != nil {
			t.Errorf("keep %v, while somebody writes: %v", keep, err)
		}
		release()
		if err := repo.Maintain(ctx, full); err != nil {
			t.Fatal(err)
		}
		ok, err := repo.Has(ctx, lost)
		if err != nil || ok != keep {
			t.Errorf("keep %v: there %v, %v", keep, ok, err)
		}
		w.Git("fsck", "--no-dangling")
	}
}

// TestStatsOfOldCruft reads the times that git keeps of unreachable objects.
func TestStatsOfOldCruft(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	grow(w, 3)
	lost := string(blob(t, repo, "nothing refers to this"))
	month := time.Now().Add(-31 * 24 * time.Hour)
	if err := os.Chtimes(filepath.Join(repo.Path, "objects", lost[:2], lost[2:]), month, month); err != nil {
		t.Fatal(err)
	}
	blob(t, repo, "nor to this, which is new")
	w.Git("repack", "-d", "-q", "--cruft", "--cruft-expiration=never")
	s, err := repo.Stats(t.Context())
	if err != nil || s.CruftPacks != 1 || s.CruftOld != 1 || !s.Needs().Expire {
		t.Errorf("%+v %v", s, err)
	}
}

func TestClearStale(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	id := OID(w.Commit(gittest.Commit{}))
	old := time.Now().Add(-2 * time.Hour)
	stale := []string{"refs/heads/main.lock", "packed-refs.lock", "objects/tmp_obj_x", "objects/pack/tmp_pack_x"}
	fresh := []string{"HEAD.lock", "objects/tmp_obj_y"}
	for _, name := range append(stale, fresh...) {
		if err := os.WriteFile(filepath.Join(repo.Path, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range stale {
		if err := os.Chtimes(filepath.Join(repo.Path, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	move := []RefUpdate{{"refs/heads/main", id, repo.ZeroOID()}}
	if err := repo.UpdateRefs(t.Context(), move); !errors.Is(err, ErrRefBusy) {
		t.Errorf("with a lock left behind: %v", err)
	}
	if err := repo.ClearStale(time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, name := range stale {
		if _, err := os.Stat(filepath.Join(repo.Path, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range fresh {
		if _, err := os.Stat(filepath.Join(repo.Path, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_ = os.Remove(filepath.Join(repo.Path, "HEAD.lock"))
	if err := repo.UpdateRefs(t.Context(), move); err != nil {
		t.Error(err)
	}
}

// TestReadsWhileRepacking reads all objects and refs while they are moved from
// pack to pack and new ones come.
func TestReadsWhileRepacking(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	grow(w, 40)
	all := lines(w.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	tip := w.Git("rev-parse", "main")
	w.Git("update-ref", "refs/heads/still", tip)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-done:
					if round > 0 {
						return
					}
				default:
				}
				open, err := repo.store.Open(ctx, repo.ID)
				if err != nil {
					t.Error(err)
					return
				}
				for _, id := range all {
					if _, err := open.Object(ctx, OID(id), 0); err != nil {
						t.Error(err)
						return
					}
				}
				refs, err := open.Branches(ctx)
				if err != nil || len(refs) != 2 || refs[1].OID != OID(tip) {
					t.Error(refs, err)
					return
				}
			}
		})
	}
	for i := range 5 {
		if err := repo.Maintain(ctx, MaintainOptions{Refs: true, Full: i%2 == 0, Repack: true, Graph: true}); err != nil {
			t.Error(err)
		}
		w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("more", strings.Repeat(fmt.Sprint(i), 100))}})
		w.Git("update-ref", "refs/heads/still", tip)
	}
	close(done)
	readers.Wait()
}
