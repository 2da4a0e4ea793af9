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
	major, err := majorOf(ctx, bin)
	if err != nil {
		return err
	}
	tmp := cfg.Dir + ".new"
	args := append([]string{"-D", tmp}, initArgs(major, cfg.Fast)...)
	var tries failures
	for _, way := range ways(cfg) {
		// A way that failed may have left files.
		if err := os.RemoveAll(tmp); err != nil {
			return err
		}
		if err := os.Mkdir(tmp, 0o700); err != nil {
			return err
		}
		if err := way.give(tmp); err != nil {
			tries = append(tries, err)
			continue
		}
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), args...)
		cmd.Env, cmd.Dir, cmd.SysProcAttr = environment(), "/", way.attr()
		out, err := cmd.CombinedOutput()
		if err == nil {
			return os.Rename(tmp, cfg.Dir)
		}
		tries = append(tries, fmt.Errorf("%w %s", err, lastLine(string(out))))
	}
	_ = os.RemoveAll(tmp)
	return fmt.Errorf("make the database cluster: %w", tries.err())
}

func initArgs(major int, fast bool) []string {
	// Whoever can enter the socket's folder is gitfor's own user: trust.
	args := []string{"-U", User, "-E", "UTF8", "-A", "trust", "--no-instructions"}
	if fast {
		args = append(args, "--no-sync")
	}
	// The C locale alone knows no letters beyond ASCII, so searches would
	// find nothing in other languages.
	if major >= 17 {
		return append(args, "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C")
	}
	return append(args, "--locale=C", "--lc-ctype=C.UTF-8")
}
