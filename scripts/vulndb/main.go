// Command vulndb lays out a folder of OSV files as the database that
// govulncheck -db reads (https://go.dev/doc/security/vuln/database#api), so
// that the check needs no service but the Go module proxy.
//
//	go run ./scripts/vulndb OSV-FOLDER DATABASE-FOLDER
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is what the index needs of an OSV file.
type entry struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Aliases  []string  `json:"aliases"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
		Ranges []struct {
			Events []struct {
				Fixed string `json:"fixed"`
			} `json:"events"`
		} `json:"ranges"`
	} `json:"affected"`
}

type moduleVuln struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Fixed    string    `json:"fixed,omitempty"`
}

type module struct {
	Path  string       `json:"path"`
	Vulns []moduleVuln `json:"vulns"`
}

type vuln struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Aliases  []string  `json:"aliases,omitempty"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: vulndb OSV-FOLDER DATABASE-FOLDER")
		os.Exit(2)
	}
	n, err := convert(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulndb:", err)
		os.Exit(1)
	}
	fmt.Printf("%d advisories\n", n)
}

func convert(from, to string) (int, error) {
	files, err := filepath.Glob(filepath.Join(from, "*.json"))
	if err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, fmt.Errorf("no advisories in %q", from)
	}
	for _, dir := range []string{"ID", "index"} {
		if err := os.MkdirAll(filepath.Join(to, dir), 0o755); err != nil {
			return 0, err
		}
	}
	modules := map[string]*module{}
	vulns := make([]vuln, 0, len(files))
	var newest time.Time
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		var e entry
		if err := json.Unmarshal(b, &e); err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(filepath.Join(to, "ID", e.ID+".json"), b, 0o644); err != nil {
			return 0, err
		}
		vulns = append(vulns, vuln{e.ID, e.Modified, e.Aliases})
		if e.Modified.After(newest) {
			newest = e.Modified
		}
		index(modules, e)
	}
	return len(files), writeIndex(filepath.Join(to, "index"), modules, vulns, newest)
}

func index(modules map[string]*module, e entry) {
	for _, a := range e.Affected {
		m := modules[a.Package.Name]
		if m == nil {
			m = &module{Path: a.Package.Name}
			modules[a.Package.Name] = m
		}
		fixed := ""
		for _, r := range a.Ranges {
			for _, event := range r.Events {
				if event.Fixed != "" {
					fixed = event.Fixed
				}
			}
		}
		m.Vulns = append(m.Vulns, moduleVuln{e.ID, e.Modified, fixed})
	}
}

func writeIndex(dir string, modules map[string]*module, vulns []vuln, newest time.Time) error {
	list := make([]*module, 0, len(modules))
	for _, m := range modules {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *module) int { return strings.Compare(a.Path, b.Path) })
	for name, v := range map[string]any{
		"db.json": struct {
			Modified time.Time `json:"modified"`
		}{newest}, "modules.json": list, "vulns.json": vulns,
	} {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
