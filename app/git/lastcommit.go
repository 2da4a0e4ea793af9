package git

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/git/graph"
)

// LastCommits is, for each entry of the folder at dir, the last commit that
// changed it, as seen from rev: what "git log -1 -- path" finds. One walk finds
// all; it reads no commit that the filters of the commit-graph rule out, and
// ends where an earlier answer takes over, so after a push it is short.
//
// When ctx ends first, what was found so far comes with the context's error.
func (r *Repository) LastCommits(ctx context.Context, rev OID, dir string) (map[string]*Commit, error) {
	dir, ok := CleanPath(dir)
	if !ok {
		return nil, fmt.Errorf("last commits of %q: %w", dir, ErrNotFound)
	}
	found, err := r.lastCommitIDs(ctx, rev, dir)
	if err != nil {
		err = fmt.Errorf("last commits of %q: %w", dir, err)
	}
	commits := make(map[string]*Commit, len(found))
	known := make(map[OID]*Commit)
	for name, oid := range found {
		c, ok := known[oid]
		if !ok {
			var cerr error
			// Reading what was found is short, and worth it when time is up too.
			if c, cerr = r.Commit(context.WithoutCancel(ctx), oid); cerr != nil {
				return nil, fmt.Errorf("last commits of %q: %w", dir, cerr)
			}
			known[oid] = c
		}
		commits[name] = c
	}
	return commits, err
}

// lastKey is a folder seen from a commit.
type lastKey struct {
	commit OID
	dir    string
}

// LastCommit is the last commit that changed the file or folder at path, as
// seen from rev; for the root it is rev. It runs in this process, as
// LastCommits does.
func (r *Repository) LastCommit(ctx context.Context, rev OID, path string) (*Commit, error) {
	clean, ok := CleanPath(path)
	if !ok {
		return nil, fmt.Errorf("last commit of %q: %w", path, ErrNotFound)
	}
	if clean == "" {
		return r.Commit(ctx, rev)
	}
	dir, name := splitPath(clean)
	if found, ok := r.answers.lasts.Get(lastKey{rev, dir}); ok && found[name] != "" {
		return r.Commit(ctx, found[name])
	}
	one := lastKey{rev, "\x00" + clean} // no folder's key
	found, ok := r.answers.lasts.Get(one)
	if !ok {
		e, err := r.EntryAt(ctx, rev, clean)
		if err != nil {
			return nil, fmt.Errorf("last commit: %w", err)
		}
		if found, err = r.searchLast(ctx, rev, dir, []TreeEntry{e}); err != nil {
			return nil, fmt.Errorf("last commit of %q: %w", path, err)
		}
		r.answers.lasts.Add(one, found)
	}
	return r.Commit(ctx, found[name])
}

// splitPath is the folder of a path, empty for the root, and the last part.
func splitPath(path string) (dir, name string) {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}

// lastCommitIDs is LastCommits without reading the commits.
func (r *Repository) lastCommitIDs(ctx context.Context, rev OID, dir string) (map[string]OID, error) {
	if found, ok := r.answers.lasts.Get(lastKey{rev, dir}); ok {
		return found, nil
	}
	entries, _, err := r.TreeAt(ctx, rev, dir)
	if err != nil {
		return nil, err
	}
	kept, _ := r.loadLast(dir)
	if found, ok := r.answers.lasts.Get(lastKey{rev, dir}); ok {
		return found, nil
	}
	begin := time.Now()
	found, err := r.searchLast(ctx, rev, dir, entries)
	if err != nil {
		return found, err
	}
	r.answers.lasts.Add(lastKey{rev, dir}, found)
	if time.Since(begin) >= keptFrom {
		err = r.keepLast(ctx, rev, dir, found, kept)
	}
	return found, err
}

// searchLast finds the last commits of some entries of a folder, as far as ctx
// lets it.
func (r *Repository) searchLast(ctx context.Context, rev OID, dir string, entries []TreeEntry) (map[string]OID, error) {
	s := &lastSearch{
		walk: r.newWalk(ctx), dir: dir, entries: make([]rawEntry, len(entries)), keys: make([]graph.Key, len(entries)),
		byName: make(map[string]int, len(entries)), active: make(map[*node][]int), found: make(map[string]OID, len(entries)),
	}
	s.walk.queue.byGen = true
	prefix := ""
	if dir != "" {
		s.dirKey = graph.NewKey(dir)
		prefix = dir + "/"
	}
	all := make([]int, len(entries))
	for i, e := range entries {
		s.entries[i] = rawEntry{mode: e.Mode, name: e.Name, hash: e.OID.raw()}
		s.byName[e.Name] = i
		if s.walk.graph != nil {
			s.keys[i] = graph.NewKey(prefix + e.Name)
		}
		all[i] = i
	}
	start, err := s.walk.node(rev.raw())
	if err != nil {
		return nil, err
	}
	s.pass(start, all)
	return s.found, s.run()
}

// lastSearch follows each entry back through its own line of commits: to the
// first parent that has it unchanged, until there is none.
type lastSearch struct {
	walk    *walk
	dir     string
	dirKey  graph.Key
	entries []rawEntry
	keys    []graph.Key
	byName  map[string]int
	active  map[*node][]int // entries, by index, that reached a queued commit unchanged
	found   map[string]OID
}

// pass hands entries on to a commit that has them unchanged.
func (s *lastSearch) pass(n *node, list []int) {
	if len(list) == 0 {
		return
	}
	s.active[n] = append(s.active[n], list...)
	s.walk.push(n)
}

func (s *lastSearch) run() error {
	for n := s.walk.pop(); n != nil; n = s.walk.pop() {
		if err := s.walk.ctx.Err(); err != nil {
			return err
		}
		list := s.active[n]
		delete(s.active, n)
		if s.known(n, list) {
			continue
		}
		if len(n.parents) == 0 {
			s.end(n, list)
			continue
		}
		first, err := s.walk.node(n.parents[0])
		if err != nil {
			return err
		}
		rest := s.sift(n, first, list)
		for i := 0; len(rest) > 0 && i < len(n.parents); i++ {
			parent, err := s.walk.node(n.parents[i])
			if err != nil {
				return err
			}
			same, others, err := s.compare(parent, rest)
			if err != nil {
				return err
			}
			s.pass(parent, same)
			rest = others
		}
		s.end(n, rest)
	}
	return nil
}

// known takes the answers of an earlier search that began at n.
func (s *lastSearch) known(n *node, list []int) bool {
	found, ok := s.walk.repo.answers.lasts.Get(lastKey{oidFromRaw(n.hash), s.dir})
	if !ok {
		return false
	}
	for _, i := range list {
		s.found[s.entries[i].name] = found[s.entries[i].name]
	}
	return true
}

func (s *lastSearch) end(n *node, list []int) {
	for _, i := range list {
		s.found[s.entries[i].name] = oidFromRaw(n.hash)
	}
}

// sift passes on what the filter of n says is unchanged since the first
// parent, and is the rest.
func (s *lastSearch) sift(n, first *node, list []int) []int {
	g := s.walk.graph
	if g == nil || n.gen == noGeneration {
		return list
	}
	pos := n.pos
	if s.dir != "" {
		if maybe, known := g.Changed(pos, s.dirKey); !known {
			return list
		} else if !maybe {
			s.pass(first, list)
			return nil
		}
	}
	var same, rest []int
	for k, i := range list {
		maybe, known := g.Changed(pos, s.keys[i])
		if !known {
			return list
		}
		if maybe {
			if rest == nil {
				rest = make([]int, 0, len(list)-k)
				same = list[:k:k]
			}
			rest = append(rest, i)
		} else if rest != nil {
			same = append(same, i)
		}
	}
	if rest == nil {
		same = list
	}
	s.pass(first, same)
	return rest
}

// compare splits entries into those that parent has just so and the others.
func (s *lastSearch) compare(parent *node, list []int) (same, others []int, err error) {
	data, err := s.walk.repo.folderData(s.walk, parent, s.dir)
	if err != nil {
		return nil, nil, err
	}
	there := make(map[int]bool, len(list))
	if len(list) < 4 {
		for _, i := range list {
			e, ok, err := findEntry(data, s.walk.repo.shared.format.rawLen(), s.entries[i].name)
			if err != nil {
				return nil, nil, err
			}
			there[i] = ok && e.hash == s.entries[i].hash && e.mode == s.entries[i].mode
		}
	} else if err := s.walk.repo.matchEntries(data, s.byName, s.entries, there); err != nil {
		return nil, nil, err
	}
	for _, i := range list {
		if there[i] {
			same = append(same, i)
		} else {
			others = append(others, i)
		}
	}
	return same, others, nil
}

// matchEntries notes which of entries a tree holds just so.
func (r *Repository) matchEntries(data []byte, byName map[string]int, entries []rawEntry, there map[int]bool) error {
	return eachTreeEntry(string(data), r.shared.format.rawLen(), func(e rawEntry) bool {
		if i, ok := byName[e.name]; ok {
			there[i] = e.hash == entries[i].hash && e.mode == entries[i].mode
		}
		return true
	})
}

// folderData is the tree of a commit's folder; none when it is no folder there.
func (r *Repository) folderData(w *walk, n *node, dir string) ([]byte, error) {
	var tree string
	if w.graph != nil && n.gen != noGeneration {
		tree = w.graph.Tree(n.pos)
	} else {
		c, err := r.Commit(w.ctx, oidFromRaw(n.hash))
		if err != nil {
			return nil, err
		}
		tree = c.Tree.raw()
	}
	for rest := dir; ; {
		if oidFromRaw(tree) == r.EmptyTree() {
			return nil, nil
		}
		typ, data, err := r.objects.Get(tree, maxTreeSize)
		if err != nil {
			return nil, notFound(err)
		}
		if typ != TypeTree {
			return nil, fmt.Errorf("%x is a %s, not a tree: %w", tree, typ, ErrWrongType)
		}
		if rest == "" {
			return data, nil
		}
		var name string
		name, rest = cutPath(rest)
		e, ok, err := findEntry(data, r.shared.format.rawLen(), name)
		if err != nil {
			return nil, err
		}
		if !ok || e.mode.Kind() != KindTree {
			return nil, nil
		}
		tree = e.hash
	}
}
