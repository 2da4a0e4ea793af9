package repodb

import (
	"context"
	"database/sql"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// Standing tells how an account stands to a repository, in one query.
func Standing(ctx context.Context, dir db.Directory, repoID, accountID int64) (model.Standing, error) {
	var s model.Standing
	err := dir.NewRaw(`SELECT EXISTS (SELECT FROM directory.stars WHERE repo_id = ?0 AND account_id = ?1) AS starred,
		coalesce(w.level, '') AS watch, coalesce(w.kinds, '{}') AS kinds, w.created_at AS since, coalesce(f.id, 0) AS fork_id, coalesce(f.name, '') AS fork_name
		FROM (SELECT) one
		LEFT JOIN directory.watches w ON w.repo_id = ?0 AND w.account_id = ?1
		LEFT JOIN LATERAL (SELECT id, name FROM directory.repos
			WHERE fork_of = ?0 AND owner_id = ?1 AND deleted_at IS NULL ORDER BY id LIMIT 1) f ON true`, repoID, accountID).Scan(ctx, &s)
	return s, db.Map(err)
}

// Star adds an account's star, and says whether there was none.
func Star(ctx context.Context, tx db.DirectoryTx, repoID, accountID int64) (changed bool, err error) {
	res, err := tx.NewRaw("INSERT INTO directory.stars (repo_id, account_id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		repoID, accountID, tx.Now()).Exec(ctx)
	return count(ctx, tx, "stars", repoID, 1, res, err)
}

// Unstar removes it, and says whether there was one.
func Unstar(ctx context.Context, tx db.DirectoryTx, repoID, accountID int64) (changed bool, err error) {
	res, err := tx.NewRaw("DELETE FROM directory.stars WHERE repo_id = ? AND account_id = ?", repoID, accountID).Exec(ctx)
	return count(ctx, tx, "stars", repoID, -1, res, err)
}

// Watch sets an account's watch of a repository.
func Watch(ctx context.Context, tx db.DirectoryTx, repoID, accountID int64, level string, kinds []string) error {
	if kinds == nil {
		kinds = []string{}
	}
	res, err := tx.NewRaw("INSERT INTO directory.watches (repo_id, account_id, level, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
		repoID, accountID, level, tx.Now()).Exec(ctx)
	if _, err := count(ctx, tx, "watchers", repoID, 1, res, err); err != nil {
		return err
	}
	_, err = tx.NewRaw("UPDATE directory.watches SET level = ?, kinds = ?::text[] WHERE repo_id = ? AND account_id = ?", level, pgdialect.Array(kinds), repoID, accountID).Exec(ctx)
	return db.Map(err)
}

// WatchFirst makes an account the first who watches a new repository, whose row
// counts it already.
func WatchFirst(ctx context.Context, tx db.DirectoryTx, repoID, accountID int64) error {
	_, err := tx.NewRaw("INSERT INTO directory.watches (repo_id, account_id, level, created_at) VALUES (?, ?, ?, ?)",
		repoID, accountID, model.WatchAll, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// Unwatch removes it, and says whether there was one.
func Unwatch(ctx context.Context, tx db.DirectoryTx, repoID, accountID int64) (changed bool, err error) {
	res, err := tx.NewRaw("DELETE FROM directory.watches WHERE repo_id = ? AND account_id = ?", repoID, accountID).Exec(ctx)
	return count(ctx, tx, "watchers", repoID, -1, res, err)
}

// count adds by for each row that was made or removed to a counter of the
// repository.
func count(ctx context.Context, tx db.DirectoryTx, column string, repoID int64, by int64, res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, db.Map(err)
	}
	n, err := res.RowsAffected()
	if err != nil || n == 0 {
		return false, err
	}
	_, err = tx.NewRaw("UPDATE directory.repos SET ?0 = greatest(?0 + ?1, 0) WHERE id = ?2", bun.Ident(column), n*by, repoID).Exec(ctx)
	return true, db.Map(err)
}

// Stargazers lists who starred a repository, the first first, with one more
// than limit where there are more.
func Stargazers(ctx context.Context, dir db.Directory, repoID, limit, offset int64) ([]model.Stargazer, error) {
	return fans(ctx, dir, "stars", repoID, limit, offset)
}

// Watchers lists who watches a repository and does not ignore it, as
// Stargazers does.
func Watchers(ctx context.Context, dir db.Directory, repoID, limit, offset int64) ([]model.Stargazer, error) {
	return fans(ctx, dir, "watches", repoID, limit, offset)
}

func fans(ctx context.Context, dir db.Directory, table string, repoID, limit, offset int64) ([]model.Stargazer, error) {
	var list []model.Stargazer
	where := ""
	if table == "watches" {
		where = " AND f.level <> 'ignore'"
	}
	err := dir.NewRaw(`SELECT a.*, f.created_at AS at FROM directory.? f JOIN directory.accounts a ON a.id = f.account_id
		WHERE f.repo_id = ? AND a.deleted_at IS NULL`+where+` ORDER BY f.created_at, a.id LIMIT ? OFFSET ?`,
		bun.Ident(table), repoID, limit+1, offset).Scan(ctx, &list)
	return list, db.Map(err)
}
