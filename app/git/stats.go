package git

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Stats is the state of a repository's files, for deciding on maintenance.
type Stats struct {
	LooseObjects int
	LooseBytes   int64
	// Packs counts packs that repacking may take up; kept and cruft packs
	// (unreachable objects in their grace period) are apart.
	Packs      int
	PackBytes  int64
	CruftPacks int
	// CruftOld is how many objects have been unreachable for DefaultGrace.
	CruftOld  int
	HasBitmap bool
	HasMIDX   bool
	// GraphCommits is how many commits the commit-graph knows, 0 without one.
	GraphCommits int
	// GraphFresh says whether the commit-graph knows the commits of all branches.
	GraphFresh bool
	LooseRefs  int
	PackedRefs int
	// Bytes is all of the repository's folder.
	Bytes int64
}

// Stats looks at the repository's files; it starts no process.
func (r *Repository) Stats(ctx context.Context) (Stats, error) {
	var s Stats
	packs, kept := map[string]int64{}, map[string]bool{}
	err := filepath.WalkDir(r.Path, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone meanwhile
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		s.Bytes += info.Size()
		name, _ := filepath.Rel(r.Path, path)
		s.count(filepath.ToSlash(name), info, packs, kept)
		return nil
	})
	if err != nil {
		return Stats{}, err
	}
	for name, size := range packs {
		s.PackBytes += size
		if kept[name+".mtimes"] {
			s.CruftPacks++
			if err := s.countOld(filepath.Join(r.Path, "objects", "pack", name+".mtimes")); err != nil {
				return Stats{}, err
			}
		} else if !kept[name+".keep"] {
			s.Packs++
		}
	}
	packed, err := r.shared.refs.packedRefs()
	if err != nil {
		return Stats{}, err
	}
	s.PackedRefs = len(packed)
	return s, r.graphStats(ctx, &s)
}

// count takes one file into account.
func (s *Stats) count(name string, info os.FileInfo, packs map[string]int64, kept map[string]bool) {
	switch {
	case strings.HasPrefix(name, "refs/"):
		s.LooseRefs++
	case strings.HasPrefix(name, "objects/pack/"):
		base := strings.TrimPrefix(name, "objects/pack/")
		switch filepath.Ext(base) {
		case ".pack":
			packs[strings.TrimSuffix(base, ".pack")] = info.Size()
		case ".mtimes", ".keep":
			kept[base] = true
		case ".bitmap":
			s.HasBitmap = true
		}
		s.HasMIDX = s.HasMIDX || base == "multi-pack-index"
	case strings.HasPrefix(name, "objects/") && len(name) > len("objects/xx/") && name[len("objects/xx")] == '/' && isHex(name[8:10]):
		s.LooseObjects++
		s.LooseBytes += info.Size()
	}
}

// countOld counts what a cruft pack holds that is past its grace period
// (gitformat-pack(5), pack-*.mtimes).
func (s *Stats) countOld(path string) error {
	const head = 12
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || len(data) < head || string(data[:4]) != "MTME" {
		return err
	}
	hash := 20
	if binary.BigEndian.Uint32(data[8:]) == 2 {
		hash = 32
	}
	before := time.Now().Add(-DefaultGrace).Unix()
	for rest := data[head:]; len(rest) > 2*hash+3; rest = rest[4:] {
		if int64(binary.BigEndian.Uint32(rest)) < before {
			s.CruftOld++
		}
	}
	return nil
}

// graphStats compares the commit-graph with the branches.
func (r *Repository) graphStats(ctx context.Context, s *Stats) error {
	g := r.graph()
	branches, err := r.Branches(ctx)
	if err != nil {
		return err
	}
	s.GraphFresh = true
	if g != nil {
		s.GraphCommits = g.Len()
	}
	for _, b := range branches {
		if g == nil {
			s.GraphFresh = false
			break
		}
		if _, ok := g.Find(b.OID.raw()); !ok {
			s.GraphFresh = false
			break
		}
	}
	return nil
}

// When maintenance is worth its while.
const (
	manyLoose     = 1000
	manyPacks     = 12
	manyLooseRefs = 500
	// fewBytes is up to where walking the history needs no commit-graph.
	fewBytes = 8 << 10
)

// Needs is what maintenance the state asks for; the zero value is none.
func (s Stats) Needs() MaintainOptions {
	return MaintainOptions{
		Refs:   s.LooseRefs > manyLooseRefs,
		Repack: s.LooseObjects > manyLoose || s.Packs > manyPacks || (s.Packs > 1 && !s.HasMIDX && s.PackBytes > 8<<20) || (s.Packs == 1 && !s.HasBitmap && s.PackBytes > 8<<20),
		Graph:  !s.GraphFresh && s.PackBytes+s.LooseBytes > fewBytes,
		Expire: s.CruftOld > 0,
	}
}
