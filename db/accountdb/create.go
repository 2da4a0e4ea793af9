package accountdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// NewID takes the next account id, for state that must be written before the
// account itself.
func NewID(ctx context.Context, dir db.Directory) (int64, error) {
	var id int64
	err := dir.NewRaw("SELECT nextval(pg_get_serial_sequence('directory.accounts', 'id'))").Scan(ctx, &id)
	return id, db.Map(err)
}

// Insert adds an account; its ID is set unless it was before.
func Insert(ctx context.Context, tx db.DirectoryTx, a *model.Account) error {
	a.NameKey, a.CreatedAt, a.UpdatedAt = model.Key(a.Name), tx.Now(), tx.Now()
	if a.Settings == nil {
		a.Settings = map[string]any{}
	}
	q := tx.NewInsert().Model(a).Returning("id")
	if a.ID == 0 {
		q = q.ExcludeColumn("id")
	}
	_, err := q.Exec(ctx)
	return db.Map(err)
}

// InsertUser adds what a person's account has beside it.
func InsertUser(ctx context.Context, tx db.DirectoryTx, u *model.User) error {
	if _, err := tx.NewInsert().Model(u).Exec(ctx); err != nil {
		return db.Map(err)
	}
	return InsertEmail(ctx, tx, &model.Email{Email: u.Email, AccountID: u.AccountID})
}

// ClaimFirst says whether the instance had no account before: true for
// exactly one caller in its life.
func ClaimFirst(ctx context.Context, tx db.DirectoryTx, accountID int64) (bool, error) {
	res, err := tx.NewRaw(`INSERT INTO directory.instance_settings (key, value, updated_by, updated_at)
		SELECT 'first_account', to_jsonb(?::bigint), ?, ? WHERE NOT EXISTS (SELECT FROM directory.users)
		ON CONFLICT (key) DO NOTHING`, accountID, accountID, tx.Now()).Exec(ctx)
	if err != nil {
		return false, db.Map(err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// HasUsers says whether anybody has an account.
func HasUsers(ctx context.Context, dir db.Directory) (bool, error) {
	var has bool
	err := dir.NewRaw("SELECT EXISTS (SELECT FROM directory.users)").Scan(ctx, &has)
	return has, db.Map(err)
}

// NameState is what stands in the way of taking a name.
type NameState struct {
	Taken, Retired, Redirects, Deleted bool
}

// Name looks up what a name is used for; deleted accounts hold theirs when
// they were deleted after since.
func Name(ctx context.Context, dir db.Directory, name string, since time.Time) (NameState, error) {
	var s NameState
	key := model.Key(name)
	err := dir.NewRaw(`SELECT EXISTS (SELECT FROM directory.accounts WHERE name_key = ? AND deleted_at IS NULL),
		EXISTS (SELECT FROM directory.retired_names WHERE name_key = ?),
		EXISTS (SELECT FROM directory.account_redirects WHERE name_key = ?),
		EXISTS (SELECT FROM directory.accounts WHERE name_key = ? AND deleted_at > ?)`, key, key, key, key, since).
		Scan(ctx, &s.Taken, &s.Retired, &s.Redirects, &s.Deleted)
	return s, db.Map(err)
}

// DropRedirect makes a former name free for a new owner.
func DropRedirect(ctx context.Context, tx db.DirectoryTx, name string) error {
	_, err := tx.NewRaw("DELETE FROM directory.account_redirects WHERE name_key = ?", model.Key(name)).Exec(ctx)
	return db.Map(err)
}
