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
	"strings"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/klauspost/compress/zstd"
)

// ErrHasData says that a restore would write over what is there.
var ErrHasData = errors.New("there is data already: restore into an empty folder and an empty database")

// Marker is the name of the file in a data folder that says that a restore
// into it has not ended.
const Marker = "restore.unfinished"

// RestoreDeps are what a restore needs.
type RestoreDeps struct {
	// DB is an empty database: nothing was migrated.
	DB *db.DB
	// DataDir is the folder to fill.
	DataDir string
	// SecretKeyFile is where the key goes.
	SecretKeyFile string
	Passphrase    string
}

// CheckEmpty is ErrHasData when the data folder holds anything.
func CheckEmpty(dataDir string) error {
	entries, err := os.ReadDir(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "gitfor.lock" {
			return fmt.Errorf("%s: %w", dataDir, ErrHasData)
		}
	}
	return nil
}

type restore struct {
	RestoreDeps
	root     *os.Root
	manifest *Manifest
	stores   bool
	ended    bool
	wake     []db.Scope
	info     BackupInfo
}

// Restore fills an empty database and data folder from a backup. Nothing is
// run: no job, no mail, no hook. After an error what was written is of no use.
func Restore(ctx context.Context, deps RestoreDeps, in io.Reader) (*BackupInfo, error) {
	if empty, err := deps.DB.Empty(ctx); err != nil {
		return nil, err
	} else if !empty {
		return nil, fmt.Errorf("the database: %w", ErrHasData)
	}
	root, err := os.OpenRoot(deps.DataDir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is buffered
	r := &restore{RestoreDeps: deps, root: root}
	if err := r.run(ctx, in); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return &r.info, nil
}

func (r *restore) run(ctx context.Context, in io.Reader) error {
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	files, entries := tar.NewReader(z), 0
	for {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if r.ended {
			return errors.New("something follows the end of the backup")
		}
		if err := r.entry(ctx, head, files, entries); err != nil {
			return fmt.Errorf("%s: %w", head.Name, err)
		}
		entries++
	}
	if !r.ended {
		return errors.New("the backup is cut off")
	}
	// Those that were awake wake now, and not under the first visitors.
	for _, scope := range r.wake {
		if err := r.DB.Wake(ctx, scope); err != nil {
			return err
		}
	}
	return r.moveAlternates()
}

func (r *restore) entry(ctx context.Context, head *tar.Header, in io.Reader, before int) error {
	first, rest, _ := strings.Cut(strings.TrimSuffix(head.Name, "/"), "/")
	if r.manifest == nil && first != manifestName || !r.stores && first != manifestName && first != storesName {
		return errors.New("this is no backup of gitfor")
	}
	switch first {
	case manifestName:
		r.manifest = new(Manifest)
		if err := json.NewDecoder(in).Decode(r.manifest); err != nil {
			return err
		}
		if r.manifest.Format != backupFormat {
			return fmt.Errorf("it has format %d: use a newer gitfor", r.manifest.Format)
		}
		return nil
	case storesName:
		r.stores = true
		if err := r.DB.ImportStores(ctx, in); err != nil {
			return err
		}
		return r.DB.Migrate(ctx)
	case scopesFolder:
		return r.scope(ctx, rest, in)
	case gitFolder:
		if path.Base(head.Name) == "HEAD" && !strings.HasPrefix(rest, poolsFolder) && strings.HasSuffix(path.Dir(head.Name), ".git") {
			r.info.Repositories++
		}
		return r.file(head, path.Join(gitFolder, rest), in)
	case filesFolder:
		if rest == "" {
			return nil
		}
		return r.file(head, rest, in)
	case keyName, sealedKeyName:
		return r.key(first == sealedKeyName, in)
	case sequencesName:
		last := map[string]int64{}
		if err := json.NewDecoder(in).Decode(&last); err != nil {
			return err
		}
		return r.DB.SetSequences(ctx, last)
	case endName:
		var end endEntry
		if err := json.NewDecoder(in).Decode(&end); err != nil {
			return err
		}
		if end.Entries != before {
			return fmt.Errorf("%d entries, should be %d", before, end.Entries)
		}
		r.ended = true
		return nil
	}
	return errors.New("unknown entry: use a newer gitfor")
}

// scope keeps a scope as a sleeping one. One that the directory does not know
// was made while the backup was.
func (r *restore) scope(ctx context.Context, name string, in io.Reader) error {
	state, schema, _ := strings.Cut(name, "/")
	scope, err := db.ParseScope(schema)
	if err != nil {
		return err
	}
	if scope.Kind() == db.RepoKind {
		_, err = repodb.ByIDAny(ctx, r.DB.Directory(), scope.ID())
	} else {
		_, err = accountdb.ByID(ctx, r.DB.Directory(), scope.ID())
	}
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r.info.Scopes++
	if state == "live" {
		r.wake = append(r.wake, scope)
	}
	return r.DB.ImportAsleep(ctx, scope, in)
}

func (r *restore) file(head *tar.Header, name string, in io.Reader) error {
	if head.Typeflag == tar.TypeDir {
		return r.root.MkdirAll(name, 0o750)
	}
	if err := r.root.MkdirAll(path.Dir(name), 0o750); err != nil {
		return err
	}
	mode := fs.FileMode(0o640)
	if strings.HasPrefix(name, "transport/ssh/") {
		mode = 0o600
	}
	f, err := r.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	return errors.Join(err, f.Close())
}

func (r *restore) key(sealed bool, in io.Reader) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if sealed {
		if data, err = openKey(r.Passphrase, data); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(r.SecretKeyFile, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// moveAlternates makes repositories that borrow objects look where the lender
// is now: git writes down whole paths.
func (r *restore) moveAlternates() error {
	from, to := filepath.Join(r.manifest.DataDir, gitFolder)+"/", filepath.Join(r.DataDir, gitFolder)+"/"
	if from == to {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(r.DataDir, gitFolder, "*", "*.git", "objects", "info", "alternates"))
	if err != nil {
		return err
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		lines := strings.Split(string(b), "\n")
		for i, line := range lines {
			if rest, ok := strings.CutPrefix(line, from); ok {
				lines[i] = to + rest
			}
		}
		if err := os.WriteFile(p, []byte(strings.Join(lines, "\n")), 0o640); err != nil {
			return err
		}
	}
	return nil
}
