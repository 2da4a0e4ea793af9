// Package involvement keeps, in each account's own scope, an index of what the
// account has to do with threads anywhere: what it wrote, is assigned to, was
// asked to review or reviewed. Events feed it, a backfill builds it anew. What
// an account may not read any more is left out at every read, so no title of
// it appears.
//
// Domain: account/involvement. Queries: db/involvementdb. The panels of the
// dashboard: views/siteview.
package involvement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/state"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/involvementdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// Service keeps and reads the index.
type Service struct{ DB *db.DB }

// Subscriber is what feeds the index.
func (s *Service) Subscriber() events.Subscriber {
	var types []string
	for _, kind := range []string{model.KindIssue, model.KindPull} {
		for _, what := range []string{"opened", "edited", "closed", "reopened", "assigned", "unassigned", "transferred", "deleted",
			"made_confidential", "made_public"} {
			types = append(types, kind+"."+what)
		}
	}
	types = append(types, "pull.merged", "pull.ready_for_review", "pull.review_requested", "pull.review_request_removed", "review.*")
	return events.Subscriber{Service: "notify", Name: "involvement.follow", Types: types, Handle: s.follow}
}

// told is what the events tell of people; those who are no longer involved
// stand only there.
type told struct {
	Number         int64   `json:"number"`
	AuthorID       int64   `json:"authorId"`
	AssigneeIDs    []int64 `json:"assigneeIds"`
	AssigneeID     int64   `json:"assigneeId"`
	ReviewerIDs    []int64 `json:"reviewerIds"`
	ReviewerID     int64   `json:"reviewerId"`
	ReviewAuthorID int64   `json:"reviewAuthorId"`
}

// follow writes what is so now for everybody whom the event may concern.
func (s *Service) follow(ctx context.Context, e *model.Event) error {
	var t told
	if err := json.Unmarshal(e.Data, &t); err != nil {
		return fmt.Errorf("event %s: %w", e.EventID, err)
	}
	if t.Number == 0 || e.RepoID == 0 {
		return nil
	}
	threads, err := involvementdb.Threads(ctx, s.DB.Repo(e.RepoID), 0, 1, t.Number)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	rows := map[int64][]*model.Involvement{}
	for _, id := range slices.Concat(t.AssigneeIDs, t.ReviewerIDs, []int64{t.AuthorID, t.AssigneeID, t.ReviewerID, t.ReviewAuthorID}) {
		// Whoever is involved no longer has no role.
		rows[id] = []*model.Involvement{{RepoID: e.RepoID, Number: t.Number, Roles: []string{}, Seq: e.Seq, UpdatedAt: e.Time}}
	}
	for _, thread := range threads {
		for id, row := range rolesOf(e.RepoID, thread, e.Seq) {
			rows[id] = []*model.Involvement{row}
		}
	}
	return s.write(ctx, rows)
}

// rolesOf is who has to do with a thread.
func rolesOf(repoID int64, t *involvementdb.Thread, seq int64) map[int64]*model.Involvement {
	out := map[int64]*model.Involvement{}
	add := func(role string, ids ...int64) {
		for _, id := range ids {
			if id == 0 {
				continue
			}
			row := out[id]
			if row == nil {
				row = &model.Involvement{RepoID: repoID, Number: t.Number, Pull: t.IsPull(), Open: t.Open(), Title: t.Title, Seq: seq, UpdatedAt: t.UpdatedAt}
				out[id] = row
			}
			row.Roles = append(row.Roles, role)
		}
	}
	add(model.InvolvedAuthor, t.AuthorID)
	add(model.InvolvedAssignee, t.AssigneeIDs...)
	add(model.InvolvedReviewer, t.ReviewerIDs...)
	add(model.InvolvedReviewed, t.ReviewedIDs...)
	return out
}

// write writes each account's rows in a transaction of its own. An account
// that is gone has none.
func (s *Service) write(ctx context.Context, rows map[int64][]*model.Involvement) error {
	for id, list := range rows {
		if id == 0 {
			continue
		}
		err := s.DB.InAccount(ctx, id, func(ctx context.Context, tx *db.AccountTx) error {
			return involvementdb.Put(ctx, tx, list)
		})
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return fmt.Errorf("involvement of account %d: %w", id, err)
		}
	}
	return nil
}

// most is how many open threads are looked at for the lists.
const most = 500

// Lists are the open threads that wait for an account, and its own.
type Lists struct {
	Review, Assigned, Pulls, Issues []*model.Involvement
}

// Of returns the viewer's lists: only what the viewer may read now.
func (s *Service) Of(ctx context.Context, viewer *model.Viewer) (Lists, error) {
	var out Lists
	list, err := involvementdb.Open(ctx, s.DB.Account(viewer.ID()), most)
	if err != nil || len(list) == 0 {
		return out, err
	}
	if list, err = s.filterReadable(ctx, viewer, list); err != nil {
		return out, err
	}
	for _, row := range list {
		has := func(role string) bool { return slices.Contains(row.Roles, role) }
		switch {
		case has(model.InvolvedReviewer):
			out.Review = append(out.Review, row)
		case has(model.InvolvedAssignee):
			out.Assigned = append(out.Assigned, row)
		case row.Pull && has(model.InvolvedAuthor):
			out.Pulls = append(out.Pulls, row)
		case has(model.InvolvedAuthor):
			out.Issues = append(out.Issues, row)
		}
	}
	return out, nil
}

// filterReadable leaves out what the viewer may not read, and forgets
// repositories that are gone for good.
func (s *Service) filterReadable(ctx context.Context, viewer *model.Viewer, list []*model.Involvement) ([]*model.Involvement, error) {
	var ids []int64
	for _, row := range list {
		if !slices.Contains(ids, row.RepoID) {
			ids = append(ids, row.RepoID)
		}
	}
	readable, err := repodb.ReadableIDs(ctx, s.DB.Directory(), ids, viewer.ID())
	if err != nil {
		return nil, err
	}
	repos, err := repodb.ByIDs(ctx, s.DB.Directory(), ids)
	if err != nil {
		return nil, err
	}
	out := list[:0]
	for _, row := range list {
		if row.Repo = repos[row.RepoID]; row.Repo != nil && readable[row.RepoID] &&
			viewer.Reaches(row.RepoID, row.Repo.IsPrivate(), false) {
			out = append(out, row)
		}
	}
	gone := slices.DeleteFunc(ids, func(id int64) bool { return repos[id] != nil })
	if len(gone) > 0 {
		err = s.DB.InAccount(ctx, viewer.ID(), func(ctx context.Context, tx *db.AccountTx) error {
			return involvementdb.Forget(ctx, tx, gone)
		})
	}
	return out, err
}

// Clean forgets a repository that is removed for good in the scopes of all who
// had to do with it.
func (s *Service) Clean(ctx context.Context, scope db.Scope) error {
	if scope.Kind() != db.RepoKind {
		return nil
	}
	const page = 500
	for after := int64(0); ; {
		ids, err := involvementdb.People(ctx, s.DB.Repo(scope.ID()), after, page)
		if err != nil {
			return err
		}
		for _, id := range ids {
			after = id
			version, err := s.DB.Account(id).Version(ctx, involvementdb.Domain)
			if err != nil || version == 0 {
				if err != nil {
					return err
				}
				continue
			}
			err = s.DB.InAccount(ctx, id, func(ctx context.Context, tx *db.AccountTx) error {
				return involvementdb.Forget(ctx, tx, []int64{scope.ID()})
			})
			if err != nil && !errors.Is(err, db.ErrNotFound) {
				return err
			}
		}
		if len(ids) < page {
			return nil
		}
	}
}

// BackfillName names the backfill in the list of runs.
const BackfillName = "involvement"

// Backfill builds the index from the repositories. Its cursor is the scope and
// the number of the thread that it has reached.
func (s *Service) Backfill() state.Backfill {
	return state.Backfill{Name: BackfillName, About: "What people wrote, are assigned to or review, for their dashboards",
		Total: func(ctx context.Context) (int64, error) {
			counts, err := s.DB.ScopeCounts(ctx)
			return int64(counts["live"] + counts["asleep"]), err
		}, Page: s.page}
}

// threadsAtOnce is how many threads a page of the backfill takes.
const threadsAtOnce = 200

func (s *Service) page(ctx context.Context, cursor string) (next string, done int64, err error) {
	name, number, _ := strings.Cut(cursor, ":")
	after, _ := strconv.ParseInt(number, 10, 64) //nolint:errcheck // none is 0
	if number == "" {
		// The scope after the last one.
		scopes, err := s.DB.ScopeNames(ctx, name, 1)
		if err != nil || len(scopes) == 0 {
			return "", 0, err
		}
		name = scopes[0].String()
		if scopes[0].Kind() != db.RepoKind {
			return name, 1, nil
		}
	}
	scope, err := db.ParseScope(name)
	if err != nil {
		return "", 0, err
	}
	last, err := eventdb.Last(ctx, s.DB.Events())
	if err != nil {
		return "", 0, err
	}
	threads, err := involvementdb.Threads(ctx, s.DB.Repo(scope.ID()), after, threadsAtOnce, 0)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return "", 0, err
	}
	rows := map[int64][]*model.Involvement{}
	for _, t := range threads {
		after = t.Number
		// What an event wrote since is newer.
		for id, row := range rolesOf(scope.ID(), t, max(last.Seq, 1)) {
			rows[id] = append(rows[id], row)
		}
	}
	if err := s.write(ctx, rows); err != nil {
		return "", 0, err
	}
	if len(threads) < threadsAtOnce {
		return name, 1, nil
	}
	return name + ":" + strconv.FormatInt(after, 10), 0, nil
}
