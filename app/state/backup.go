package state

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/klauspost/compress/zstd"
)

// A backup is a zstd-compressed tar (POSIX pax) with these entries, in order:
//
//	manifest.json        format, version, time, the folder it was made from
//	stores               the global stores at one moment: a parcel, see db
//	scopes/<state>/<scope>, git/…   each scope, followed by its repository
//	files/…              what else is in the data folder: blobs, host keys
//	secret.key or secret.key.sealed
//	sequences.json       last, so that no id that is in here is given again
//	end.json             how many entries there are: the backup is whole
//
// The directory is the oldest part, and each repository's git data is as new
// as its rows or newer, so that no row points to what is not there.
const (
	backupFormat  = 1
	manifestName  = "manifest.json"
	storesName    = "stores"
	scopesFolder  = "scopes"
	gitFolder     = "git"
	poolsFolder   = "pools/" // below gitFolder
	filesFolder   = "files"
	keyName       = "secret.key"
	sealedKeyName = "secret.key.sealed"
	sequencesName = "sequences.json"
	endName       = "end.json"
)

// notInBackup are the folders and files at the top of the data folder that
// are not copied: made anew, kept elsewhere in the backup, or of this machine.
func notInBackup(name string) bool {
	switch name {
	case "postgres", "postgres-bin", "git", "nodes", "run", "mail", "transport", "tmp", "backups", keyName, "gitfor.lock", ".writable":
		return true
	}
	return false
}

// unfinishedBlobs is the folder of uploads that are not complete.
const unfinishedBlobs = "blobs/tmp"

// Manifest is what a backup says of itself.
type Manifest struct {
	Format  int       `json:"format"`
	Version string    `json:"version"`
	Time    time.Time `json:"time"`
	DataDir string    `json:"data_dir"`
}

type endEntry struct {
	Entries int `json:"entries"`
}

// BackupInfo is what a backup holds.
type BackupInfo struct {
	Scopes       int
	Repositories int
	Bytes        int64
}

// backup is one that is being made.
type backup struct {
	s       *Service
	tar     *tar.Writer
	staging string
	entries int
	info    BackupInfo
	git     map[int64]bool // those that are in already
}

// Backup writes the whole instance into one file, while it runs. Every push
// that was acknowledged before is in it. Where passphrase is set the key that
// seals secrets is in it under the passphrase, and else as it is.
func (s *Service) Backup(ctx context.Context, file, passphrase string) (*BackupInfo, error) {
	out, err := os.OpenFile(file+".part", os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	defer os.Remove(file + ".part") //nolint:errcheck // it is renamed when all went well
	defer out.Close()               //nolint:errcheck // closed before
	if err := os.MkdirAll(filepath.Join(s.DataDir, "tmp"), 0o700); err != nil {
		return nil, err
	}
	b := &backup{s: s, git: map[int64]bool{}}
	// Beside the repositories, for hard links.
	if b.staging, err = os.MkdirTemp(filepath.Join(s.DataDir, "tmp"), "backup-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.staging) //nolint:errcheck // a leftover is only links
	z, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	b.tar = tar.NewWriter(z)
	if err := b.write(ctx, passphrase); err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	if err := errors.Join(b.tar.Close(), z.Close(), out.Sync()); err != nil {
		return nil, err
	}
	if info, err := out.Stat(); err == nil {
		b.info.Bytes = info.Size()
	}
	return &b.info, errors.Join(out.Close(), os.Rename(file+".part", file))
}

func (b *backup) write(ctx context.Context, passphrase string) error {
	err := b.json(manifestName, Manifest{backupFormat, b.s.Version, time.Now().UTC(), b.s.DataDir})
	if err != nil {
		return err
	}
	err = b.spooled(storesName, func(w io.Writer) (string, error) { return storesName, b.s.DB.ExportStores(ctx, w) })
	if err != nil {
		return err
	}
	if err := b.scopes(ctx); err != nil {
		return err
	}
	if err := b.otherRepositories(ctx); err != nil {
		return err
	}
	if err := b.pools(ctx); err != nil {
		return err
	}
	if err := b.files(ctx); err != nil {
		return err
	}
	if err := b.key(passphrase); err != nil {
		return err
	}
	last, err := b.s.DB.Sequences(ctx)
	if err != nil {
		return err
	}
	if err := b.json(sequencesName, last); err != nil {
		return err
	}
	return b.json(endName, endEntry{b.entries})
}

func (b *backup) json(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return b.bytes(name, append(data, '\n'))
}

func (b *backup) bytes(name string, data []byte) error {
	if err := b.header(name, int64(len(data))); err != nil {
		return err
	}
	_, err := b.tar.Write(data)
	return err
}

func (b *backup) header(name string, size int64) error {
	b.entries++
	return b.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600,
		ModTime: time.Now().Truncate(time.Second), Format: tar.FormatPAX})
}

// spooled writes an entry whose size is not known before; write returns its
// name, or "" for no entry.
func (b *backup) spooled(temp string, write func(w io.Writer) (string, error)) error {
	f, err := os.CreateTemp(b.staging, filepath.Base(temp)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // the folder goes too
	defer f.Close()           //nolint:errcheck // read only from here
	name, err := write(f)
	if err != nil || name == "" {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := b.header(name, size); err != nil {
		return err
	}
	_, err = io.Copy(b.tar, f)
	return err
}

// scopes writes each scope in a short transaction of its own, and the git data
// of a repository as it is at the end of that transaction.
func (b *backup) scopes(ctx context.Context) error {
	const page = 500
	after := ""
	for {
		scopes, err := b.s.DB.ScopeNames(ctx, after, page)
		if err != nil {
			return err
		}
		for _, scope := range scopes {
			after = scope.String()
			if err := b.scope(ctx, scope); err != nil {
				return fmt.Errorf("%s: %w", scope, err)
			}
		}
		if len(scopes) < page {
			return nil
		}
	}
}

func (b *backup) scope(ctx context.Context, scope db.Scope) error {
	staged := filepath.Join(b.staging, "git")
	defer os.RemoveAll(staged) //nolint:errcheck // the folder goes too
	hasGit := scope.Kind() == db.RepoKind && b.s.Git.Exists(scope.ID())
	err := b.spooled(scope.String(), func(w io.Writer) (string, error) {
		state, err := b.s.DB.Export(ctx, scope, w, func(ctx context.Context) error {
			if !hasGit {
				return nil
			}
			if err := os.RemoveAll(staged); err != nil {
				return err
			}
			return b.s.Git.Snapshot(ctx, scope.ID(), staged)
		})
		if errors.Is(err, db.ErrNotFound) {
			hasGit = false
			return "", nil // deleted for good meanwhile
		}
		b.info.Scopes++
		return path.Join(scopesFolder, state, scope.String()), err
	})
	if err != nil || !hasGit {
		return err
	}
	return b.repository(scope.ID(), staged)
}

// otherRepositories adds those that have no scope: made, and never pushed to
// by anybody.
func (b *backup) otherRepositories(ctx context.Context) error {
	ids, err := b.s.Git.IDs(ctx)
	if err != nil {
		return err
	}
	staged := filepath.Join(b.staging, "git")
	for _, id := range ids {
		if b.git[id] {
			continue
		}
		err := b.s.Git.Snapshot(ctx, id, staged)
		if err != nil && b.s.Git.Exists(id) {
			return err
		}
		if err == nil {
			err = b.repository(id, staged)
		} else {
			err = nil // deleted meanwhile
		}
		if err := errors.Join(err, os.RemoveAll(staged)); err != nil {
			return err
		}
	}
	return nil
}

// pools adds what forks borrow, after the forks: pools only grow.
func (b *backup) pools(ctx context.Context) error {
	ids, err := b.s.Pools.IDs(ctx)
	if err != nil {
		return err
	}
	staged := filepath.Join(b.staging, "git")
	for _, id := range ids {
		if err := b.s.Pools.Snapshot(ctx, id, staged); err != nil {
			if !b.s.Pools.Exists(id) {
				continue // deleted meanwhile, with its last fork
			}
			return err
		}
		rel, err := filepath.Rel(b.s.Git.Root(), b.s.Pools.Path(id))
		if err != nil {
			return err
		}
		err = b.folder(path.Join(gitFolder, filepath.ToSlash(rel)), staged, nil)
		if err := errors.Join(err, os.RemoveAll(staged)); err != nil {
			return err
		}
	}
	return nil
}

func (b *backup) repository(id int64, staged string) error {
	b.git[id] = true
	b.info.Repositories++
	rel, err := filepath.Rel(b.s.Git.Root(), b.s.Git.Path(id))
	if err != nil {
		return err
	}
	return b.folder(path.Join(gitFolder, filepath.ToSlash(rel)), staged, nil)
}

// folder adds the files below dir; folders without files are added too, for
// git wants them.
func (b *backup) folder(name, dir string, skip func(rel string) bool) error {
	return filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file that is gone
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if skip != nil && skip(rel) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		entry := path.Join(name, filepath.ToSlash(rel))
		if e.IsDir() {
			b.entries++
			return b.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: entry + "/", Mode: 0o750, Format: tar.FormatPAX})
		}
		if !e.Type().IsRegular() {
			return nil
		}
		return b.file(entry, p)
	})
}

func (b *backup) file(name, p string) error {
	f, err := os.Open(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := b.header(name, info.Size()); err != nil {
		return err
	}
	// A file that grows is cut, one that shrinks is an error.
	_, err = io.CopyN(b.tar, f, info.Size())
	return err
}

// files adds what else is in the data folder. Blobs are written before the row
// that names them and deleted long after it, so a later copy has them all.
func (b *backup) files(context.Context) error {
	key, err := filepath.Abs(b.s.SecretKeyFile)
	if err != nil {
		return err
	}
	err = b.folder(filesFolder, b.s.DataDir, func(rel string) bool {
		first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		p := filepath.Join(b.s.DataDir, rel)
		return notInBackup(first) || filepath.ToSlash(rel) == unfinishedBlobs || p == key || slices.Contains([]string{".part", ".tar.zst"}, filepath.Ext(p)) || strings.HasSuffix(p, ".tar.zst")
	})
	if err != nil {
		return err
	}
	hostKeys := filepath.Join(b.s.DataDir, "transport", "ssh")
	if _, err := os.Stat(hostKeys); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return b.folder(path.Join(filesFolder, "transport", "ssh"), hostKeys, nil)
}

func (b *backup) key(passphrase string) error {
	data, err := os.ReadFile(b.s.SecretKeyFile)
	if err != nil {
		return err
	}
	if passphrase == "" {
		return b.bytes(keyName, data)
	}
	sealed, err := sealKey(passphrase, data)
	if err != nil {
		return err
	}
	return b.bytes(sealedKeyName, sealed)
}
