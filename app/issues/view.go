package issues

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// maxViews bounds the saved views of one person in one repository.
const maxViews = 30

func viewKey(by int64, shared bool, name string) string {
	if shared {
		by = 0
	}
	return num(by) + "/" + model.Key(name)
}

// SaveView keeps a query under a name: for the viewer, or shared for everyone.
func (s *Service) SaveView(ctx context.Context, p threads.Place, name, query string, shared bool) error {
	name, problem := threads.TitleOf(name)
	if problem == "" && utf8.RuneCountInString(name) > 50 {
		problem = "The name is too long: at most 50 characters."
	}
	query, bad := threads.BodyOf(query)
	if problem == "" && bad == "" && utf8.RuneCountInString(query) > 1000 {
		bad = "The query is too long to be kept."
	}
	fields := fault.Fields{}
	fields.Add("name", problem)
	fields.Add("query", bad)
	if err := fields.Err(); err != nil {
		return err
	}
	if shared && !p.MayTriage() {
		return denied("Views for everyone are kept by people with the triage role or more.")
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, threaddb.Domain); err != nil {
			return err
		}
		facts, err := threaddb.LoadContext(ctx, tx.Repo, 0, p.Viewer.ID())
		if err != nil {
			return err
		}
		if len(facts.Views) >= maxViews && !slices.ContainsFunc(facts.Views, func(v *model.SavedView) bool { return v.Name == name }) {
			return fault.Field("name", "There are 30 views already. Forget one of them first.")
		}
		id, err := tx.NextID(ctx)
		if err != nil {
			return err
		}
		return threaddb.Put(ctx, tx, model.RecordView, viewKey(p.Viewer.ID(), shared, name), id,
			model.SavedView{Name: name, Query: query, By: p.Viewer.ID(), Shared: shared})
	})
}

// DeleteView forgets the view of this name: the viewer's own, or else the
// shared one where they may.
func (s *Service) DeleteView(ctx context.Context, p threads.Place, name string) error {
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		gone, err := threaddb.Drop(ctx, tx, model.RecordView, viewKey(p.Viewer.ID(), false, name))
		if err != nil || gone || !p.MayTriage() {
			return err
		}
		_, err = threaddb.Drop(ctx, tx, model.RecordView, viewKey(0, true, name))
		return err
	})
}
