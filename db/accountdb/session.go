package accountdb

import (
	"context"
	"database/sql"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// SignIn is the domain of an account's scope that holds sessions and
// credentials.
const SignIn = "signin"

// Session returns the session whose token has this SHA-256, an expired one
// too.
func Session(ctx context.Context, acc db.Account, hash []byte) (*model.Session, error) {
	s := new(model.Session)
	err := acc.Find(ctx, SignIn, func(q bun.IDB) error {
		return q.NewSelect().Model(s).Where("hash = ?", hash).Scan(ctx)
	})
	return s, err
}

// Sessions returns the sessions that have not expired, the last used first.
func Sessions(ctx context.Context, acc db.Account, now time.Time) ([]*model.Session, error) {
	var list []*model.Session
	err := acc.List(ctx, SignIn, func(q bun.IDB) error {
		return q.NewSelect().Model(&list).Where("expires_at > ?", now).Order("seen_at DESC").Limit(500).Scan(ctx)
	})
	return list, err
}

// InsertSession adds a session and arms the account's alarm for its end.
func InsertSession(ctx context.Context, tx *db.AccountTx, s *model.Session) error {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return err
	}
	if _, err := q.NewInsert().Model(s).Exec(ctx); err != nil {
		return err
	}
	return tx.Arm(ctx, s.ExpiresAt)
}

// SaveSession writes a session's data back.
func SaveSession(ctx context.Context, tx *db.AccountTx, s *model.Session) error {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return err
	}
	res, err := q.NewUpdate().Model(s).Column("data").WherePK().Exec(ctx)
	return affected(res, err)
}

// TouchSession notes that a session was used and until when it now lasts.
func TouchSession(ctx context.Context, tx *db.AccountTx, hash []byte, seen, expires time.Time) error {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return err
	}
	_, err = q.NewUpdate().Model((*model.Session)(nil)).Set("seen_at = ?", seen).
		Set("expires_at = ?", expires).Where("hash = ?", hash).Exec(ctx)
	return err
}

// DeleteSession ends a session; ErrNotFound when it had ended.
func DeleteSession(ctx context.Context, tx *db.AccountTx, hash []byte) error {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return err
	}
	res, err := q.NewDelete().Model((*model.Session)(nil)).Where("hash = ?", hash).Exec(ctx)
	return affected(res, err)
}

// DeleteSessions ends all sessions but the one kept, which may be nil, and
// says how many.
func DeleteSessions(ctx context.Context, tx *db.AccountTx, keep []byte) (int, error) {
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return 0, err
	}
	del := q.NewDelete().Model((*model.Session)(nil)).Where("TRUE")
	if keep != nil {
		del = del.Where("hash <> ?", keep)
	}
	res, err := del.Exec(ctx)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// Expire forgets sessions and credentials whose time is over and returns when
// the next one ends; zero when none does.
func Expire(ctx context.Context, tx *db.AccountTx) (next time.Time, err error) {
	if have, err := tx.Version(ctx, SignIn); err != nil || have == 0 {
		return next, err // an organisation, whose alarm rang for something else
	}
	q, err := tx.Write(ctx, SignIn)
	if err != nil {
		return next, err
	}
	if _, err := q.NewDelete().Model((*model.Session)(nil)).Where("expires_at <= ?", tx.Now()).Exec(ctx); err != nil {
		return next, err
	}
	// A token that has expired stays in its owner's list for a month.
	_, err = q.NewDelete().Model((*model.Credential)(nil)).Where("expires_at <= ?", tx.Now().AddDate(0, -1, 0)).Exec(ctx)
	if err != nil {
		return next, err
	}
	var due bun.NullTime
	err = q.NewRaw(`SELECT least((SELECT min(expires_at) FROM ?scope.sessions),
		(SELECT min(expires_at) + interval '1 month' FROM ?scope.credentials))`).Scan(ctx, &due)
	return due.Time, err
}

// affected turns an update or delete that matched nothing into ErrNotFound.
func affected(res sql.Result, err error) error {
	if err != nil {
		return db.Map(err)
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = db.ErrNotFound
	}
	return err
}
