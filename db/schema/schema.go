// Package schema holds the SQL of every store.
//
// A store (directory, cell, events, advisories) and a domain of a scope
// (account/signin, repo/issues, …) are each a folder of numbered files.
// The version of a store or domain is the number of files applied.
// Domains name their tables ?scope.<table>; the placeholder becomes the
// scope's own schema.
package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"
)

//go:embed directory cell events advisories account repo
var files embed.FS

// Stores lists the global stores in the order in which they are migrated.
var Stores = []string{"cell", "directory", "events", "advisories"}

// Files returns the SQL of a store ("directory") or of a domain
// ("repo/issues"), in order; nil when there is no such folder.
func Files(folder string) ([]string, error) { return FilesOf(files, folder) }

// FilesOf is Files over another file system, for tests that add a domain.
func FilesOf(fsys fs.FS, folder string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, folder)
	if err != nil {
		return nil, fmt.Errorf("schema %q: %w", folder, err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".sql") {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	out := make([]string, len(names))
	for i, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return nil, fmt.Errorf("schema %q: %q should be number %04d", folder, name, i+1)
		}
		b, err := fs.ReadFile(fsys, path.Join(folder, name))
		if err != nil {
			return nil, err
		}
		out[i] = string(b)
	}
	return out, nil
}

// FS is the embedded tree, with the folders account and repo holding one
// folder per domain.
func FS() fs.FS { return files }
