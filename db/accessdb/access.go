// Package accessdb holds the directory's queries about who may do what with a
// repository, why, and who is invited.
package accessdb

import (
	"context"
	"database/sql"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Ways by which a person has a role.
const (
	ByOwning   = "owner"        // owns the repository
	ByOrgOwner = "org-owner"    // owns the organisation
	ByBase     = "base"         // a member, by the organisation's base role
	ByTeam     = "team"         // is in a team that has it, or in one below
	ByInvite   = "collaborator" // was added by name
)

// Reason is one way by which a person has a role in a repository.
type Reason struct {
	model.Account `bun:",extend"`

	Role model.Role `bun:"role,scanonly"`
	Via  string     `bun:"via,scanonly"`
	// Team is the slug of the team, for ByTeam.
	Team string `bun:"team,scanonly"`
}

const reasons = `WITH RECURSIVE reach AS (
		SELECT tr.team_id AS team, tr.team_id AS via, tr.role FROM directory.team_repos tr WHERE tr.repo_id = ?1
		UNION SELECT t.id, reach.via, reach.role FROM directory.teams t JOIN reach ON t.parent_id = reach.team)
	SELECT a.*, w.role, w.via, w.team FROM (
		SELECT id AS account_id, 'admin' AS role, 'owner' AS via, '' AS team FROM directory.accounts WHERE id = ?0 AND kind = 'user'
		UNION ALL SELECT m.user_id, CASE m.role WHEN 'owner' THEN 'admin' ELSE o.base_role END,
				CASE m.role WHEN 'owner' THEN 'org-owner' ELSE 'base' END, ''
			FROM directory.org_members m JOIN directory.accounts o ON o.id = m.org_id
			WHERE m.org_id = ?0 AND (m.role = 'owner' OR o.base_role <> '')
		UNION ALL SELECT account_id, role, 'collaborator', '' FROM directory.collaborators WHERE repo_id = ?1
		UNION ALL SELECT DISTINCT tm.user_id, reach.role, 'team', t.slug FROM reach
			JOIN directory.team_members tm ON tm.team_id = reach.team JOIN directory.teams t ON t.id = reach.via) w
	JOIN directory.accounts a ON a.id = w.account_id
	WHERE a.deleted_at IS NULL AND (?2 = 0 OR a.id = ?2)
	ORDER BY a.name_key, w.via, w.team LIMIT 10000`

// Reasons returns why each person has a role in the repository, by name; with
// accountID not 0 those of one account.
func Reasons(ctx context.Context, dir db.Directory, repo *model.Repo, accountID int64) ([]*Reason, error) {
	var list []*Reason
	err := dir.NewRaw(reasons, repo.OwnerID, repo.ID, accountID).Scan(ctx, &list)
	return list, db.Map(err)
}

// Collaborator returns the role that the account was given by name, RoleNone
// without one.
func Collaborator(ctx context.Context, dir db.Directory, repoID, accountID int64) (model.Role, error) {
	var role model.Role
	err := dir.NewRaw("SELECT coalesce((SELECT role FROM directory.collaborators WHERE repo_id = ? AND account_id = ?), '')",
		repoID, accountID).Scan(ctx, &role)
	return role, db.Map(err)
}

// SetCollaborator gives an account a role in a repository.
func SetCollaborator(ctx context.Context, tx db.DirectoryTx, repoID, accountID int64, role model.Role) error {
	_, err := tx.NewRaw(`INSERT INTO directory.collaborators (repo_id, account_id, role, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (repo_id, account_id) DO UPDATE SET role = EXCLUDED.role`, repoID, accountID, role, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// RemoveCollaborator takes the role away; ErrNotFound without one.
func RemoveCollaborator(ctx context.Context, tx db.DirectoryTx, repoID, accountID int64) error {
	res, err := tx.NewRaw("DELETE FROM directory.collaborators WHERE repo_id = ? AND account_id = ?", repoID, accountID).Exec(ctx)
	return affected(res, err)
}

// TeamRole is a team with its role in a repository.
type TeamRole struct {
	model.Team `bun:",extend"`

	Role    model.Role `bun:"role,scanonly"`
	Members int        `bun:"members,scanonly"`
}

// Teams returns the teams that have a role in the repository, by name.
func Teams(ctx context.Context, dir db.Directory, repoID int64) ([]*TeamRole, error) {
	var list []*TeamRole
	err := dir.NewRaw(`SELECT t.*, tr.role, (SELECT count(*) FROM directory.team_members WHERE team_id = t.id) AS members
		FROM directory.team_repos tr JOIN directory.teams t ON t.id = tr.team_id WHERE tr.repo_id = ? ORDER BY t.slug`, repoID).Scan(ctx, &list)
	return list, db.Map(err)
}

// SetTeam gives a team a role in a repository.
func SetTeam(ctx context.Context, tx db.DirectoryTx, repoID, teamID int64, role model.Role) error {
	_, err := tx.NewRaw(`INSERT INTO directory.team_repos (team_id, repo_id, role, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (team_id, repo_id) DO UPDATE SET role = EXCLUDED.role`, teamID, repoID, role, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// RemoveTeam takes a team's role away; ErrNotFound without one.
func RemoveTeam(ctx context.Context, tx db.DirectoryTx, repoID, teamID int64) error {
	res, err := tx.NewRaw("DELETE FROM directory.team_repos WHERE repo_id = ? AND team_id = ?", repoID, teamID).Exec(ctx)
	return affected(res, err)
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
