package threaddb

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

func prefix(number int64) string { return strconv.FormatInt(number, 10) + "/" }

// Put adds or replaces a record.
func Put(ctx context.Context, tx *db.RepoTx, kind, key string, id int64, data any) error {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	doc, err := json.Marshal(data)
	if err != nil {
		return err
	}
	row := &model.IssueRecord{Kind: kind, Key: key, ID: id, Data: doc, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	_, err = q.NewInsert().Model(row).On("CONFLICT (kind, key) DO UPDATE").
		Set("id = EXCLUDED.id").Set("data = EXCLUDED.data").Set("updated_at = EXCLUDED.updated_at").
		Returning("NULL").Exec(ctx)
	return err
}

// Drop removes a record and says whether there was one.
func Drop(ctx context.Context, tx *db.RepoTx, kind, key string) (bool, error) {
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return false, err
	}
	res, err := q.NewDelete().Model((*model.IssueRecord)(nil)).Where("kind = ? AND key = ?", kind, key).Exec(ctx)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// Records returns the records of a kind whose keys begin with prefix.
func Records(ctx context.Context, repo db.Repo, kind, prefix string) ([]*model.IssueRecord, error) {
	var rows []*model.IssueRecord
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		s := q.NewSelect().Model(&rows).Where("kind = ?", kind).Order("key")
		if prefix != "" {
			s.Where("key LIKE ?", prefix+"%")
		}
		return s.Scan(ctx)
	})
	return rows, err
}

// Record returns one record.
func Record(ctx context.Context, repo db.Repo, kind, key string) (*model.IssueRecord, error) {
	row := new(model.IssueRecord)
	err := repo.Find(ctx, Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(row).Where("kind = ? AND key = ?", kind, key).Scan(ctx)
	})
	return row, err
}

// Subscription is what an account chose for one thread.
type Subscription struct {
	AccountID int64     `json:"-"`
	Ignored   bool      `json:"ignored"`
	CreatedAt time.Time `json:"-"`
}

// Subscribe keeps what an account chose for a thread.
func Subscribe(ctx context.Context, tx *db.RepoTx, number, accountID int64, s Subscription) error {
	return Put(ctx, tx, model.RecordSubscription, prefix(number)+strconv.FormatInt(accountID, 10), accountID, s)
}

// Unsubscribe forgets what an account chose for a thread.
func Unsubscribe(ctx context.Context, tx *db.RepoTx, number, accountID int64) error {
	_, err := Drop(ctx, tx, model.RecordSubscription, prefix(number)+strconv.FormatInt(accountID, 10))
	return err
}

// Subscriptions returns what accounts chose for a thread, by account id.
func Subscriptions(ctx context.Context, repo db.Repo, number int64) (map[int64]Subscription, error) {
	rows, err := Records(ctx, repo, model.RecordSubscription, prefix(number))
	if err != nil {
		return nil, err
	}
	out := make(map[int64]Subscription, len(rows))
	for _, r := range rows {
		s := Subscription{AccountID: r.ID, CreatedAt: r.CreatedAt}
		if err := json.Unmarshal(r.Data, &s); err != nil {
			return nil, fmt.Errorf("subscription %s: %w", r.Key, err)
		}
		out[r.ID] = s
	}
	return out, nil
}

// KeepEdit keeps what a text was before an edit. comment is 0 for the
// thread's first post.
func KeepEdit(ctx context.Context, tx *db.RepoTx, number, comment int64, e model.Edit) error {
	key := fmt.Sprintf("%s%d/%08d", prefix(number), comment, e.Version)
	return Put(ctx, tx, model.RecordEdit, key, e.By, e)
}

// Edits returns the former texts of a post, oldest first; comment is 0 for
// the thread's first post. CreatedAt is when the text was replaced.
func Edits(ctx context.Context, repo db.Repo, number, comment int64) ([]model.Edit, error) {
	rows, err := Records(ctx, repo, model.RecordEdit, fmt.Sprintf("%s%d/", prefix(number), comment))
	if err != nil {
		return nil, err
	}
	out := make([]model.Edit, len(rows))
	for i, r := range rows {
		if err := json.Unmarshal(r.Data, &out[i]); err != nil {
			return nil, fmt.Errorf("edit %s: %w", r.Key, err)
		}
		out[i].CreatedAt = r.CreatedAt
	}
	return out, nil
}

// Context is what a repository's pages about threads need beside the threads:
// its labels, milestones, and the counters of its scope.
type Context struct {
	Labels     []*model.Label
	Milestones []*model.Milestone
	Counts     db.Counts
	// Views are the saved views that everyone sees, and the account's own.
	Views []*model.SavedView
	// Mine is the account's choice for the thread that was asked for.
	Mine *Subscription
	// Known are the threads that texts of that thread refer to.
	Known map[int64]*model.Issue
	// Pinned are the pinned threads, the first pinned first; only when no
	// thread was asked for.
	Pinned []*model.Issue
}

// contextQuery is the query of LoadContext: ?0 the thread, ?1 the scope, ?2
// the key of the account's choice. It is put together so that the planner
// finds the threads by their key.
func contextQuery(number int64) string {
	which := `pinned_at IS NOT NULL AND coalesce((SELECT (counts->>'pinned')::bigint FROM cell.scopes WHERE scope = ?1), 0) > 0`
	if number != 0 {
		which = `number IN (
			SELECT unnest(refs || children || blocked_by || blocking || ARRAY[parent, duplicate_of]) FROM ?scope.issues WHERE number = ?0
			UNION SELECT unnest(refs) FROM ?scope.timeline WHERE number = ?0
			UNION SELECT (data->>'number')::bigint FROM ?scope.timeline
				WHERE number = ?0 AND data->'number' IS NOT NULL AND data->'repo' IS NULL)`
	}
	return `SELECT kind, key, id, data, created_at, updated_at FROM ?scope.issue_records
		WHERE kind IN ('label', 'milestone', 'view') OR kind = 'subscription' AND key = ?2
		UNION ALL SELECT 'counts', '', 0, counts, now(), now() FROM cell.scopes WHERE scope = ?1
		UNION ALL SELECT 'known', '', number, jsonb_build_object('kind', kind, 'title', title, 'state', state,
			'reason', state_reason, 'author', author_id, 'assignees', assignee_ids, 'confidential', confidential, 'draft', draft),
			coalesce(pinned_at, created_at), now()
			FROM ?scope.issues WHERE ` + which
}

// LoadContext reads a Context in one query. number and accountID may be 0.
func LoadContext(ctx context.Context, repo db.Repo, number, accountID int64) (*Context, error) {
	c := &Context{Counts: db.Counts{}, Known: map[int64]*model.Issue{}}
	read := false
	var rows []model.IssueRecord
	err := repo.List(ctx, Domain, func(q bun.IDB) error {
		read = true
		return q.NewRaw(contextQuery(number),
			number, repo.Scope().String(), prefix(number)+strconv.FormatInt(accountID, 10)).Scan(ctx, &rows)
	})
	if err != nil {
		return nil, err
	}
	if !read {
		c.Labels = model.DefaultLabels()
		c.Counts, err = repo.Counts(ctx)
		return c, err
	}
	for i := range rows {
		if err := c.take(&rows[i], number, accountID); err != nil {
			return nil, fmt.Errorf("record %s %s: %w", rows[i].Kind, rows[i].Key, err)
		}
	}
	SortLabels(c.Labels)
	sort.Slice(c.Pinned, func(i, j int) bool { return c.Pinned[i].CreatedAt.Before(c.Pinned[j].CreatedAt) })
	sort.Slice(c.Milestones, func(i, j int) bool { return c.Milestones[i].Number < c.Milestones[j].Number })
	return c, nil
}

func (c *Context) take(r *model.IssueRecord, asked, account int64) error {
	switch r.Kind {
	case model.RecordLabel:
		l, err := Label(r)
		c.Labels = append(c.Labels, l)
		return err
	case model.RecordMilestone:
		m, err := Milestone(r)
		c.Milestones = append(c.Milestones, m)
		return err
	case model.RecordView:
		v := &model.SavedView{ID: r.ID}
		err := json.Unmarshal(r.Data, v)
		if v.Shared || v.By == account {
			c.Views = append(c.Views, v)
		}
		return err
	case model.RecordSubscription:
		c.Mine = &Subscription{AccountID: r.ID, CreatedAt: r.CreatedAt}
		return json.Unmarshal(r.Data, c.Mine)
	case "counts":
		return json.Unmarshal(r.Data, &c.Counts)
	case "known":
		var k struct {
			Kind, Title, State, Reason string
			Author                     int64
			Assignees                  []int64
			Confidential, Draft        bool
		}
		err := json.Unmarshal(r.Data, &k)
		i := &model.Issue{Number: r.ID, Kind: k.Kind, Title: k.Title, State: k.State, StateReason: k.Reason,
			AuthorID: k.Author, AssigneeIDs: k.Assignees, Confidential: k.Confidential, Draft: k.Draft, CreatedAt: r.CreatedAt}
		if c.Known[r.ID] = i; asked == 0 {
			c.Pinned = append(c.Pinned, i)
		}
		return err
	}
	return nil
}

// SortLabels puts labels in the order of their names.
func SortLabels(labels []*model.Label) {
	sort.Slice(labels, func(i, j int) bool { return model.Key(labels[i].Name) < model.Key(labels[j].Name) })
}

// Label reads a label's record.
func Label(r *model.IssueRecord) (*model.Label, error) {
	l := &model.Label{ID: r.ID}
	return l, json.Unmarshal(r.Data, l)
}

// Milestone reads a milestone's record.
func Milestone(r *model.IssueRecord) (*model.Milestone, error) {
	m := &model.Milestone{ID: r.ID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	return m, json.Unmarshal(r.Data, m)
}

// CountMilestones brings the counts of milestones up to date after a change of
// their threads; ids of 0 are left out.
func CountMilestones(ctx context.Context, tx *db.RepoTx, ids ...int64) error {
	var some []int64
	for _, id := range ids {
		if id != 0 {
			some = append(some, id)
		}
	}
	if len(some) == 0 {
		return nil
	}
	q, err := tx.Write(ctx, Domain)
	if err != nil {
		return err
	}
	_, err = q.NewRaw(`UPDATE ?scope.issue_records r SET data = r.data || c.counts
		FROM (SELECT m.id, jsonb_build_object('open_issues', count(i.number) FILTER (WHERE i.state = 'open'),
				'closed_issues', count(i.number) FILTER (WHERE i.state <> 'open')) AS counts
			FROM ?scope.issue_records m LEFT JOIN ?scope.issues i ON i.milestone_id = m.id
			WHERE m.kind = 'milestone' AND m.id IN (?) GROUP BY m.id) c
		WHERE r.kind = 'milestone' AND r.id = c.id`, bun.List(some)).Exec(ctx)
	return err
}

// InsertLabel adds a label and fills in its id.
func InsertLabel(ctx context.Context, tx *db.RepoTx, l *model.Label) error {
	for l.ID <= model.ReservedLabelIDs {
		id, err := tx.NextID(ctx)
		if err != nil {
			return err
		}
		l.ID = id
	}
	return Put(ctx, tx, model.RecordLabel, model.Key(l.Name), l.ID, l)
}
