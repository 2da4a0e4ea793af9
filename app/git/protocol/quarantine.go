package protocol

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// quarantine is a folder for the objects of one push. Nobody else sees them
// before migrate, and remove is all that it takes to forget them.
type quarantine struct {
	dir     string
	release func()
}

// quarantinePrefix begins the names of the folders of pushes.
const quarantinePrefix = "push-"

func newQuarantine(root string) (*quarantine, error) {
	dir, release, err := lockedDir(root, quarantinePrefix)
	if err != nil {
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	q := &quarantine{dir: dir, release: release}
	if err := os.MkdirAll(filepath.Join(q.objects(), "pack"), 0o700); err != nil {
		q.remove()
		return nil, fmt.Errorf("quarantine: %w", err)
	}
	return q, nil
}

// objects is the object folder within.
func (q *quarantine) objects() string { return filepath.Join(q.dir, "objects") }

func (q *quarantine) remove() {
	_ = os.RemoveAll(q.dir)
	q.release()
}

// migrate moves the objects into the object folder to. A pack's index goes last,
// since it is what makes the pack known.
func (q *quarantine) migrate(to string) error {
	list, err := os.ReadDir(q.objects())
	if err != nil {
		return err
	}
	for _, d := range list {
		name := d.Name()
		switch {
		case name == "pack":
			err = q.movePacks(to)
		case len(name) == 2 && d.IsDir():
			err = q.moveLoose(filepath.Join(to, name), name)
		}
		if err != nil {
			return fmt.Errorf("move objects out of quarantine: %w", err)
		}
	}
	return nil
}

func (q *quarantine) movePacks(to string) error {
	from := filepath.Join(q.objects(), "pack")
	list, err := os.ReadDir(from)
	if err != nil || len(list) == 0 {
		return err
	}
	dir := filepath.Join(to, "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, last := range []bool{false, true} {
		for _, d := range list {
			name := d.Name()
			if !strings.HasPrefix(name, "pack-") || strings.HasSuffix(name, ".keep") || strings.HasSuffix(name, ".idx") != last {
				continue
			}
			if err := moveNew(filepath.Join(from, name), filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *quarantine) moveLoose(dir, name string) error {
	from := filepath.Join(q.objects(), name)
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, d := range list {
		if strings.HasPrefix(d.Name(), "tmp_") {
			continue
		}
		if err := moveNew(filepath.Join(from, d.Name()), filepath.Join(dir, d.Name())); err != nil {
			return err
		}
	}
	return nil
}

// moveNew moves a file unless one of its name is there: names are hashes of the
// content, and a file that is in use should keep its place.
func moveNew(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	return os.Rename(from, to)
}
