package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// leadEvery is how often a process that does not lead asks whether it may.
const leadEvery = 2 * time.Second

// Lead waits until this process is the only one that holds key, an advisory
// lock of the database, and returns the connection that holds it. The lead
// ends with the connection, so what is written through it is written while
// leading. The caller closes it.
func (d *DB) Lead(ctx context.Context, key int64) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, d.jobs.Config().ConnConfig)
	if err != nil {
		return nil, mapped(err)
	}
	for {
		var got bool
		if err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", key).Scan(&got); err == nil && got {
			return conn, nil
		}
		if err == nil {
			sleep(ctx, leadEvery)
			err = ctx.Err()
		}
		if err != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
			return nil, mapped(err)
		}
	}
}
