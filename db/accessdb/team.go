package accessdb

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
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
