// Package graph reads git's commit-graph files (gitformat-commit-graph(5)):
// parents, times and generation numbers of commits, and filters of the paths
// that they change, without reading the commits themselves.
package graph

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// errBroken: a file is not what git would write.
var errBroken = errors.New("commit-graph is broken")

// Graph is the chain of commit-graph files of a repository. Commits in it are
// known by their position. It is safe for concurrent use and needs no closing.
type Graph struct {
	files   []*file
	count   uint32
	hashLen int
	dated   bool // generations are corrected dates, in all files
}

// file is one layer.
type file struct {
	data    []byte
	base    uint32 // how many commits the layers below hold
	count   uint32
	fanout  []byte
	names   []byte
	commits []byte
	edges   []byte
	offsets []byte // GDA2: what corrected dates are over the date
	large   []byte // GDO2
	filters []byte // BIDX
	bits    []byte // BDAT, after its header
	hashes  uint32
	version uint32
}

// Open reads the graph of an objects folder; nil when it has none. hashLen is
// 20 or 32.
func Open(objects string, hashLen int) (*Graph, error) {
	paths := []string{filepath.Join(objects, "info", "commit-graph")}
	chain, err := os.ReadFile(filepath.Join(objects, "info", "commit-graphs", "commit-graph-chain"))
	if err == nil {
		paths = nil
		for _, name := range strings.Fields(string(chain)) {
			if _, err := hex.DecodeString(name); err != nil {
				return nil, fmt.Errorf("%w: chain names %q", errBroken, name)
			}
			paths = append(paths, filepath.Join(objects, "info", "commit-graphs", "graph-"+name+".graph"))
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	g := &Graph{hashLen: hashLen, dated: true}
	for _, path := range paths {
		f, err := openFile(path, hashLen)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // none, or a chain that was just replaced
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", path, err)
		}
		f.base = g.count
		g.count += f.count
		g.dated = g.dated && f.offsets != nil
		g.files = append(g.files, f)
	}
	if len(g.files) == 0 {
		return nil, nil
	}
	return g, nil
}

func openFile(path string, hashLen int) (*file, error) {
	handle, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	info, err := handle.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < 8+12+256*4 || info.Size() > 1<<40 {
		return nil, errBroken
	}
	// git replaces these files whole and never shortens one, so a mapping is safe.
	data, err := unix.Mmap(int(handle.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	f := &file{data: data}
	runtime.AddCleanup(f, func(data []byte) { _ = unix.Munmap(data) }, data)
	if err := f.parse(hashLen); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *file) parse(hashLen int) error {
	d := f.data
	// The sixth byte is 1 for SHA-1 and 2 for SHA-256.
	if !bytes.Equal(d[:5], []byte("CGPH\x01")) || int(d[5])*12+8 != hashLen {
		return errBroken
	}
	chunks := map[string][]byte{}
	count := int(d[6])
	if 8+12*(count+1) > len(d) {
		return errBroken
	}
	for i := range count {
		entry := d[8+12*i:]
		from, to := binary.BigEndian.Uint64(entry[4:]), binary.BigEndian.Uint64(entry[16:])
		if from > to || to > uint64(len(d)) {
			return errBroken
		}
		chunks[string(entry[:4])] = d[from:to]
	}
	f.fanout, f.names, f.commits, f.edges = chunks["OIDF"], chunks["OIDL"], chunks["CDAT"], chunks["EDGE"]
	if len(f.fanout) != 256*4 {
		return errBroken
	}
	f.count = binary.BigEndian.Uint32(f.fanout[255*4:])
	if len(f.names) != int(f.count)*hashLen || len(f.commits) != int(f.count)*(hashLen+16) {
		return errBroken
	}
	if o := chunks["GDA2"]; len(o) == 4*int(f.count) {
		f.offsets, f.large = o, chunks["GDO2"]
	}
	if x, b := chunks["BIDX"], chunks["BDAT"]; len(x) == 4*int(f.count) && len(b) >= 12 {
		f.version, f.hashes = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
		if (f.version == 1 || f.version == 2) && f.hashes > 0 && f.hashes < 64 {
			f.filters, f.bits = x, b[12:]
		}
	}
	return nil
}

// Len is how many commits the graph knows.
func (g *Graph) Len() int { return int(g.count) }

// Find is the position of the commit with this raw id.
func (g *Graph) Find(hash string) (uint32, bool) {
	if len(hash) != g.hashLen {
		return 0, false
	}
	for _, f := range g.files {
		lo := uint32(0)
		if hash[0] > 0 {
			lo = binary.BigEndian.Uint32(f.fanout[4*(int(hash[0])-1):])
		}
		hi := min(binary.BigEndian.Uint32(f.fanout[4*int(hash[0]):]), f.count)
		if lo > hi {
			continue
		}
		n := lo + uint32(sort.Search(int(hi-lo), func(i int) bool {
			at := (int(lo) + i) * g.hashLen
			return string(f.names[at:at+g.hashLen]) >= hash
		}))
		found := n < hi && string(f.names[int(n)*g.hashLen:int(n+1)*g.hashLen]) == hash
		runtime.KeepAlive(f)
		if found {
			return f.base + n, true
		}
	}
	return 0, false
}

// layer is the file that holds pos, and where.
func (g *Graph) layer(pos uint32) (*file, int) {
	for i := len(g.files) - 1; i > 0; i-- {
		if f := g.files[i]; pos >= f.base {
			return f, int(pos - f.base)
		}
	}
	return g.files[0], int(pos)
}

// Hash is the raw id of the commit at pos.
func (g *Graph) Hash(pos uint32) string {
	f, n := g.layer(pos)
	hash := string(f.names[n*g.hashLen : (n+1)*g.hashLen])
	runtime.KeepAlive(f)
	return hash
}

// Commit is what the graph says of one commit.
type Commit struct {
	// Date is the committer's, in seconds since 1970.
	Date int64
	// Generation is greater than that of every ancestor.
	Generation uint64
	// Parents are positions.
	Parents []uint32
}

const (
	noParent  = 0x70000000
	manyBit   = 0x80000000
	parentMax = 0x7fffffff
)

// Commit reads the commit at pos; Parents are appended to into.
func (g *Graph) Commit(pos uint32, into []uint32) (Commit, error) {
	f, n := g.layer(pos)
	d := f.commits[n*(g.hashLen+16)+g.hashLen:][:16]
	first, second := binary.BigEndian.Uint32(d), binary.BigEndian.Uint32(d[4:])
	high, low := binary.BigEndian.Uint32(d[8:]), binary.BigEndian.Uint32(d[12:])
	c := Commit{Date: int64(high&3)<<32 | int64(low), Generation: uint64(high >> 2), Parents: into}
	if first != noParent {
		c.Parents = append(c.Parents, first)
	}
	switch {
	case second == noParent:
	case second&manyBit == 0:
		c.Parents = append(c.Parents, second)
	default:
		for i := int(second &^ manyBit); ; i++ {
			if 4*i+4 > len(f.edges) {
				return Commit{}, errBroken
			}
			p := binary.BigEndian.Uint32(f.edges[4*i:])
			c.Parents = append(c.Parents, p&parentMax)
			if p&manyBit != 0 {
				break
			}
		}
	}
	for _, p := range c.Parents {
		if p >= g.count {
			return Commit{}, errBroken
		}
	}
	if g.dated {
		offset := uint64(binary.BigEndian.Uint32(f.offsets[4*n:]))
		if offset&manyBit != 0 {
			i := int(offset &^ manyBit)
			if 8*i+8 > len(f.large) {
				return Commit{}, errBroken
			}
			offset = binary.BigEndian.Uint64(f.large[8*i:])
		}
		c.Generation = uint64(c.Date) + offset
	}
	runtime.KeepAlive(f)
	return c, nil
}

// Tree is the raw id of the root tree of the commit at pos.
func (g *Graph) Tree(pos uint32) string {
	f, n := g.layer(pos)
	tree := string(f.commits[n*(g.hashLen+16):][:g.hashLen])
	runtime.KeepAlive(f)
	return tree
}
