package accountdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// TeamsWith returns those of the teams that a person is in, by themselves or
// through a team below.
func TeamsWith(ctx context.Context, dir db.Directory, teams []int64, account int64) ([]int64, error) {
	if len(teams) == 0 {
		return nil, nil
	}
	var ids []int64
	err := dir.NewRaw(`WITH RECURSIVE above AS (
			SELECT t.id, t.parent_id FROM directory.teams t JOIN directory.team_members m ON m.team_id = t.id WHERE m.user_id = ?0
			UNION SELECT t.id, t.parent_id FROM directory.teams t JOIN above ON above.parent_id = t.id)
		SELECT id FROM above WHERE id IN (?1)`, account, bun.List(teams)).Scan(ctx, &ids)
	return ids, db.Map(err)
}

// TeamsByIDs returns teams with their organisations, by id.
func TeamsByIDs(ctx context.Context, dir db.Directory, ids []int64) (map[int64]*model.Team, error) {
	out := map[int64]*model.Team{}
	if len(ids) == 0 {
		return out, nil
	}
	var rows []*model.Team
	err := dir.NewSelect().Model(&rows).Relation("Org").Where("t.id IN (?)", bun.List(ids)).Scan(ctx)
	for _, t := range rows {
		out[t.ID] = t
	}
	return out, db.Map(err)
}

// TeamsByNames returns teams by the Key of org/team.
func TeamsByNames(ctx context.Context, dir db.Directory, names []string) (map[string]*model.Team, error) {
	out := map[string]*model.Team{}
	if len(names) == 0 {
		return out, nil
	}
	keys := make([]string, len(names))
	for i, n := range names {
		keys[i] = model.Key(n)
	}
	var rows []*model.Team
	err := dir.NewSelect().Model(&rows).Relation("Org").Where("org.name_key || '/' || lower(t.slug) IN (?)", bun.List(keys)).
		Where("org.deleted_at IS NULL").Scan(ctx)
	for _, t := range rows {
		out[model.Key(t.Org.Name+"/"+t.Slug)] = t
	}
	return out, db.Map(err)
}
