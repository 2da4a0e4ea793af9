package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ObjectFormat is the hash that a repository's ids are made with.
type ObjectFormat string

// The formats that git knows.
const (
	SHA1   ObjectFormat = "sha1"
	SHA256 ObjectFormat = "sha256"
)

// Init makes repository id, empty, with HEAD on defaultBranch (short name). It
// appears all at once. One that exists already is left alone and is no error.
func (s *Store) Init(ctx context.Context, id int64, defaultBranch string) (*Repository, error) {
	return s.InitFormat(ctx, id, defaultBranch, SHA1)
}

// InitFormat is Init with a choice of the object format.
func (s *Store) InitFormat(ctx context.Context, id int64, defaultBranch string, format ObjectFormat) (*Repository, error) {
	if s.Exists(id) {
		return s.Open(ctx, id)
	}
	if !ValidRefName("refs/heads/" + defaultBranch) {
		return nil, fmt.Errorf("init repository %d: branch name %q is not valid", id, defaultBranch)
	}
	if format != SHA1 && format != SHA256 {
		return nil, fmt.Errorf("init repository %d: object format %q is not known", id, format)
	}
	if err := s.initAt(ctx, s.Path(id), defaultBranch, format); err != nil {
		return nil, fmt.Errorf("init repository %d: %w", id, err)
	}
	return s.Open(ctx, id)
}

func (s *Store) initAt(ctx context.Context, path, branch string, format ObjectFormat) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(s.root, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	made := filepath.Join(tmp, "git")
	// The files of an empty bare repository (gitrepository-layout(5)) are few,
	// and writing them is a hundred times quicker than starting git.
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(made, dir), 0o777); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(made, "HEAD"), []byte("ref: refs/heads/"+branch+"\n"), 0o666); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(made, "config"), []byte(initialConfig(format)), 0o666); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err = os.Rename(made, path)
	if errors.Is(err, fs.ErrExist) {
		return nil // made by someone else meanwhile
	}
	return err
}

func initialConfig(format ObjectFormat) string {
	const common = "\tfilemode = true\n\tbare = true\n[gc]\n\tauto = 0\n"
	if format == SHA256 {
		return "[core]\n\trepositoryformatversion = 1\n" + common + "[extensions]\n\tobjectformat = sha256\n"
	}
	return "[core]\n\trepositoryformatversion = 0\n" + common
}
