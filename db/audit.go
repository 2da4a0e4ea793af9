package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

// Origin is who acts in a request and from where, for the audit log.
type Origin struct {
	// ActorID and Actor are the account, 0 and "" for a stranger.
	ActorID int64
	Actor   string
	// Remote is the client's address, Agent its User-Agent.
	Remote, Agent string
	// Via is how the actor came in: "session", "token", "ssh" or "server"
	// for commands beside the server.
	Via string
}

type originKey struct{}

// WithOrigin returns a context whose transactions note where they came from.
// The caller may fill o in while the request goes on.
func WithOrigin(ctx context.Context, o *Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf is where what runs under ctx came from; the zero Origin when
// nobody said, such as in jobs.
func OriginOf(ctx context.Context) Origin {
	if o, ok := ctx.Value(originKey{}).(*Origin); ok && o != nil {
		return *o
	}
	return Origin{}
}

// AuditEntry is a row of the audit log. Features make it with app/audit.
type AuditEntry struct {
	bun.BaseModel `bun:"table:events.audit,alias:a"`

	ID        int64           `bun:"id,pk,autoincrement"`
	At        time.Time       `bun:"at"`
	ActorID   int64           `bun:"actor_id,nullzero"`
	Actor     string          `bun:"actor"`
	Action    string          `bun:"action"`
	AccountID int64           `bun:"account_id,nullzero"`
	RepoID    int64           `bun:"repo_id,nullzero"`
	Target    string          `bun:"target"`
	Remote    string          `bun:"remote"`
	Agent     string          `bun:"agent"`
	Via       string          `bun:"via"`
	Before    json.RawMessage `bun:"before,type:jsonb,nullzero"`
	After     json.RawMessage `bun:"after,type:jsonb,nullzero"`
}

func (t *tx) Audit(entries ...AuditEntry) {
	for i := range entries {
		entries[i].At = t.now
	}
	t.audit = append(t.audit, entries...)
}

// writeAudit writes what was noted, at the transaction's end.
func (t *tx) writeAudit(ctx context.Context) error {
	if len(t.audit) == 0 {
		return nil
	}
	if _, err := t.bun.NewInsert().Model(&t.audit).ExcludeColumn("id").Returning("NULL").Exec(ctx); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}
