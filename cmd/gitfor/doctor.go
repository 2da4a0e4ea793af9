package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/gitfor/gitfor/app"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// oldestGit is the oldest git that works: 2.38 brought merge-tree --write-tree.
const oldestGitMajor, oldestGitMinor = 2, 38

func doctorCommand(c *config) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check set-up, storage and database", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			faults := 0
			report := func(what string, detail string, err error) {
				if err != nil {
					faults++
					fmt.Printf("FAULT  %-10s %v\n", what, err)
					return
				}
				fmt.Printf("ok     %-10s %s\n", what, detail)
			}
			detail, err := checkGit(cmd.Context())
			report("git", detail, err)
			detail, err = checkStorage(c.data)
			report("storage", detail, err)
			err = withApp(cmd.Context(), c, func(ctx context.Context, a *app.App) error {
				checkApp(ctx, c, a, report)
				return nil
			})
			if err != nil {
				report("database", "", err)
			}
			if faults > 0 {
				return fmt.Errorf("%d faults found, listed above", faults)
			}
			return nil
		},
	}
}

func checkApp(ctx context.Context, c *config, a *app.App, report func(string, string, error)) {
	version, err := a.DB.ServerVersion(ctx)
	report("database", "Postgres "+version, err)
	ok, err := a.DB.Migrated(ctx)
	if err == nil && !ok {
		err = errors.New("migrations are missing: start gitfor serve once")
	}
	report("migrations", "applied", err)
	key := c.secretKeyFile
	if key == "" {
		key = filepath.Join(c.data, "secret.key")
	}
	info, err := os.Stat(key)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s can be read by other users: chmod 600 it", key)
	}
	report("secret key", key, err)
	for _, check := range a.Checks() {
		detail, err := check.Run(ctx)
		report(check.Name, detail, err)
	}
}

var gitVersion = regexp.MustCompile(`(\d+)\.(\d+)`)

func checkGit(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		return "", fmt.Errorf("git cannot be run: %w: install git 2.38 or newer", err)
	}
	m := gitVersion.FindStringSubmatch(string(out))
	if m == nil {
		return "", fmt.Errorf("git version said %q", out)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < oldestGitMajor || major == oldestGitMajor && minor < oldestGitMinor {
		return "", fmt.Errorf("git %s is too old: gitfor needs %d.%d or newer", m[0], oldestGitMajor, oldestGitMinor)
	}
	return "git " + m[0], nil
}

// lowDisk is the free space, in bytes, below which storage is at fault.
const lowDisk = 512 << 20

func checkStorage(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	probe, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return "", fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	defer os.Remove(probe.Name()) //nolint:errcheck // a leftover is only untidy
	if _, err = probe.WriteString("x"); err == nil {
		err = probe.Sync()
	}
	if err = errors.Join(err, probe.Close()); err != nil {
		return "", fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", err
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // the types differ between systems
	if free < lowDisk {
		return "", fmt.Errorf("only %d MB are free below %s", free>>20, dir)
	}
	return fmt.Sprintf("%s, %d GB free", dir, free>>30), nil
}
