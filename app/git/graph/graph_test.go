package graph

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
)

// octopus is a repository with a merge of five, and its graph's path.
func octopus(t *testing.T) (*gittest.Repo, string) {
	t.Helper()
	w := gittest.New(t)
	root := w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("a", "a")}})
	var tips []string
	for i := range 5 {
		tips = append(tips, w.Commit(gittest.Commit{Branch: fmt.Sprint("b", i), Parents: []string{root}, Files: []gittest.File{gittest.Text(fmt.Sprint("f", i), "x")}}))
	}
	w.Commit(gittest.Commit{Parents: tips, Files: []gittest.File{gittest.Text("dir/m", "m")}})
	w.Git("commit-graph", "write", "--reachable", "--changed-paths")
	return w, filepath.Join(w.Path, "objects")
}

func TestGraphAsGit(t *testing.T) {
	t.Parallel()
	w, objects := octopus(t)
	g, err := Open(objects, 20)
	if err != nil || g == nil {
		t.Fatal(g, err)
	}
	for line := range strings.Lines(w.Git("log", "--all", "--format=%H %T %ct %P")) {
		fields := strings.Fields(line)
		raw, _ := hex.DecodeString(fields[0])
		pos, ok := g.Find(string(raw))
		if !ok {
			t.Fatalf("%s is not found", fields[0])
		}
		c, err := g.Commit(pos, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%x %x %d", g.Hash(pos), g.Tree(pos), c.Date)
		for _, p := range c.Parents {
			got += fmt.Sprintf(" %x", g.Hash(p))
			if pc, err := g.Commit(p, nil); err != nil || pc.Generation >= c.Generation {
				t.Errorf("generation of a parent: %d of %d, %v", pc.Generation, c.Generation, err)
			}
		}
		if got != strings.Join(fields, " ") {
			t.Errorf("got %s, want %s", got, line)
		}
	}
	if _, ok := g.Find(strings.Repeat("\xff", 20)); ok {
		t.Error("found what is not there")
	}
	if _, ok := g.Find("short"); ok {
		t.Error("found a short id")
	}
}

func TestNoGraph(t *testing.T) {
	t.Parallel()
	if g, err := Open(t.TempDir(), 20); g != nil || err != nil {
		t.Errorf("%v %v", g, err)
	}
}

func TestDamagedGraph(t *testing.T) {
	t.Parallel()
	_, objects := octopus(t)
	good, err := os.ReadFile(filepath.Join(objects, "info", "commit-graph"))
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 0))
	refused := 0
	for range 400 {
		bad := bytes.Clone(good)
		for range 1 + rnd.IntN(8) {
			bad[rnd.IntN(len(bad))] = byte(rnd.IntN(256))
		}
		if rnd.IntN(4) == 0 {
			bad = bad[:rnd.IntN(len(bad))]
		}
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "info"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "info", "commit-graph"), bad, 0o666); err != nil {
			t.Fatal(err)
		}
		g, err := Open(dir, 20)
		if err != nil || g == nil {
			refused++
			continue
		}
		key := NewKey("dir/m")
		for pos := range uint32(g.Len()) {
			if _, err := g.Commit(pos, nil); err != nil {
				refused++
			}
			g.Changed(pos, key)
			g.Find(g.Hash(pos))
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}
