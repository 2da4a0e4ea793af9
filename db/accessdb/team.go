package accessdb

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// OrgTeams returns an organisation's teams with their parents, by name.
// Secret ones are left out unless all is true or the viewer is in them.
func OrgTeams(ctx context.Context, dir db.Directory, orgID, viewerID int64, all bool) ([]*model.Team, error) {
	var list []*model.Team
	q := dir.NewSelect().Model(&list).Relation("Parent").Where("t.org_id = ?", orgID).Order("t.slug").Limit(5000)
	if !all {
		q = q.Where("NOT t.secret OR t.id IN (SELECT team_id FROM directory.team_members WHERE user_id = ?)", viewerID)
	}
	return list, db.Map(q.Scan(ctx))
}

// TeamBySlug returns an organisation's team with its parent.
func TeamBySlug(ctx context.Context, dir db.Directory, orgID int64, slug string) (*model.Team, error) {
	t := new(model.Team)
	return t, db.Map(dir.NewSelect().Model(t).Relation("Parent").Relation("Org").
		Where("t.org_id = ? AND t.slug = ?", orgID, strings.ToLower(slug)).Scan(ctx))
}

// TeamByID returns a team with its parent and organisation.
func TeamByID(ctx context.Context, dir db.Directory, id int64) (*model.Team, error) {
	t := new(model.Team)
	return t, db.Map(dir.NewSelect().Model(t).Relation("Parent").Relation("Org").Where("t.id = ?", id).Scan(ctx))
}

// InsertTeam adds a team; its ID is set. ErrConflict when its slug is taken.
func InsertTeam(ctx context.Context, tx db.DirectoryTx, t *model.Team) error {
	t.CreatedAt = tx.Now()
	_, err := tx.NewInsert().Model(t).ExcludeColumn("id").Returning("id").Exec(ctx)
	return db.Map(err)
}

// SaveTeam writes a team's name, slug, description, parent and secrecy.
func SaveTeam(ctx context.Context, tx db.DirectoryTx, t *model.Team) error {
	res, err := tx.NewUpdate().Model(t).Column("name", "slug", "description", "parent_id", "secret").WherePK().Exec(ctx)
	return affected(res, err)
}

// DeleteTeam removes a team; those below it get its parent.
func DeleteTeam(ctx context.Context, tx db.DirectoryTx, t *model.Team) error {
	_, err := tx.NewRaw("UPDATE directory.teams SET parent_id = ? WHERE parent_id = ?", bun.NullZero(t.ParentID), t.ID).Exec(ctx)
	if err != nil {
		return db.Map(err)
	}
	res, err := tx.NewRaw("DELETE FROM directory.teams WHERE id = ?", t.ID).Exec(ctx)
	return affected(res, err)
}

// Below says that the team below is the team above, or under it. The
// organisation's row stays locked, so that no other change makes a circle.
func Below(ctx context.Context, tx db.DirectoryTx, orgID, below, above int64) (bool, error) {
	var id int64
	if err := tx.NewRaw("SELECT id FROM directory.accounts WHERE id = ? FOR UPDATE", orgID).Scan(ctx, &id); err != nil {
		return false, db.Map(err)
	}
	var yes bool
	err := tx.NewRaw(`WITH RECURSIVE up AS (SELECT id, parent_id FROM directory.teams WHERE id = ?
		UNION SELECT t.id, t.parent_id FROM directory.teams t JOIN up ON t.id = up.parent_id)
		SELECT EXISTS (SELECT FROM up WHERE id = ?)`, below, above).Scan(ctx, &yes)
	return yes, db.Map(err)
}

// TeamPerson is somebody in a team.
type TeamPerson struct {
	model.Account `bun:",extend"`

	Role string `bun:"role,scanonly"`
	// Through is the slug of the team below by which the person belongs to
	// it; "" for one of its own.
	Through string `bun:"through,scanonly"`
}

// TeamPeople returns who is in a team, by name: its own people and those of
// the teams below it.
func TeamPeople(ctx context.Context, dir db.Directory, teamID int64) ([]*TeamPerson, error) {
	var list []*TeamPerson
	err := dir.NewRaw(`WITH RECURSIVE down AS (SELECT id, slug, 0 AS depth FROM directory.teams WHERE id = ?
			UNION SELECT t.id, t.slug, down.depth + 1 FROM directory.teams t JOIN down ON t.parent_id = down.id)
		SELECT a.*, w.role, w.through FROM (
			SELECT DISTINCT ON (tm.user_id) tm.user_id, CASE down.depth WHEN 0 THEN tm.role ELSE 'member' END AS role,
				CASE down.depth WHEN 0 THEN '' ELSE down.slug END AS through
			FROM directory.team_members tm JOIN down ON down.id = tm.team_id ORDER BY tm.user_id, down.depth, down.slug) w
		JOIN directory.accounts a ON a.id = w.user_id AND a.deleted_at IS NULL ORDER BY a.name_key LIMIT 5000`, teamID).Scan(ctx, &list)
	return list, db.Map(err)
}

// TeamRoleOf is the account's role in the team itself, "" for none.
func TeamRoleOf(ctx context.Context, dir db.Directory, teamID, accountID int64) (string, error) {
	var role string
	err := dir.NewRaw("SELECT coalesce((SELECT role FROM directory.team_members WHERE team_id = ? AND user_id = ?), '')",
		teamID, accountID).Scan(ctx, &role)
	return role, db.Map(err)
}

// SetTeamMember puts a person into a team, or changes the role there.
func SetTeamMember(ctx context.Context, tx db.DirectoryTx, teamID, userID int64, role string) error {
	_, err := tx.NewRaw(`INSERT INTO directory.team_members (team_id, user_id, role, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (team_id, user_id) DO UPDATE SET role = EXCLUDED.role`, teamID, userID, role, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// RemoveTeamMember takes a person out of a team; ErrNotFound when the person
// was not in it.
func RemoveTeamMember(ctx context.Context, tx db.DirectoryTx, teamID, userID int64) error {
	res, err := tx.NewRaw("DELETE FROM directory.team_members WHERE team_id = ? AND user_id = ?", teamID, userID).Exec(ctx)
	return affected(res, err)
}

// TeamsOf returns the teams that a person is in, with their organisations.
func TeamsOf(ctx context.Context, dir db.Directory, userID int64) ([]*model.Team, error) {
	var list []*model.Team
	return list, db.Map(dir.NewSelect().Model(&list).Relation("Parent").Relation("Org").
		Where("t.id IN (SELECT team_id FROM directory.team_members WHERE user_id = ?)", userID).
		Where("org.deleted_at IS NULL").Order("t.org_id", "t.slug").Limit(1000).Scan(ctx))
}

// TeamRepo is a repository with the role that a team has in it.
type TeamRepo struct {
	model.Repo `bun:",extend"`

	Role string `bun:"role,scanonly"`
	// Through is the slug of the team above that gives the role; "" for the
	// team's own.
	Through string `bun:"through,scanonly"`
}

// TeamRepos returns the repositories that a team has a role in, by name: its
// own and those of the teams above it. The highest role counts.
func TeamRepos(ctx context.Context, dir db.Directory, teamID int64) ([]*TeamRepo, error) {
	var list []*TeamRepo
	err := dir.NewRaw(`WITH RECURSIVE up AS (SELECT id, parent_id, slug, 0 AS depth FROM directory.teams WHERE id = ?
			UNION SELECT t.id, t.parent_id, t.slug, up.depth + 1 FROM directory.teams t JOIN up ON t.id = up.parent_id)
		SELECT r.*, w.role, w.through FROM (
			SELECT DISTINCT ON (tr.repo_id) tr.repo_id, tr.role, CASE up.depth WHEN 0 THEN '' ELSE up.slug END AS through
			FROM directory.team_repos tr JOIN up ON up.id = tr.team_id
			ORDER BY tr.repo_id, array_position(ARRAY['admin', 'maintain', 'write', 'triage', 'read'], tr.role), up.depth) w
		JOIN directory.repos r ON r.id = w.repo_id AND r.deleted_at IS NULL ORDER BY r.name_key LIMIT 5000`, teamID).Scan(ctx, &list)
	return list, db.Map(err)
}

// TeamCounts are numbers of a team.
type TeamCounts struct{ Members, Repos, Teams int }

// CountTeams counts what the teams of an organisation hold of their own, by
// team.
func CountTeams(ctx context.Context, dir db.Directory, orgID int64) (map[int64]TeamCounts, error) {
	var rows []struct {
		ID      int64 `bun:"id"`
		Members int   `bun:"members"`
		Repos   int   `bun:"repos"`
		Teams   int   `bun:"teams"`
	}
	err := dir.NewRaw(`SELECT t.id, (SELECT count(*) FROM directory.team_members WHERE team_id = t.id) AS members,
		(SELECT count(*) FROM directory.team_repos WHERE team_id = t.id) AS repos,
		(SELECT count(*) FROM directory.teams c WHERE c.parent_id = t.id) AS teams
		FROM directory.teams t WHERE t.org_id = ?`, orgID).Scan(ctx, &rows)
	out := make(map[int64]TeamCounts, len(rows))
	for _, r := range rows {
		out[r.ID] = TeamCounts{r.Members, r.Repos, r.Teams}
	}
	return out, db.Map(err)
}

// JoinTeams puts a person into those of the teams that belong to the
// organisation.
func JoinTeams(ctx context.Context, tx db.DirectoryTx, orgID, userID int64, teamIDs []int64) error {
	if len(teamIDs) == 0 {
		return nil
	}
	_, err := tx.NewRaw(`INSERT INTO directory.team_members (team_id, user_id, role, created_at)
		SELECT id, ?, 'member', ? FROM directory.teams WHERE org_id = ? AND id IN (?) ON CONFLICT DO NOTHING`,
		userID, tx.Now(), orgID, bun.List(teamIDs)).Exec(ctx)
	return db.Map(err)
}
