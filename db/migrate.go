package db

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/gitfor/gitfor/db/schema"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// migrateLock is the advisory lock under which stores are migrated.
const migrateLock = 0x67697466

// Migrate brings the global stores and River's tables to the newest version.
// Scopes are migrated at their next write instead. Safe to run from several
// processes at once.
func (d *DB) Migrate(ctx context.Context) error { return d.migrate(ctx, nil) }

// migrate is Migrate up to these versions of the stores; nil for the newest.
func (d *DB) migrate(ctx context.Context, upTo map[string]int) error {
	conn, err := d.jobs.Acquire(ctx)
	if err != nil {
		return mapped(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrateLock); err != nil {
		return mapped(err)
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrateLock) }()
	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return mapped(err)
	}
	if version < 150000 {
		return fmt.Errorf("postgres %d.%d is too old: gitfor needs 15 or newer", version/10000, version%10000)
	}
	if err := migrateStores(ctx, conn.Conn(), upTo); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+JobsSchema); err != nil {
		return err
	}
	m, err := rivermigrate.New(riverpgxv5.New(d.jobs), &rivermigrate.Config{Schema: JobsSchema, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	return nil
}

func migrateStores(ctx context.Context, conn *pgx.Conn, upTo map[string]int) error {
	_, err := conn.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_trgm;
		CREATE SCHEMA IF NOT EXISTS cell;
		CREATE TABLE IF NOT EXISTS cell.stores (name text PRIMARY KEY, version bigint NOT NULL)`)
	if err != nil {
		return fmt.Errorf("prepare database: %w", err)
	}
	for _, store := range schema.Stores {
		files, err := schema.Files(store)
		if err != nil {
			return err
		}
		if version, ok := upTo[store]; ok {
			if version > len(files) {
				return fmt.Errorf("%s is at version %d and this gitfor knows %d: use a newer gitfor", store, version, len(files))
			}
			files = files[:version]
		}
		if err := migrateStore(ctx, conn, store, files); err != nil {
			return fmt.Errorf("migrate %s: %w", store, err)
		}
	}
	return nil
}

func migrateStore(ctx context.Context, conn *pgx.Conn, store string, files []string) error {
	var have int
	err := conn.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM cell.stores WHERE name = $1", store).Scan(&have)
	if err != nil {
		return err
	}
	if have > len(files) {
		return fmt.Errorf("the database is at version %d and this gitfor knows %d: use a newer gitfor", have, len(files))
	}
	if _, err := conn.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+store); err != nil {
		return err
	}
	for i, sql := range files[have:] {
		if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("file %04d: %w", have+i+1, err)
			}
			_, err := tx.Exec(ctx, `INSERT INTO cell.stores (name, version) VALUES ($1, $2)
				ON CONFLICT (name) DO UPDATE SET version = EXCLUDED.version`, store, have+i+1)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Migrated reports whether every global store is at the newest version.
func (d *DB) Migrated(ctx context.Context) (bool, error) {
	for _, store := range schema.Stores {
		files, err := schema.Files(store)
		if err != nil {
			return false, err
		}
		var have int
		err = d.jobs.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM cell.stores WHERE name = $1", store).Scan(&have)
		if err != nil {
			return false, mapped(err)
		}
		if have != len(files) {
			return false, nil
		}
	}
	return true, nil
}

// ServerVersion is the version of the Postgres behind the connection.
func (d *DB) ServerVersion(ctx context.Context) (string, error) {
	var v string
	err := d.jobs.QueryRow(ctx, "SHOW server_version").Scan(&v)
	return v, mapped(err)
}
