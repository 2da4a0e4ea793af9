// Package eventdb holds the queries of the event store: the sequencer's step,
// the log, what was handled, and the audit log.
package eventdb

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// BatchSize is how many events the sequencer numbers in one transaction.
const BatchSize = 100

// Batch is a run of events that got their places together.
type Batch struct {
	From, To int64
	At       time.Time
	Rows     []Row
}

// Row is what routing needs to know of an event.
type Row struct {
	Seq       int64
	Type      string
	RepoID    int64
	AccountID int64
}

// Growth is the notice on db.LogChannel: the log has the events From to To,
// which are about these repositories and accounts.
type Growth struct {
	From     int64     `json:"f"`
	To       int64     `json:"t"`
	At       time.Time `json:"at"`
	Repos    []int64   `json:"r,omitempty"`
	Accounts []int64   `json:"a,omitempty"`
}

// Waiting says whether events wait for the sequencer; one cheap statement.
func Waiting(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var waiting bool
	err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM events.incoming)").Scan(&waiting)
	return waiting, err
}

// Sequence gives the next events their places in the log and inserts the jobs
// that plan makes of them, all in one transaction on conn. The row of
// events.seq is locked, which fences off a second sequencer. now is only used
// where it is later than the last batch's.
func Sequence(ctx context.Context, d *db.DB, conn *pgx.Conn, now time.Time, plan func(Batch) []river.InsertManyParams) (Batch, error) {
	var b Batch
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var last time.Time
		if err := tx.QueryRow(ctx, "SELECT last, greatest(at, $1) FROM events.seq FOR UPDATE", now).Scan(&b.To, &last); err != nil {
			return err
		}
		b.From, b.At = b.To+1, last
		if err := take(ctx, tx, &b); err != nil || len(b.Rows) == 0 {
			return err
		}
		b.To += int64(len(b.Rows))
		jobs := plan(b)
		if err := d.EnqueueMany(ctx, tx, jobs); err != nil {
			return err
		}
		channels, payloads, err := notices(b, jobs)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `WITH placed AS (UPDATE events.seq SET last = $1, at = $2)
			SELECT pg_notify(c, p) FROM unnest($3::text[], $4::text[]) AS n(c, p)`, b.To, b.At, channels, payloads)
		return err
	})
	if err != nil {
		return Batch{}, fmt.Errorf("number events: %w", db.Map(err))
	}
	return b, nil
}

func take(ctx context.Context, tx pgx.Tx, b *Batch) error {
	rows, err := tx.Query(ctx, `WITH gone AS (
			DELETE FROM events.incoming WHERE id IN (SELECT id FROM events.incoming ORDER BY id LIMIT $1)
			RETURNING id, event_id, type, source, time, repo_id, account_id, actor_id, data),
		placed AS (SELECT $2::bigint + row_number() OVER (ORDER BY id) AS seq, gone.* FROM gone)
		INSERT INTO events.log (seq, at, event_id, type, source, time, repo_id, account_id, actor_id, data)
		SELECT seq, $3, event_id, type, source, time, repo_id, account_id, actor_id, data FROM placed ORDER BY seq
		RETURNING seq, type, coalesce(repo_id, 0), coalesce(account_id, 0)`, BatchSize, b.To, b.At)
	if err != nil {
		return err
	}
	b.Rows, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Row])
	return err
}

// notices are sent with the transaction: one sequencer takes Postgres's lock
// of notices one batch at a time, and so none is lost in a crash.
func notices(b Batch, jobs []river.InsertManyParams) (channels, payloads []string, err error) {
	add := func(channel, payload string) {
		channels, payloads = append(channels, channel), append(payloads, payload)
	}
	g := Growth{From: b.From, To: b.To, At: b.At}
	repos, accounts := map[int64]bool{}, map[int64]bool{}
	for _, r := range b.Rows {
		if r.RepoID != 0 && !repos[r.RepoID] {
			repos[r.RepoID] = true
			g.Repos = append(g.Repos, r.RepoID)
		}
		if r.AccountID != 0 && !accounts[r.AccountID] {
			accounts[r.AccountID] = true
			g.Accounts = append(g.Accounts, r.AccountID)
		}
	}
	text, err := json.Marshal(g)
	if err != nil {
		return nil, nil, err
	}
	add(db.BusChannel, db.LogChannel+":"+string(text))
	queues := map[string]bool{}
	for _, j := range jobs {
		if j.InsertOpts != nil && !queues[j.InsertOpts.Queue] {
			queues[j.InsertOpts.Queue] = true
			add(db.JobChannel, db.JobNotice(j.InsertOpts.Queue))
		}
	}
	return channels, payloads, nil
}
