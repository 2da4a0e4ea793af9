package accountdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
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
