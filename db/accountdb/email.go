package accountdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// InsertEmail adds an address to a person's; ErrConflict when it is there.
func InsertEmail(ctx context.Context, tx db.DirectoryTx, e *model.Email) error {
	e.EmailKey, e.CreatedAt = model.Key(e.Email), tx.Now()
	_, err := tx.NewInsert().Model(e).Exec(ctx)
	return db.Map(err)
}

// Emails returns a person's addresses, oldest first.
func Emails(ctx context.Context, dir db.Directory, accountID int64) ([]*model.Email, error) {
	var emails []*model.Email
	err := dir.NewSelect().Model(&emails).Where("account_id = ?", accountID).Order("created_at", "email_key").Scan(ctx)
	return emails, db.Map(err)
}

// DeleteEmail removes an address; ErrNotFound when the person has no such.
func DeleteEmail(ctx context.Context, tx db.DirectoryTx, accountID int64, email string) error {
	res, err := tx.NewRaw("DELETE FROM directory.user_emails WHERE account_id = ? AND email_key = ?",
		accountID, model.Key(email)).Exec(ctx)
	return affected(res, err)
}

// VerifyEmail marks an address as confirmed; ErrConflict when somebody else
// has confirmed the same, ErrNotFound when the person has no such.
func VerifyEmail(ctx context.Context, tx db.DirectoryTx, accountID int64, email string, at time.Time) error {
	res, err := tx.NewRaw("UPDATE directory.user_emails SET verified_at = ? WHERE account_id = ? AND email_key = ?",
		at, accountID, model.Key(email)).Exec(ctx)
	return affected(res, err)
}

// ByEmails finds accounts by the addresses in commits, by Key of address: who
// confirmed the address or, where nobody did, the only one who names it.
func ByEmails(ctx context.Context, dir db.Directory, emails []string) (map[string]*model.Account, error) {
	out := make(map[string]*model.Account, len(emails))
	if len(emails) == 0 {
		return out, nil
	}
	keys := make([]string, len(emails))
	for i, e := range emails {
		keys[i] = model.Key(e)
	}
	var rows []struct {
		EmailKey      string
		model.Account `bun:",extend"`
	}
	err := dir.NewRaw(`SELECT em.email_key, a.id, a.kind, a.name, a.name_key, a.display_name, a.avatar
		FROM directory.user_emails em JOIN directory.accounts a ON a.id = em.account_id AND a.deleted_at IS NULL
		WHERE em.email_key IN (?) AND (em.verified_at IS NOT NULL OR 1 = (
			SELECT count(*) FROM directory.user_emails other WHERE other.email_key = em.email_key))`, bun.List(keys)).Scan(ctx, &rows)
	if err != nil {
		return nil, db.Map(err)
	}
	for i := range rows {
		out[rows[i].EmailKey] = &rows[i].Account
	}
	return out, nil
}
