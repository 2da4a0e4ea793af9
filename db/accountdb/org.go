package accountdb

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// OrgsOf returns the organisations that the user belongs to, by name.
func OrgsOf(ctx context.Context, dir db.Directory, userID int64) ([]*model.Account, error) {
	var orgs []*model.Account
	err := dir.NewSelect().Model(&orgs).Where("deleted_at IS NULL").
		Where("id IN (SELECT org_id FROM directory.org_members WHERE user_id = ?)", userID).Order("name_key").Scan(ctx)
	return orgs, db.Map(err)
}

// InsertOrg adds an organisation with its first owner.
func InsertOrg(ctx context.Context, tx db.DirectoryTx, a *model.Account, ownerID int64) error {
	if err := Insert(ctx, tx, a); err != nil {
		return err
	}
	return AddMember(ctx, tx, a.ID, ownerID, "owner")
}

// Member is a person in an organisation.
type Member struct {
	model.Account `bun:",extend"`

	Role   string `bun:"role,scanonly"`
	Public bool   `bun:"public,scanonly"`
}

// Members returns an organisation's people by name, at most limit.
func Members(ctx context.Context, dir db.Directory, orgID int64, publicOnly bool, limit, offset int64) ([]*Member, error) {
	var list []*Member
	q := dir.NewSelect().Model(&list).ColumnExpr("a.*").ColumnExpr("m.role, m.public").
		Join("JOIN directory.org_members m ON m.user_id = a.id").
		Where("m.org_id = ? AND a.deleted_at IS NULL", orgID).Order("a.name_key").Limit(limit).Offset(offset)
	if publicOnly {
		q = q.Where("m.public")
	}
	return list, db.Map(q.Scan(ctx))
}

// AddMember puts a person into an organisation, or changes the role.
func AddMember(ctx context.Context, tx db.DirectoryTx, orgID, userID int64, role string) error {
	_, err := tx.NewRaw(`INSERT INTO directory.org_members (org_id, user_id, role, public, created_at) VALUES (?, ?, ?, false, ?)
		ON CONFLICT (org_id, user_id) DO UPDATE SET role = EXCLUDED.role`, orgID, userID, role, tx.Now()).Exec(ctx)
	return db.Map(err)
}

// RemoveMember takes a person out of an organisation and its teams.
// ErrNotFound when the person was not in it.
func RemoveMember(ctx context.Context, tx db.DirectoryTx, orgID, userID int64) error {
	_, err := tx.NewRaw(`DELETE FROM directory.team_members WHERE user_id = ? AND team_id IN (
		SELECT id FROM directory.teams WHERE org_id = ?)`, userID, orgID).Exec(ctx)
	if err != nil {
		return db.Map(err)
	}
	res, err := tx.NewRaw("DELETE FROM directory.org_members WHERE org_id = ? AND user_id = ?", orgID, userID).Exec(ctx)
	return affected(res, err)
}

// Owners counts an organisation's owners, whose rows stay locked.
func Owners(ctx context.Context, tx db.DirectoryTx, orgID int64) (int, error) {
	var ids []int64
	err := tx.NewRaw("SELECT user_id FROM directory.org_members WHERE org_id = ? AND role = 'owner' FOR UPDATE", orgID).Scan(ctx, &ids)
	return len(ids), db.Map(err)
}

// PublicOrgsOf returns the organisations that the user belongs to and that
// the viewer may know of: those shown in public, and those of both.
func PublicOrgsOf(ctx context.Context, dir db.Directory, userID, viewerID int64) ([]*model.Account, error) {
	var orgs []*model.Account
	err := dir.NewSelect().Model(&orgs).Where("deleted_at IS NULL").
		Where(`id IN (SELECT m.org_id FROM directory.org_members m WHERE m.user_id = ?0 AND (m.public OR EXISTS (
			SELECT FROM directory.org_members v WHERE v.org_id = m.org_id AND v.user_id = ?1)))`, userID, viewerID).
		Order("name_key").Scan(ctx)
	return orgs, db.Map(err)
}

// TeamMembers returns the people of a team, by the Key of org/team; none when
// there is no such team.
func TeamMembers(ctx context.Context, dir db.Directory, key string) ([]int64, error) {
	org, team, _ := strings.Cut(key, "/")
	var ids []int64
	err := dir.NewRaw(`WITH RECURSIVE below AS (
			SELECT t.id FROM directory.teams t JOIN directory.accounts o ON o.id = t.org_id
				WHERE o.name_key = ?0 AND o.deleted_at IS NULL AND lower(t.slug) = ?1
			UNION SELECT t.id FROM directory.teams t JOIN below ON t.parent_id = below.id)
		SELECT DISTINCT user_id FROM directory.team_members WHERE team_id IN (SELECT id FROM below)`, org, team).Scan(ctx, &ids)
	return ids, db.Map(err)
}

// SaveRules writes an organisation's base role and settings.
func SaveRules(ctx context.Context, tx db.DirectoryTx, a *model.Account) error {
	a.UpdatedAt = tx.Now()
	res, err := tx.NewUpdate().Model(a).Column("base_role", "settings", "updated_at").WherePK().Exec(ctx)
	return affected(res, err)
}

// SetPublicMember sets whether everybody may see that a person belongs to an
// organisation.
func SetPublicMember(ctx context.Context, tx db.DirectoryTx, orgID, userID int64, public bool) error {
	res, err := tx.NewRaw("UPDATE directory.org_members SET public = ? WHERE org_id = ? AND user_id = ?", public, orgID, userID).Exec(ctx)
	return affected(res, err)
}
