package issuedb

import (
	"context"
	"fmt"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/uptrace/bun"
)

// Labels returns the repository's labels in the order of their names.
func Labels(ctx context.Context, repo db.Repo) ([]*model.Label, error) {
	c, err := threaddb.LoadContext(ctx, repo, 0, 0)
	if err != nil {
		return nil, err
	}
	return c.Labels, nil
}

// UpdateLabel writes a label whose name was old.
func UpdateLabel(ctx context.Context, tx *db.RepoTx, old string, l *model.Label) error {
	if model.Key(old) != model.Key(l.Name) {
		if _, err := threaddb.Drop(ctx, tx, model.RecordLabel, model.Key(old)); err != nil {
			return err
		}
	}
	return threaddb.Put(ctx, tx, model.RecordLabel, model.Key(l.Name), l.ID, l)
}

// DeleteLabel removes a label, from the threads too.
func DeleteLabel(ctx context.Context, tx *db.RepoTx, l *model.Label) error {
	q, err := tx.Write(ctx, threaddb.Domain)
	if err != nil {
		return err
	}
	if _, err := threaddb.Drop(ctx, tx, model.RecordLabel, model.Key(l.Name)); err != nil {
		return err
	}
	_, err = q.NewUpdate().Model((*model.Issue)(nil)).Set("label_ids = array_remove(label_ids, ?)", l.ID).
		Where("label_ids @> ARRAY[?]::bigint[]", l.ID).Exec(ctx)
	return err
}

// LabelUse counts the open threads by label id.
func LabelUse(ctx context.Context, repo db.Repo) (map[int64]int, error) {
	return counted(ctx, repo, `SELECT l AS id, count(*) AS n FROM ?scope.issues, unnest(label_ids) l WHERE state = 'open' GROUP BY l`)
}

func counted(ctx context.Context, repo db.Repo, query string, args ...any) (map[int64]int, error) {
	out := map[int64]int{}
	var rows []struct {
		ID int64 `bun:"id"`
		N  int   `bun:"n"`
	}
	err := repo.List(ctx, threaddb.Domain, func(q bun.IDB) error { return q.NewRaw(query, args...).Scan(ctx, &rows) })
	for _, r := range rows {
		out[r.ID] = r.N
	}
	return out, err
}

// Milestones returns the repository's milestones by number.
func Milestones(ctx context.Context, repo db.Repo) ([]*model.Milestone, error) {
	c, err := threaddb.LoadContext(ctx, repo, 0, 0)
	if err != nil {
		return nil, err
	}
	return c.Milestones, nil
}

// SaveMilestone adds or replaces a milestone; a new one gets its id.
func SaveMilestone(ctx context.Context, tx *db.RepoTx, m *model.Milestone) (err error) {
	if m.ID == 0 {
		if m.ID, err = tx.NextID(ctx); err != nil {
			return err
		}
		m.CreatedAt = tx.Now()
	}
	m.UpdatedAt = tx.Now()
	return threaddb.Put(ctx, tx, model.RecordMilestone, milestoneKey(m.Number), m.ID, m)
}

func milestoneKey(number int64) string { return fmt.Sprintf("%08d", number) }

// DeleteMilestone removes a milestone, from the threads too.
func DeleteMilestone(ctx context.Context, tx *db.RepoTx, m *model.Milestone) error {
	q, err := tx.Write(ctx, threaddb.Domain)
	if err != nil {
		return err
	}
	if _, err := threaddb.Drop(ctx, tx, model.RecordMilestone, milestoneKey(m.Number)); err != nil {
		return err
	}
	_, err = q.NewUpdate().Model((*model.Issue)(nil)).Set("milestone_id = NULL").Where("milestone_id = ?", m.ID).Exec(ctx)
	return err
}
