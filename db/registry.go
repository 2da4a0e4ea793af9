package db

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gitfor/gitfor/db/schema"
	"github.com/uptrace/bun"
)

// Counts are small counters of a scope by name ("open_issues", "open_pulls").
type Counts map[string]int64

// scopeRow is a scope's row in the register.
type scopeRow struct {
	bun.BaseModel `bun:"table:cell.scopes,alias:s"`

	Scope      string         `bun:"scope,pk"`
	State      string         `bun:"state"`
	Domains    map[string]int `bun:"domains,type:jsonb"`
	NextID     int64          `bun:"next_id"`
	NextNumber int64          `bun:"next_number"`
	Counts     Counts         `bun:"counts,type:jsonb"`
	TouchedAt  time.Time      `bun:"touched_at"`
	SleepAt    *time.Time     `bun:"sleep_at"`
}

// DomainFiles gives the SQL files of a domain of a kind of scope.
type DomainFiles interface {
	// Files are the domain's files in order; an error when unknown.
	Files(kind Kind, domain string) ([]string, error)
}

type embeddedDomains struct{}

func (embeddedDomains) Files(kind Kind, domain string) ([]string, error) {
	return schema.Files(string(kind) + "/" + domain)
}

// registry caches which domains a scope has. It is a hint: absence is never
// cached, and what is cached is checked by use (see scoped.read).
type registry struct {
	mu   sync.Mutex
	rows map[Scope]*scopeRow
}

const registryMax = 50_000

func newRegistry() *registry { return &registry{rows: make(map[Scope]*scopeRow)} }

func (r *registry) drop(s Scope) {
	r.mu.Lock()
	delete(r.rows, s)
	r.mu.Unlock()
}

func (r *registry) put(s Scope, row *scopeRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) >= registryMax {
		for k := range r.rows {
			delete(r.rows, k)
			if len(r.rows) < registryMax*9/10 {
				break
			}
		}
	}
	r.rows[s] = row
}

// load returns the register's row of s; an empty one where there is none.
func (r *registry) load(ctx context.Context, d *DB, s Scope, domain string) (*scopeRow, error) {
	r.mu.Lock()
	row := r.rows[s]
	r.mu.Unlock()
	if row != nil && row.Domains[domain] > 0 {
		return row, nil
	}
	row = new(scopeRow)
	err := d.bun.NewSelect().Model(row).Column("scope", "state", "domains").
		Where("scope = ?", s.String()).Scan(ctx)
	if errors.Is(mapped(err), ErrNotFound) {
		return new(scopeRow), nil
	}
	if err != nil {
		return nil, err
	}
	if row.State == stateAsleep {
		if err := d.wakeScope(ctx, s); err != nil {
			return nil, err
		}
	}
	r.put(s, row)
	return row, nil
}
