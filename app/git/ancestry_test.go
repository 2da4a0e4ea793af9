package git

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/git/gittest"
	"github.com/gitfor/gitfor/app/git/graph"
)

// tangled makes a random history with many merges, several roots, and clocks
// that run backwards; the ids are in no useful order.
func tangled(w *gittest.Repo, n int) []string {
	rnd := rand.New(rand.NewPCG(1, 0))
	var ids []string
	var in strings.Builder
	for i := range n {
		fmt.Fprintf(&in, "commit refs/heads/b%d\nmark :%d\ncommitter C <c@x> %d +0000\ndata 1\nx", i, i+1, 1_700_000_000+rnd.IntN(1000)+i*10)
		for p := range min(i, rnd.IntN(4)) {
			word := "merge"
			if p == 0 {
				word = "from"
			}
			fmt.Fprintf(&in, "\n%s :%d", word, i-rnd.IntN(min(i, 9)))
		}
		fmt.Fprintf(&in, "\nM 644 inline f%d\ndata 1\n%d\n\n", i%13, i%10)
	}
	w.GitIn([]byte(in.String()), "fast-import", "--quiet", "--force")
	for i := range n {
		ids = append(ids, w.Git("rev-parse", fmt.Sprintf("b%d", i)))
	}
	return ids
}

func TestAncestryAsGit(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	ctx := t.Context()
	ids := tangled(w, 60)
	before := map[string]*reach{}
	for _, step := range []string{"none", "part", "chain"} {
		switch step {
		case "part": // half of the commits are in the graph
			w.GitIn([]byte(strings.Join(ids[:30], "\n")), "commit-graph", "write", "--stdin-commits", "--changed-paths")
		case "chain":
			w.Git("repack", "-adq")
			w.GitIn([]byte(strings.Join(ids[:30], "\n")), "commit-graph", "write", "--stdin-commits", "--split=no-merge", "--changed-paths")
			w.Git("commit-graph", "write", "--reachable", "--split=no-merge", "--changed-paths")
			if repo.graph() == nil || repo.graph().Len() != len(ids) {
				t.Fatal("the chain was not read")
			}
		}
		if (repo.graph() != nil) != (step != "none") {
			t.Fatalf("%s: graph %v", step, repo.graph())
		}
		repo.answers.counts.Purge()
		repo.answers.divergences.Purge()
		repo.answers.bases.Purge()
		rnd := rand.New(rand.NewPCG(2, 0))
		for range 40 {
			a, b := ids[rnd.IntN(len(ids))], ids[rnd.IntN(len(ids))]
			bases, err := repo.MergeBases(ctx, OID(a), OID(b))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, len(bases))
			for i, base := range bases {
				got[i] = string(base)
			}
			slices.Sort(got)
			all := lines(mergeBases(w, a, b))
			slices.Sort(all)
			same(t, fmt.Sprintf("%s: merge bases of %s %s", step, a, b), strings.Join(got, " "), strings.Join(all, " "))
			d, err := repo.AheadBehind(ctx, OID(a), OID(b))
			if err != nil {
				t.Fatal(err)
			}
			same(t, step+": ahead and behind", fmt.Sprintf("%d\t%d", d[OID(b)].Behind, d[OID(b)].Ahead), w.Git("rev-list", "--left-right", "--count", a+"..."+b))
			of, err := repo.reached(ctx, OID(a).raw())
			if err != nil {
				t.Fatal(err)
			}
			ofB, err := repo.reached(ctx, OID(b).raw())
			if err != nil {
				t.Fatal(err)
			}
			same(t, step+": by sets", fmt.Sprintf("%d\t%d", of.without(ofB), ofB.without(of)), w.Git("rev-list", "--left-right", "--count", a+"..."+b))
			if old, ok := before[a]; ok { // from before git wrote another graph
				same(t, step+": old and new set", fmt.Sprint(old.without(ofB), ofB.without(old)), fmt.Sprint(of.without(ofB), ofB.without(of)))
			}
			before[a] = of
			ok, err := repo.IsAncestor(ctx, OID(a), OID(b))
			if err != nil {
				t.Fatal(err)
			}
			same(t, step+": ancestor", ok, slices.Contains(all, a))
		}
		for _, id := range ids {
			n, err := repo.CommitCount(ctx, OID(id))
			if err != nil {
				t.Fatal(err)
			}
			same(t, step+": count", fmt.Sprint(n), w.Git("rev-list", "--count", id))
		}
	}
}

// mergeBases asks git, for which none is a failure.
func mergeBases(w *gittest.Repo, a, b string) string {
	return w.Git("-c", "alias.bases=!git merge-base --all "+a+" "+b+" || true", "bases")
}

func TestFiltersAsGit(t *testing.T) {
	t.Parallel()
	repo, w := newRepo(t)
	branchy(w)
	w.Commit(gittest.Commit{Files: []gittest.File{gittest.Text("\xff\xfe/ü.txt", "x")}})
	w.Git("commit-graph", "write", "--reachable", "--changed-paths")
	g := repo.graph()
	wrong, silent := 0, 0
	paths := []string{"a", "dir", "dir/b", "dir/sub", "dir/sub/d3", "side5", "none", "\xff\xfe", "\xff\xfe/ü.txt"}
	for pos := range uint32(g.Len()) {
		id := fmt.Sprintf("%x", g.Hash(pos))
		changed := "\x00" + w.Git("log", "-1", "--format=", "-r", "-t", "-z", "--name-only", "-m", "--first-parent", id)
		for _, path := range paths {
			maybe, known := g.Changed(pos, graph.NewKey(path))
			does := strings.Contains(changed, "\x00"+path+"\x00")
			if !known {
				t.Fatalf("no filter for %s", id)
			}
			if does && !maybe {
				wrong++
			}
			if !maybe {
				silent++
			}
		}
	}
	same(t, "changes that a filter denies", wrong, 0)
	if silent < g.Len() {
		t.Errorf("filters spare only %d", silent)
	}
}
