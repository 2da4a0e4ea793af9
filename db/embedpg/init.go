package embedpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// initCluster makes the cluster beside its place and moves it there whole, so
// that a start that was killed leaves no half of one.
func initCluster(ctx context.Context, bin string, cfg Config) error {
	tmp := cfg.Dir + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return err
	}
	major, err := majorOf(ctx, bin)
	if err != nil {
		return err
	}
	args := []string{"-D", tmp, "-U", User, "-E", "UTF8", "-A", "trust", "--no-instructions"}
	if cfg.Fast {
		args = append(args, "--no-sync")
	}
	// The C locale alone knows no letters beyond ASCII, so searches would
	// find nothing in other languages.
	if major >= 17 {
		args = append(args, "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C")
	} else {
		args = append(args, "--locale=C", "--lc-ctype=C.UTF-8")
	}
	var out []byte
	for _, attr := range attributes() {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), args...)
		// The signal at the parent's death is for the server only: it would
		// follow the thread that this runs on by chance.
		plain := *attr
		clearDeathSignal(&plain)
		cmd.SysProcAttr, cmd.Env = &plain, environment()
		if attr.Credential != nil {
			if err := os.Chown(tmp, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
				return err
			}
		}
		if out, err = cmd.CombinedOutput(); err == nil {
			return os.Rename(tmp, cfg.Dir)
		}
	}
	_ = os.RemoveAll(tmp)
	return fmt.Errorf("make the database cluster: %w: %s", err, lastLine(string(out)))
}
