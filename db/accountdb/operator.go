package accountdb

import (
	"context"
	"strings"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Filter chooses accounts for an operator.
type Filter struct {
	// Query is part of a name, display name or address.
	Query string
	Kind  model.AccountKind // "" for both
	// State is "", "admin", "suspended" or "deleted"; deleted accounts are
	// in no other list.
	State         string
	Limit, Offset int
}

// Overseen is an account with what an operator wants to know of it.
type Overseen struct {
	model.Account `bun:",extend"`

	Email        string     `bun:"email,scanonly"`
	Admin        bool       `bun:"admin,scanonly"`
	LastActiveAt *time.Time `bun:"last_active_at,scanonly"`
	Repos        int        `bun:"repos,scanonly"`
}

// Oversee lists accounts for an operator, the newest first, with one more than
// limit where there are more.
func Oversee(ctx context.Context, dir db.Directory, f Filter) ([]*Overseen, error) {
	var list []*Overseen
	q := dir.NewSelect().Model(&list).ColumnExpr("a.*").
		ColumnExpr("coalesce(u.email, '') AS email, coalesce(u.admin, false) AS admin, u.last_active_at").
		ColumnExpr("(SELECT count(*) FROM directory.repos r WHERE r.owner_id = a.id AND r.deleted_at IS NULL) AS repos").
		Join("LEFT JOIN directory.users u ON u.account_id = a.id").
		OrderExpr("a.id DESC").Limit(int64(f.Limit + 1)).Offset(int64(f.Offset))
	if f.Kind != "" {
		q = q.Where("a.kind = ?", f.Kind)
	}
	switch f.State {
	case "admin":
		q = q.Where("u.admin AND a.deleted_at IS NULL")
	case "suspended":
		q = q.Where("a.suspended_at IS NOT NULL AND a.deleted_at IS NULL")
	case "deleted":
		q = q.Where("a.deleted_at IS NOT NULL")
	default:
		q = q.Where("a.deleted_at IS NULL")
	}
	if key := model.Key(strings.TrimSpace(f.Query)); key != "" {
		part := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(key) + "%"
		q = q.Where("(a.name_key LIKE ?0 OR lower(a.display_name) LIKE ?0 OR a.id IN (SELECT account_id FROM directory.user_emails WHERE email_key LIKE ?0))", part)
	}
	return list, db.Map(q.Scan(ctx))
}

// SetSuspended suspends an account, or lets it in again.
func SetSuspended(ctx context.Context, tx db.DirectoryTx, id int64, at *time.Time) error {
	res, err := tx.NewRaw("UPDATE directory.accounts SET suspended_at = ?, updated_at = ? WHERE id = ? AND deleted_at IS NULL",
		at, tx.Now(), id).Exec(ctx)
	return affected(res, err)
}

// SetAdmin makes a person an administrator, or no longer one.
func SetAdmin(ctx context.Context, tx db.DirectoryTx, id int64, admin bool) error {
	res, err := tx.NewRaw("UPDATE directory.users SET admin = ? WHERE account_id = ?", admin, id).Exec(ctx)
	return affected(res, err)
}

// OtherAdmins says whether somebody else administers the instance. The
// administrators are locked until the transaction ends.
func OtherAdmins(ctx context.Context, tx db.DirectoryTx, id int64) (bool, error) {
	var ids []int64
	err := tx.NewRaw(`SELECT u.account_id FROM directory.users u JOIN directory.accounts a ON a.id = u.account_id
		WHERE u.admin AND a.deleted_at IS NULL AND a.suspended_at IS NULL ORDER BY u.account_id FOR UPDATE OF u`).Scan(ctx, &ids)
	for _, other := range ids {
		if other != id {
			return true, db.Map(err)
		}
	}
	return false, db.Map(err)
}

// Totals are how many of each thing there are.
type Totals struct{ Users, Orgs, Repos, Suspended, Deleted int }

// TotalsOf counts the instance's accounts and repositories.
func TotalsOf(ctx context.Context, dir db.Directory) (t Totals, err error) {
	err = dir.NewRaw(`SELECT count(*) FILTER (WHERE kind = 'user' AND deleted_at IS NULL), count(*) FILTER (WHERE kind <> 'user' AND deleted_at IS NULL),
		(SELECT count(*) FROM directory.repos WHERE deleted_at IS NULL), count(*) FILTER (WHERE suspended_at IS NOT NULL AND deleted_at IS NULL),
		count(*) FILTER (WHERE deleted_at IS NOT NULL) + (SELECT count(*) FROM directory.repos WHERE deleted_at IS NOT NULL)
		FROM directory.accounts`).Scan(ctx, &t.Users, &t.Orgs, &t.Repos, &t.Suspended, &t.Deleted)
	return t, db.Map(err)
}
