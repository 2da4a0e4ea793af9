// Package repodb holds the directory's queries about repositories.
package repodb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// columns are those of the repos and accounts tables that records hold.
const repoColumns = "r.*"

// found is a repository with the roles that the viewer has in it.
type found struct {
	model.Repo `bun:",extend"`

	Roles []string `bun:"roles,array,scanonly"`
}

// roles lists every role that the account has in repository r, by owning it,
// by the organisation that owns it, as a collaborator, and through teams and
// their parents.
const roles = `ARRAY(
	SELECT 'admin' WHERE r.owner_id = ?0
	UNION ALL SELECT c.role FROM directory.collaborators c WHERE c.repo_id = r.id AND c.account_id = ?0
	UNION ALL SELECT CASE m.role WHEN 'owner' THEN 'admin' ELSE o.base_role END
		FROM directory.org_members m JOIN directory.accounts o ON o.id = m.org_id
		WHERE m.org_id = r.owner_id AND m.user_id = ?0
	UNION ALL SELECT tr.role FROM directory.team_repos tr WHERE tr.repo_id = r.id AND tr.team_id IN (` + teamsOf + `))`

// teamsOf lists the teams that the account is in, with all their parents.
const teamsOf = `
	WITH RECURSIVE mine AS (
		SELECT team_id FROM directory.team_members WHERE user_id = ?0
		UNION SELECT t.parent_id FROM directory.teams t JOIN mine ON t.id = mine.team_id WHERE t.parent_id IS NOT NULL)
	SELECT team_id FROM mine`

// Find returns the repository owner/name and the role that the account
// viewerID (0 for a stranger) has in it, in one query. A public repository
// gives everyone RoleRead; one that the viewer may not read is ErrNotFound.
func Find(ctx context.Context, dir db.Directory, owner, name string, viewerID int64) (*model.Repo, model.Role, error) {
	return find(ctx, dir, viewerID, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("owner.name_key = ? AND owner.deleted_at IS NULL AND r.name_key = ?", model.Key(owner), model.Key(name))
	})
}

// FindID is Find by the repository's id.
func FindID(ctx context.Context, dir db.Directory, id, viewerID int64) (*model.Repo, model.Role, error) {
	return find(ctx, dir, viewerID, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("r.id = ?", id) })
}

func find(ctx context.Context, dir db.Directory, viewerID int64, where func(*bun.SelectQuery) *bun.SelectQuery) (*model.Repo, model.Role, error) {
	var f found
	q := dir.NewSelect().Model(&f).ColumnExpr(repoColumns).Relation("Owner").
		Where("r.deleted_at IS NULL").Limit(1)
	if viewerID != 0 {
		q = q.ColumnExpr(roles+" AS roles", viewerID)
	}
	if err := where(q).Scan(ctx); err != nil {
		return nil, model.RoleNone, db.Map(err)
	}
	role := model.RoleNone
	if f.Visibility == model.Public {
		role = model.RoleRead
	}
	for _, r := range f.Roles {
		role = model.MaxRole(role, model.Role(r))
	}
	if role == model.RoleNone {
		return nil, role, db.ErrNotFound
	}
	return &f.Repo, role, nil
}

// Readable restricts a query over repos (alias r) to those that the account
// may read; 0 is a stranger, who reads what is public.
func Readable(q *bun.SelectQuery, viewerID int64) *bun.SelectQuery {
	q = q.Where("r.deleted_at IS NULL")
	if viewerID == 0 {
		return q.Where("r.visibility = ?", model.Public)
	}
	return q.Where(`(r.visibility = 'public' OR r.owner_id = ?0
		OR r.id IN (SELECT repo_id FROM directory.collaborators WHERE account_id = ?0)
		OR r.owner_id IN (SELECT m.org_id FROM directory.org_members m JOIN directory.accounts o ON o.id = m.org_id
			WHERE m.user_id = ?0 AND (m.role = 'owner' OR o.base_role <> ''))
		OR r.id IN (SELECT tr.repo_id FROM directory.team_repos tr WHERE tr.team_id IN (`+teamsOf+`)))`, viewerID)
}

// ReadableIDs returns which of the repositories the account may read.
func ReadableIDs(ctx context.Context, dir db.Directory, ids []int64, viewerID int64) (map[int64]bool, error) {
	out := make(map[int64]bool, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var got []int64
	q := dir.NewSelect().TableExpr("directory.repos AS r").Column("r.id").Where("r.id IN (?)", bun.List(ids))
	if err := Readable(q, viewerID).Scan(ctx, &got); err != nil {
		return nil, db.Map(err)
	}
	for _, id := range got {
		out[id] = true
	}
	return out, nil
}

// ByIDs returns the repositories with their owners, those in the restore
// window included, by id.
func ByIDs(ctx context.Context, dir db.Directory, ids []int64) (map[int64]*model.Repo, error) {
	out := make(map[int64]*model.Repo, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var repos []*model.Repo
	if err := dir.NewSelect().Model(&repos).Relation("Owner").Where("r.id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return nil, db.Map(err)
	}
	for _, r := range repos {
		out[r.ID] = r
	}
	return out, nil
}

// Redirect returns the repository that was once called owner/name.
func Redirect(ctx context.Context, dir db.Directory, owner, name string) (*model.Repo, error) {
	repo := new(model.Repo)
	err := dir.NewSelect().Model(repo).Relation("Owner").Where("r.deleted_at IS NULL").
		Where(`r.id = (SELECT coalesce(
			(SELECT rr.repo_id FROM directory.repo_redirects rr WHERE rr.owner_id = o.id AND rr.name_key = ?1),
			(SELECT r2.id FROM directory.repos r2 WHERE r2.owner_id = o.id AND r2.name_key = ?1 AND r2.deleted_at IS NULL))
			FROM (SELECT id, 1 AS rank FROM directory.accounts WHERE name_key = ?0 AND deleted_at IS NULL
				UNION ALL SELECT account_id, 2 FROM directory.account_redirects WHERE name_key = ?0
				ORDER BY rank LIMIT 1) o)`, model.Key(owner), model.Key(name)).Scan(ctx)
	return repo, db.Map(err)
}

// Members returns the ids of the accounts that have write access or more, for
// lists of those who can be assigned or asked.
func Members(ctx context.Context, dir db.Directory, repo *model.Repo) ([]int64, error) {
	var ids []int64
	err := dir.NewRaw(`SELECT id FROM directory.accounts a WHERE a.deleted_at IS NULL AND a.kind = 'user' AND (
			a.id = ?0
			OR a.id IN (SELECT account_id FROM directory.collaborators WHERE repo_id = ?1)
			OR a.id IN (SELECT user_id FROM directory.org_members WHERE org_id = ?0)
			OR a.id IN (SELECT tm.user_id FROM directory.team_repos tr JOIN directory.team_members tm ON tm.team_id = tr.team_id
				WHERE tr.repo_id = ?1))
		ORDER BY a.name_key LIMIT 500`, repo.OwnerID, repo.ID).Scan(ctx, &ids)
	return ids, db.Map(err)
}

// InNetwork returns the repository of the account owner that has a common
// origin with repo: repo's root, or a fork of it.
func InNetwork(ctx context.Context, dir db.Directory, repo *model.Repo, owner string) (*model.Repo, error) {
	root := repo.RootID
	if root == 0 {
		root = repo.ID
	}
	fork := new(model.Repo)
	err := dir.NewSelect().Model(fork).Relation("Owner").Where("r.deleted_at IS NULL").
		Where("owner.name_key = ? AND owner.deleted_at IS NULL", model.Key(owner)).
		Where("r.id = ? OR r.root_id = ? OR r.fork_of = ?", root, root, root).Order("r.id").Limit(1).Scan(ctx)
	return fork, db.Map(err)
}

// IDOf returns the id of the repository owner/name, whoever may read it.
func IDOf(ctx context.Context, dir db.Directory, owner, name string) (int64, error) {
	var id int64
	err := dir.NewSelect().TableExpr("directory.repos AS r").Join("JOIN directory.accounts AS owner ON owner.id = r.owner_id").ColumnExpr("r.id").
		Where("owner.name_key = ? AND owner.deleted_at IS NULL", model.Key(owner)).
		Where("r.name_key = ? AND r.deleted_at IS NULL", model.Key(name)).Scan(ctx, &id)
	return id, db.Map(err)
}
