package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/state"
	"github.com/gitfor/gitfor/db"
	"github.com/spf13/cobra"
)

const passphraseFlag = "passphrase-file"

// passphrase is what seals the secret key in a backup: from a file, or from
// the environment; never an argument, which everybody on the machine sees.
func passphrase(file string) (string, error) {
	if file == "" {
		return os.Getenv("GITFOR_BACKUP_PASSPHRASE"), nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", usageError{fmt.Errorf("--%s: %w", passphraseFlag, err)}
	}
	return strings.TrimSpace(string(b)), nil
}

func backupCommand(c *config) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write database and git data into one file, consistent with each other", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			secret, err := passphrase(file)
			if err != nil {
				return err
			}
			return withApp(cmd.Context(), c, func(ctx context.Context, a *app.App) error {
				info, err := a.State.Backup(ctx, args[0], secret)
				if err != nil {
					return err
				}
				fmt.Printf("backed up %d repositories and the state of %d accounts and repositories into %s (%d bytes)\n",
					info.Repositories, info.Scopes, args[0], info.Bytes)
				if secret == "" {
					fmt.Println("The file holds the secret key as it is; keep it as safe as a password, or give --" + passphraseFlag + ".")
				}
				return nil
			})
		},
	}
	bindPassphrase(cmd, &file)
	return cmd
}

func bindPassphrase(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, passphraseFlag, "", "file with the passphrase that seals the secret key; default: the variable GITFOR_BACKUP_PASSPHRASE")
}

func restoreCommand(c *config) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Fill an empty data folder and database from a backup", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			secret, err := passphrase(file)
			if err != nil {
				return err
			}
			return restoreFrom(cmd.Context(), c, args[0], secret)
		},
	}
	bindPassphrase(cmd, &file)
	return cmd
}

func restoreFrom(ctx context.Context, c *config, file, secret string) (err error) {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	if err := state.CheckEmpty(c.data); err != nil {
		return err
	}
	key := c.secretKeyFile
	if key == "" {
		key = filepath.Join(c.data, "secret.key")
	}
	if _, err := os.Stat(key); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", key, state.ErrHasData)
	}
	c.restoring = true
	if err := os.MkdirAll(c.data, 0o750); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	base, err := openDatabase(ctx, c, log, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, base.close()) }()
	marker := filepath.Join(c.data, state.Marker)
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		return err
	}
	d, err := db.Open(ctx, base.url, db.Options{MaxConns: 3, Logger: log})
	if err != nil {
		return err
	}
	defer d.Close()
	info, err := state.Restore(ctx, state.RestoreDeps{DB: d, DataDir: c.data, SecretKeyFile: key, Passphrase: secret}, in)
	if err != nil {
		if errors.Is(err, state.ErrHasData) { // nothing was written yet
			err = errors.Join(err, os.Remove(marker))
		}
		return err
	}
	fmt.Printf("restored %d repositories and the state of %d accounts and repositories\n", info.Repositories, info.Scopes)
	return os.Remove(marker)
}
