package accessdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// PutInvitation adds an invitation, or gives the one that this account has the
// new role and time. Its ID is set.
func PutInvitation(ctx context.Context, tx db.DirectoryTx, inv *model.Invitation) error {
	inv.CreatedAt = tx.Now()
	if inv.AccountID != 0 {
		_, err := tx.NewDelete().Model((*model.Invitation)(nil)).Where("account_id = ?", inv.AccountID).
			Where("repo_id = ? OR org_id = ?", inv.RepoID, inv.OrgID).Exec(ctx)
		if err != nil {
			return db.Map(err)
		}
	}
	if inv.TeamIDs == nil {
		inv.TeamIDs = []int64{}
	}
	q := tx.NewInsert().Model(inv).Returning("id")
	if inv.ID == 0 {
		q = q.ExcludeColumn("id")
	}
	_, err := q.Exec(ctx)
	return db.Map(err)
}

func invitations(dir db.Directory, list any) *bun.SelectQuery {
	return dir.NewSelect().Model(list).Relation("Account").Relation("Inviter").Relation("Org").Order("inv.id")
}

// ToRepo returns a repository's invitations, the oldest first.
func ToRepo(ctx context.Context, dir db.Directory, repoID int64) ([]*model.Invitation, error) {
	var list []*model.Invitation
	return list, db.Map(invitations(dir, &list).Where("inv.repo_id = ?", repoID).Limit(1000).Scan(ctx))
}

// ToOrg returns an organisation's invitations, the oldest first.
func ToOrg(ctx context.Context, dir db.Directory, orgID int64) ([]*model.Invitation, error) {
	var list []*model.Invitation
	return list, db.Map(invitations(dir, &list).Where("inv.org_id = ?", orgID).Limit(1000).Scan(ctx))
}

// Of returns the invitations of an account, the oldest first: to
// repositories, or to organisations.
func Of(ctx context.Context, dir db.Directory, accountID int64, toOrgs bool) ([]*model.Invitation, error) {
	var list []*model.Invitation
	q := invitations(dir, &list).Where("inv.account_id = ?", accountID).Limit(1000)
	if toOrgs {
		q = q.Where("inv.org_id IS NOT NULL")
	} else {
		q = q.Where("inv.repo_id IN (SELECT id FROM directory.repos WHERE deleted_at IS NULL)")
	}
	return list, db.Map(q.Scan(ctx))
}

// Invitation returns one by its id.
func Invitation(ctx context.Context, dir db.Directory, id int64) (*model.Invitation, error) {
	inv := new(model.Invitation)
	return inv, db.Map(invitations(dir, inv).Where("inv.id = ?", id).Scan(ctx))
}

// ByHash returns the invitation whose link has a token with this SHA-256.
func ByHash(ctx context.Context, dir db.Directory, hash []byte) (*model.Invitation, error) {
	inv := new(model.Invitation)
	return inv, db.Map(invitations(dir, inv).Where("inv.hash = ?", hash).Scan(ctx))
}

// SetInvitationRole changes what an invitation offers.
func SetInvitationRole(ctx context.Context, tx db.DirectoryTx, id int64, role string) error {
	res, err := tx.NewRaw("UPDATE directory.invitations SET role = ? WHERE id = ?", role, id).Exec(ctx)
	return affected(res, err)
}

// DropInvitation forgets an invitation; ErrNotFound when it is gone, so that
// of two who accept it at once one is refused.
func DropInvitation(ctx context.Context, tx db.DirectoryTx, id int64) error {
	res, err := tx.NewRaw("DELETE FROM directory.invitations WHERE id = ?", id).Exec(ctx)
	return affected(res, err)
}
