package db

import (
	"context"
	"time"
)

// ScopeInfo is what an operator may want to know of a scope.
type ScopeInfo struct {
	Scope string `json:"scope"`
	// State is "live" or "asleep"; "none" where the scope was never
	// written, "gone" where it was deleted for good.
	State string `json:"state"`
	// Domains are the versions of the domains that the scope has.
	Domains map[string]int `json:"domains"`
	// Newest are the newest versions of the same domains.
	Newest map[string]int `json:"newest"`
	// Relations are the tables, indexes and toast tables in the catalogue.
	Relations int `json:"relations"`
	// Bytes are those on disk: of the relations, or of what a sleeping
	// scope is kept as.
	Bytes     int64      `json:"bytes"`
	Counts    Counts     `json:"counts"`
	TouchedAt *time.Time `json:"touched_at"`
	SleepAt   *time.Time `json:"sleep_at"`
	// AlarmAt is when something falls due in the scope; nil for nothing.
	AlarmAt *time.Time `json:"alarm_at"`
}

// Inspect tells about a scope without touching it.
func (d *DB) Inspect(ctx context.Context, s Scope) (*ScopeInfo, error) {
	list, err := d.inspect(ctx, "s.scope = ?", "s.scope", 1, 0, s.String())
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return &ScopeInfo{Scope: s.String(), State: "none", Domains: map[string]int{}, Newest: map[string]int{}, Counts: Counts{}}, nil
	}
	return list[0], nil
}

// Scopes tells about the scopes in a state ("" for all), the one last touched
// first.
func (d *DB) Scopes(ctx context.Context, state string, limit, offset int) ([]*ScopeInfo, error) {
	return d.inspect(ctx, "(? = '' OR s.state = ?)", "s.touched_at DESC, s.scope", limit, offset, state, state)
}

func (d *DB) inspect(ctx context.Context, where, order string, limit, offset int, args ...any) ([]*ScopeInfo, error) {
	var rows []struct {
		scopeRow  `bun:",extend"`
		Relations int        `bun:"relations"`
		Bytes     int64      `bun:"bytes"`
		AlarmAt   *time.Time `bun:"alarm_at"`
	}
	err := d.bun.NewRaw(`SELECT s.*, a.due_at AS alarm_at,
		CASE WHEN s.state = 'asleep' THEN 0 ELSE (SELECT count(*) FROM pg_class c LEFT JOIN pg_class o ON o.reltoastrelid = c.oid
			LEFT JOIN pg_index x ON x.indexrelid = c.oid LEFT JOIN pg_class ox ON ox.reltoastrelid = x.indrelid
			WHERE n.oid IN (c.relnamespace, o.relnamespace, ox.relnamespace)) END AS relations,
		CASE WHEN s.state = 'asleep' THEN (SELECT coalesce(sum(length(data)), 0) FROM cell.asleep p WHERE p.scope = s.scope)
			ELSE (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'm')) END AS bytes
		FROM (SELECT * FROM cell.scopes s WHERE `+where+` ORDER BY `+order+` LIMIT ? OFFSET ?) s
		LEFT JOIN pg_namespace n ON n.nspname = s.scope LEFT JOIN cell.alarms a ON a.scope = s.scope
		ORDER BY `+order, append(args, limit, offset)...).Scan(ctx, &rows)
	if err != nil {
		return nil, mapped(err)
	}
	out := make([]*ScopeInfo, len(rows))
	for i := range rows {
		r := &rows[i]
		out[i] = &ScopeInfo{Scope: r.Scope, State: r.State, Domains: r.Domains, Newest: d.newest(&r.scopeRow), Relations: r.Relations,
			Bytes: r.Bytes, Counts: r.Counts, TouchedAt: &r.TouchedAt, SleepAt: r.SleepAt, AlarmAt: r.AlarmAt}
	}
	return out, nil
}

func (d *DB) newest(r *scopeRow) map[string]int {
	out := map[string]int{}
	s, err := ParseScope(r.Scope)
	if err != nil {
		return out
	}
	for domain := range r.Domains {
		if files, err := d.files.Files(s.kind, domain); err == nil {
			out[domain] = len(files)
		}
	}
	return out
}

// ScopeCounts are how many scopes there are in each state.
func (d *DB) ScopeCounts(ctx context.Context) (map[string]int, error) {
	var rows []struct {
		State string `bun:"state"`
		N     int    `bun:"n"`
	}
	err := d.bun.NewRaw("SELECT state, count(*) AS n FROM cell.scopes GROUP BY state").Scan(ctx, &rows)
	out := map[string]int{}
	for _, r := range rows {
		out[r.State] = r.N
	}
	return out, mapped(err)
}

// DatabaseSize is how large the database is.
type DatabaseSize struct {
	// Relations are the rows of pg_class: tables, indexes, toast tables.
	Relations int64
	Bytes     int64
}

// Size measures the database.
func (d *DB) Size(ctx context.Context) (s DatabaseSize, err error) {
	err = d.jobs.QueryRow(ctx, "SELECT (SELECT count(*) FROM pg_class), pg_database_size(current_database())").Scan(&s.Relations, &s.Bytes)
	return s, mapped(err)
}
