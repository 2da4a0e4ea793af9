// Package limitdb keeps how much everybody used of an hour's requests.
package limitdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/uptrace/bun"
)

// Row is what one subject used of one kind in an hour.
type Row struct {
	bun.BaseModel `bun:"table:directory.hourly_limits,alias:l"`

	Subject string    `bun:"subject,pk"`
	Kind    string    `bun:"kind,pk"`
	Hour    time.Time `bun:"hour,pk"`
	Used    int64     `bun:"used"`
}

// Add adds to what is stored, and sets in each row what there is then.
func Add(ctx context.Context, dir db.Directory, rows []*Row) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := dir.NewInsert().Model(&rows).On("CONFLICT (subject, kind, hour) DO UPDATE").
		Set("used = l.used + EXCLUDED.used").Returning("used").Exec(ctx)
	return db.Map(err)
}

// Since returns what was used in the hours from hour on.
func Since(ctx context.Context, dir db.Directory, hour time.Time) ([]*Row, error) {
	var rows []*Row
	return rows, db.Map(dir.NewSelect().Model(&rows).Where("hour >= ?", hour).Limit(200_000).Scan(ctx))
}

// Forget removes what is older than hour.
func Forget(ctx context.Context, dir db.Directory, hour time.Time) error {
	_, err := dir.NewRaw("DELETE FROM directory.hourly_limits WHERE hour < ?", hour).Exec(ctx)
	return db.Map(err)
}
