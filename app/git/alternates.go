package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// SetAlternates makes the repository borrow objects from these objects
// folders (absolute paths); none ends the borrowing. The caller answers for
// what is borrowed being there.
func (r *Repository) SetAlternates(folders []string) error {
	path := filepath.Join(r.Path, "objects", "info", "alternates")
	if len(folders) == 0 {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("alternates of repository %d: %w", r.ID, err)
		}
		return nil
	}
	for _, folder := range folders {
		if !filepath.IsAbs(folder) || strings.ContainsAny(folder, "\n\"") {
			return fmt.Errorf("alternates of repository %d: path %q cannot be one", r.ID, folder)
		}
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, []byte(strings.Join(folders, "\n")+"\n"), 0o666); err != nil {
		return fmt.Errorf("alternates of repository %d: %w", r.ID, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("alternates of repository %d: %w", r.ID, err)
	}
	return nil
}
