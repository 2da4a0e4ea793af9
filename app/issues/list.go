package issues

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/issuedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// ListInput asks for a page of threads.
type ListInput struct {
	// Kind is model.KindIssue or model.KindPull; "" is both.
	Kind string
	// Query is in the query language.
	Query string
	// Where is asked for beside the query.
	Where         []issuedb.Cond
	State         string // used where the query has none; "" is all
	Sort          string // used where the query has none
	Ascending     bool
	Bodies        bool
	Limit, Offset int
}

// ListResult is a page of threads with what is needed to show it.
type ListResult struct {
	Issues       []*model.Issue
	Open, Closed int
	Facts        *threaddb.Context
	People       *accountdb.People
	// State and Sort are what the query asked for.
	State, Sort string
	// Unknown are values in the query that name nothing.
	Unknown []string
}

// Total is how many threads of the asked state there are.
func (r *ListResult) Total() int {
	return (&issuedb.Page{Open: r.Open, Closed: r.Closed}).Total(r.State)
}

// List returns a page of the threads that match, in three queries: the facts,
// the threads, and the people; one more when the query names people.
func (s *Service) List(ctx context.Context, p threads.Place, in ListInput) (*ListResult, error) {
	repo := s.DB.Repo(p.Repo.ID)
	facts, err := threaddb.LoadContext(ctx, repo, 0, p.Viewer.ID())
	if err != nil {
		return nil, err
	}
	tree := Parse(in.Query)
	r := &resolver{p: p, facts: facts, now: time.Now(), filter: issuedb.Filter{State: in.State, Sort: in.Sort, Ascending: in.Ascending}}
	if some := names(tree); len(some) > 0 {
		if r.people, err = accountdb.ByNames(ctx, s.DB.Directory(), some); err != nil {
			return nil, err
		}
	}
	r.resolve(tree)
	f := r.filter
	plain := len(f.Where.Kids) == 0 && len(in.Where) == 0
	f.Where.Kids = append(f.Where.Kids, in.Where...)
	if in.Kind != "" {
		f.Where.Kids = append(f.Where.Kids, issuedb.Cond{Field: issuedb.Kind, Text: in.Kind})
	}
	f.AccountID, f.Role, f.Bodies, f.Limit, f.Offset = p.Viewer.ID(), p.Role, in.Bodies, in.Limit, in.Offset
	out := &ListResult{Facts: facts, State: f.State, Sort: f.Sort, Unknown: r.unknown}
	if plain && in.Kind != "" && (facts.Counts["confidential"] == 0 || p.Role.AtLeast(model.RoleTriage)) {
		// The counters know how many there are.
		out.Open, out.Closed = int(facts.Counts["open_"+in.Kind+"s"]), int(facts.Counts["closed_"+in.Kind+"s"])
		out.Issues, err = issuedb.OpenList(ctx, repo, f)
	} else {
		var page *issuedb.Page
		if page, err = issuedb.List(ctx, repo, f); err == nil {
			out.Issues, out.Open, out.Closed = page.Issues, page.Open, page.Closed
		}
	}
	if err != nil {
		return nil, err
	}
	out.People, err = s.peopleOf(ctx, p.Repo, facts, out.Issues)
	return out, err
}

// peopleOf looks up everyone whom a list of threads shows.
func (s *Service) peopleOf(ctx context.Context, repo *model.Repo, facts *threaddb.Context, list []*model.Issue) (*accountdb.People, error) {
	var ids []int64
	for _, i := range list {
		ids = append(append(ids, i.AuthorID, i.ClosedBy), i.AssigneeIDs...)
	}
	if facts != nil {
		for _, m := range facts.Milestones {
			ids = append(ids, m.CreatorID)
		}
	}
	return accountdb.PeopleOf(ctx, s.DB.Directory(), repo, ids, nil)
}
