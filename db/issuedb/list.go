package issuedb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/uptrace/bun"
)

// Filter says which threads a list holds, and in which order.
type Filter struct {
	Where Cond
	// State restricts to open or closed threads; "" is all. It is apart
	// from Where, because lists show how many there are of each.
	State string
	// AccountID and Role are the viewer's: confidential threads are left
	// out where they may not see them.
	AccountID int64
	Role      model.Role
	// Sort is created (also when empty), updated, comments, reactions, one
	// of model.Reactions(), relevance or closed.
	Sort      string
	Ascending bool
	// Relevance is the text for the order by relevance.
	Relevance     string
	Bodies        bool // read the bodies too
	Limit, Offset int
}

// Page is a part of a list.
type Page struct {
	Issues       []*model.Issue
	Open, Closed int
}

// Total is how many threads the filter matches.
func (p *Page) Total(state string) int {
	switch state {
	case model.StateOpen:
		return p.Open
	case model.StateClosed:
		return p.Closed
	}
	return p.Open + p.Closed
}

func (f Filter) order() sql {
	switch f.Sort {
	case "updated":
		return lit("extract(epoch FROM i.updated_at)")
	case "closed":
		return lit("extract(epoch FROM coalesce(i.closed_at, i.created_at))")
	case "comments":
		return lit("i.comments")
	case "reactions", "interactions":
		return lit("jsonb_array_length(i.reactions)")
	case "relevance":
		if q := tsquery(f.Relevance, ""); q != "" {
			return lit("ts_rank_cd(i.search, to_tsquery('simple', ?))", q)
		}
	}
	for _, r := range model.Reactions() {
		if f.Sort == "reactions-"+r {
			return lit("(SELECT count(*) FROM jsonb_array_elements(i.reactions) x WHERE x->>'content' = ?)", r)
		}
	}
	return lit("i.number")
}

// List returns a page of threads and how many open and closed ones match, in
// one query.
func List(ctx context.Context, repo db.Repo, f Filter) (*Page, error) {
	page := &Page{}
	var rows []struct {
		model.Issue `bun:",extend"`

		Open   int `bun:"n_open,scanonly"`
		Closed int `bun:"n_closed,scanonly"`
	}
	err := repo.List(ctx, threaddb.Domain, func(q bun.IDB) error {
		where := join([]Cond{f.Where, visible(f.AccountID, f.Role)}, " AND ", "true")
		dir := " DESC"
		if f.Ascending {
			dir = ""
		}
		found := q.NewSelect().TableExpr("?scope.issues AS i").ColumnExpr("i.number, i.state").
			ColumnExpr("? AS k", f.order().query()).Where("?", where.query())
		part := q.NewSelect().TableExpr("found").ColumnExpr("number, k").OrderExpr("k" + dir + ", number" + dir).
			Limit(int64(f.Limit)).Offset(int64(f.Offset))
		if f.State != "" {
			part.Where("state = ?", f.State)
		}
		s := q.NewSelect().Model(&rows).With("found", found).ModelTableExpr("(?) AS c",
			q.NewSelect().TableExpr("found").ColumnExpr("count(*) FILTER (WHERE state = 'open') AS n_open").
				ColumnExpr("count(*) FILTER (WHERE state <> 'open') AS n_closed")).
			Join("LEFT JOIN (?) AS p ON true", part).
			Join("LEFT JOIN ?scope.issues AS i ON i.number = p.number").
			ColumnExpr("c.n_open, c.n_closed").ColumnExpr(columns(f.Bodies)).
			OrderExpr("p.k" + dir + ", p.number" + dir)
		return s.Scan(ctx)
	})
	for i := range rows {
		page.Open, page.Closed = rows[i].Open, rows[i].Closed
		if rows[i].Number != 0 {
			page.Issues = append(page.Issues, &rows[i].Issue)
		}
	}
	return page, err
}

func columns(bodies bool) string {
	const all = `i.number, i.id, i.kind, i.title, i.state, i.state_reason, i.author_id, i.label_ids, i.assignee_ids,
		i.milestone_id, i.issue_type, i.parent, i.children, i.blocked_by, i.blocking, i.duplicate_of, i.tasks, i.tasks_done,
		i.comments, i.reactions, i.locked, i.confidential, i.draft, i.pinned_at, i.version, i.closed_by, i.closed_at, i.edited_at,
		i.created_at, i.updated_at`
	if bodies {
		return all + ", i.body, i.refs"
	}
	return all
}

// OpenList is List for the page of open or closed threads of kinds without
// any other condition, without counting: the scope's counters know how many.
func OpenList(ctx context.Context, repo db.Repo, f Filter) ([]*model.Issue, error) {
	var rows []*model.Issue
	err := repo.List(ctx, threaddb.Domain, func(q bun.IDB) error {
		where := join([]Cond{f.Where, visible(f.AccountID, f.Role)}, " AND ", "true")
		dir := " DESC"
		if f.Ascending {
			dir = ""
		}
		s := q.NewSelect().Model(&rows).ColumnExpr(columns(f.Bodies)).Where("?", where.query()).
			OrderExpr("?"+dir+", i.number"+dir, f.order().query()).Limit(int64(f.Limit)).Offset(int64(f.Offset))
		if f.State != "" {
			s.Where("i.state = ?", f.State)
		}
		return s.Scan(ctx)
	})
	return rows, err
}

// PinnedList returns the pinned threads of a kind, oldest pin first.
func PinnedList(ctx context.Context, repo db.Repo, kind string) ([]*model.Issue, error) {
	var rows []*model.Issue
	err := repo.List(ctx, threaddb.Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(&rows).ColumnExpr(columns(false)).Where("kind = ? AND pinned_at IS NOT NULL", kind).
			OrderExpr("pinned_at").Scan(ctx)
	})
	return rows, err
}

// Recount counts the open and closed threads of a kind, for repairing the
// scope's counters.
func Recount(ctx context.Context, repo db.Repo, kind string) (open, closed int64, err error) {
	err = repo.List(ctx, threaddb.Domain, func(q bun.IDB) error {
		return q.NewRaw(`SELECT count(*) FILTER (WHERE state = 'open'), count(*) FILTER (WHERE state <> 'open')
			FROM ?scope.issues WHERE kind = ?`, kind).Scan(ctx, &open, &closed)
	})
	return open, closed, err
}

// ByID returns a thread by its id.
func ByID(ctx context.Context, repo db.Repo, id int64) (*model.Issue, error) {
	issue := new(model.Issue)
	err := repo.Find(ctx, threaddb.Domain, func(q bun.IDB) error {
		return q.NewSelect().Model(issue).Where("id = ?", id).Limit(1).Scan(ctx)
	})
	return issue, err
}
