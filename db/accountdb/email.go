package accountdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// ByEmails returns the accounts that own the addresses, by Key of the
// address. Only what the owner has shown to be theirs counts, except for the
// address given at sign-up.
func ByEmails(ctx context.Context, dir db.Directory, emails []string) (map[string]*model.Account, error) {
	out := make(map[string]*model.Account)
	var keys []string
	for _, e := range emails {
		if key := model.Key(e); key != "" && out[key] == nil {
			out[key] = &model.Account{}
			keys = append(keys, key)
		}
	}
	clear(out)
	if len(keys) == 0 {
		return out, nil
	}
	var rows []struct {
		model.Account `bun:",extend"`

		EmailKey string `bun:"email_key,scanonly"`
	}
	err := dir.NewSelect().Model(&rows).ColumnExpr("a.*").ColumnExpr("em.email_key").
		Join("JOIN directory.user_emails em ON em.account_id = a.id").
		Join("JOIN directory.users u ON u.account_id = a.id").
		Where("em.email_key IN (?) AND a.deleted_at IS NULL", bun.In(keys)).
		Where("(em.verified_at IS NOT NULL OR lower(u.email) = em.email_key)").Scan(ctx)
	if err != nil {
		return nil, db.Map(err)
	}
	for i := range rows {
		out[rows[i].EmailKey] = &rows[i].Account
	}
	return out, nil
}
