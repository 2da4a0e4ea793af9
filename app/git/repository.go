package git

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gitfor/gitfor/app/git/odb"
)

// Repository is an open repository. It is cheap, safe for concurrent use, and
// needs no closing; open it anew for each request, which takes up changes.
type Repository struct {
	ID int64
	// Path is the absolute path of the bare repository.
	Path string

	store      *Store
	shared     *shared
	objects    *odb.Database
	answers    *answers
	quarantine string
	borrowed   []string // further objects folders that are read
}

// shared is what the users of one repository share and the store keeps.
type shared struct {
	id      int64
	path    string
	info    os.FileInfo // tells a repository from a later one of the same path
	format  ObjectFormat
	objects *odb.Database
	refs    *refCache
	graphs  graphCache
	answers *answers

	maintaining sync.Mutex
}

func newShared(id int64, path string, info os.FileInfo, cache *odb.Cache) (*shared, error) {
	format, err := readFormat(filepath.Join(path, "config"))
	if err != nil {
		return nil, err
	}
	objects, err := odb.Open(filepath.Join(path, "objects"), format.rawLen(), cache)
	if err != nil {
		return nil, err
	}
	answers, err := newAnswers()
	if err != nil {
		return nil, err
	}
	return &shared{id: id, path: path, info: info, format: format, objects: objects,
		refs: newRefCache(path), answers: answers}, nil
}

func (f ObjectFormat) rawLen() int {
	if f == SHA256 {
		return sha256Hex / 2
	}
	return sha1Hex / 2
}

// readFormat finds the object format in a repository's config file. Only what
// git itself writes needs to be understood: one section header or key a line.
func readFormat(path string) (ObjectFormat, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	section := ""
	format := SHA1
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.ToLower(strings.TrimSpace(lines.Text()))
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section != "extensions" {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.TrimSpace(key) {
		case "objectformat":
			if value != string(SHA1) && value != string(SHA256) {
				return "", fmt.Errorf("object format %q is not known", value)
			}
			format = ObjectFormat(value)
		case "refstorage":
			if value != "files" {
				return "", fmt.Errorf("ref storage %q is not known", value)
			}
		}
	}
	return format, lines.Err()
}

// Format is the hash that ids are made with.
func (r *Repository) Format() ObjectFormat { return r.shared.format }

// ZeroOID is the id that means "no object" in this repository's format.
func (r *Repository) ZeroOID() OID { return ZeroOID(2 * r.shared.format.rawLen()) }

// EmptyTree is the id of the tree without entries in this repository's format.
func (r *Repository) EmptyTree() OID {
	if r.shared.format == SHA256 {
		return emptyTree256
	}
	return EmptyTree
}

// Quarantined is this repository with dir as the place where objects are
// written, and read first: what a push brings before it is accepted.
func (r *Repository) Quarantined(dir string) (*Repository, error) {
	objects, err := odb.Open(dir, r.shared.format.rawLen(), r.store.cache, filepath.Join(r.Path, "objects"))
	if err != nil {
		return nil, fmt.Errorf("quarantine of repository %d: %w", r.ID, err)
	}
	q := *r
	q.objects, q.quarantine = objects, dir
	// What is found in a push that may be refused is no answer for others.
	if q.answers, err = newAnswers(); err != nil {
		return nil, err
	}
	return &q, nil
}
