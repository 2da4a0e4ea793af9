package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gitfor/gitfor/db"
	"golang.org/x/sys/unix"
)

// Limits from which on the operator should act; see docs/state.md.
const (
	manyRelations = 300_000
	lowInodes     = 50_000
	lowDisk       = 512 << 20
)

// CheckRelations tells how many relations the database has, the unit of what
// scopes cost.
func (s *Service) CheckRelations(ctx context.Context) (string, error) {
	size, err := s.DB.Size(ctx)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%d relations, %d MB", size.Relations, size.Bytes>>20)
	if size.Relations > manyRelations {
		return "", fmt.Errorf("%s: lower the days after which scopes sleep in the settings", text)
	}
	return text, nil
}

// CheckDisk tells how much room is below the data folder.
func (s *Service) CheckDisk(context.Context) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(s.DataDir, &st); err != nil {
		return "", err
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // the types differ between systems
	if free < lowDisk {
		return "", fmt.Errorf("only %d MB are free below %s", free>>20, s.DataDir)
	}
	// Some file systems have no fixed number of files and say 0.
	if st.Files > 0 && st.Ffree < lowInodes {
		return "", fmt.Errorf("only %d files can be made below %s", st.Ffree, s.DataDir)
	}
	return fmt.Sprintf("%s, %d GB free", s.DataDir, free>>30), nil
}

// CheckScopes tells how many scopes are live and asleep.
func (s *Service) CheckScopes(ctx context.Context) (string, error) {
	counts, err := s.DB.ScopeCounts(ctx)
	return fmt.Sprintf("%d live, %d asleep", counts["live"], counts["asleep"]), err
}

// SaveScope writes a scope's export into the folder of backups, before
// something takes its place, and returns the file's name.
func (s *Service) SaveScope(ctx context.Context, scope db.Scope) (string, error) {
	dir := filepath.Join(s.DataDir, "backups", "scopes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := filepath.Join(dir, scope.String()+"-"+time.Now().UTC().Format("20060102T150405.000")+".scope")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = s.DB.Export(ctx, scope, f, nil)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(name)
		if errors.Is(err, db.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return "", db.ErrNotFound
		}
		return "", err
	}
	return name, nil
}
