package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What took long to find about a folder is kept beside the repository's objects,
// so that neither a restart nor a full memory begins at the first commit again:
// the next search ends where the kept answer begins. One file for each folder
// holds the newest answer:
//
//	last 1\n<commit>\n, then for each entry <commit> <name>\0

const (
	// keptFrom is from how long a search on is worth a file.
	keptFrom = 25 * time.Millisecond
	keptDir  = "last-commits"
	keptHead = "last 1\n"
	// maxKept bounds a file in bytes, and maxKeptFolders how many there are.
	maxKept        = 4 << 20
	maxKeptFolders = 2000
)

// keeps says whether answers of this view of the repository hold for all.
func (r *Repository) keeps() bool { return r.quarantine == "" && len(r.borrowed) == 0 }

func (r *Repository) keptPath(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(r.Path, keptDir, hex.EncodeToString(sum[:16]))
}

// loadLast takes up the answer that is kept of a folder, if there is one. What
// cannot be read is as good as none.
func (r *Repository) loadLast(dir string) (OID, bool) {
	if !r.keeps() {
		return "", false
	}
	data, err := os.ReadFile(r.keptPath(dir))
	if err != nil {
		return "", false
	}
	text, ok := strings.CutPrefix(string(data), keptHead)
	commit, list, ok2 := strings.Cut(text, "\n")
	rev, ok3 := ParseOID(commit)
	if !ok || !ok2 || !ok3 || len(rev) != 2*r.shared.format.rawLen() {
		return "", false
	}
	if has, err := r.objects.Has(rev.raw()); err != nil || !has {
		return "", false
	}
	found := map[string]OID{}
	for entry := range strings.SplitSeq(list, "\x00") {
		if entry == "" {
			continue
		}
		id, name, ok := strings.Cut(entry, " ")
		oid, ok2 := ParseOID(id)
		if !ok || !ok2 {
			return "", false
		}
		found[name] = oid
	}
	r.answers.lasts.Add(lastKey{rev, dir}, found)
	return rev, true
}

// keepLast writes an answer down, unless the kept one is of a commit that does
// not lead to this one: then it may be that of a branch that is seen more often.
func (r *Repository) keepLast(ctx context.Context, rev OID, dir string, found map[string]OID, kept OID) error {
	if !r.keeps() {
		return nil
	}
	if kept != "" {
		if in, err := r.IsAncestor(ctx, kept, rev); err != nil || !in {
			return err
		}
	}
	var b strings.Builder
	b.WriteString(keptHead + string(rev) + "\n")
	for name, oid := range found {
		b.WriteString(string(oid) + " " + name + "\x00")
	}
	if b.Len() > maxKept {
		return nil
	}
	folder := filepath.Join(r.Path, keptDir)
	if list, err := os.ReadDir(folder); err == nil && len(list) > maxKeptFolders {
		// Rare enough that all may be found anew.
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(folder, "tmp-")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(b.String())
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), r.keptPath(dir))
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the repository goes away meanwhile
		}
		return fmt.Errorf("keep last commits: %w", err)
	}
	return nil
}
