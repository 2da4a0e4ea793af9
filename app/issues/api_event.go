package issues

import (
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

func (s *Service) apiEventRoutes(a *web.Router, base string, read web.Access) {
	a.Get(base+"/issues/events", read, s.apiEvents, &web.Doc{ID: "issues/list-events-for-repo", Summary: "List issue events for a repository", Out: []Event{}})
	a.Get(base+"/issues/events/{id}", read, s.apiEvent, &web.Doc{ID: "issues/get-event", Summary: "Get an issue event", Out: Event{}})
	a.Get(base+"/issues/{number}/events", read, s.apiEvents, &web.Doc{ID: "issues/list-events", Summary: "List issue events", Out: []Event{}})
	a.Get(base+"/issues/{number}/timeline", read, s.apiTimeline, &web.Doc{ID: "issues/list-events-for-timeline", Summary: "List timeline events for an issue", Out: []Event{}})
}

// isEvent says that the lists of events hold items of this kind.
func isEvent(kind string) bool { return kind != model.ItemComment && kind != model.ItemCrossRef }

func (s *Service) apiEvents(c *web.Ctx) error {
	page, p := api.PageOf(c), place(c)
	of := threaddb.PageOf{NotKinds: []string{model.ItemComment, model.ItemCrossRef}, Limit: page.PerPage, Offset: int(page.Offset()),
		SeeAll: p.Role.AtLeast(model.RoleTriage), AccountID: p.Viewer.ID(), Newest: true}
	if c.Param("number") != "" {
		i, err := s.found(c)
		if err != nil {
			return err
		}
		of.Number, of.Newest = i.Number, false
	}
	items, err := threaddb.Items(c.Context(), s.DB.Repo(c.Repo.ID), of)
	if err != nil {
		return err
	}
	items, more := api.Cut(items, page.Limit())
	page.Link(c, more)
	w, err := s.showingItems(c, items)
	if err != nil {
		return err
	}
	out := make([]Event, len(items))
	for n, t := range items {
		out[n] = w.event(t)
	}
	if of.Number != 0 {
		return c.JSON(http.StatusOK, out)
	}
	return s.answerRepoEvents(c, items, out)
}

// answerRepoEvents adds to each event the issue that it is about.
func (s *Service) answerRepoEvents(c *web.Ctx, items []*model.TimelineItem, out []Event) error {
	var numbers, ids []int64
	for _, t := range items {
		numbers = append(numbers, t.Number)
	}
	found, err := threaddb.FindMany(c.Context(), s.DB.Repo(c.Repo.ID), numbers)
	if err != nil {
		return err
	}
	for _, i := range found {
		ids = append(append(ids, i.AuthorID, i.ClosedBy), i.AssigneeIDs...)
	}
	w, err := s.showing(c, nil, ids...)
	if err != nil {
		return err
	}
	for n, t := range items {
		if i := found[t.Number]; i != nil {
			v := w.issue(i)
			out[n].Issue = &v
		}
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiEvent(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	t, err := threaddb.Item(c.Context(), s.DB.Repo(c.Repo.ID), id)
	if err != nil {
		return err
	}
	i, err := s.Threads.Find(c.Context(), place(c), t.Number)
	if err != nil {
		return err
	}
	if !isEvent(t.Kind) {
		return db.ErrNotFound
	}
	w, err := s.showing(c, nil, append([]int64{t.AuthorID, t.Data.Assignee, i.AuthorID, i.ClosedBy}, i.AssigneeIDs...)...)
	if err != nil {
		return err
	}
	out, about := w.event(t), w.issue(i)
	out.Issue = &about
	return c.JSON(http.StatusOK, out)
}

// apiTimeline answers with comments, events and references in their order.
func (s *Service) apiTimeline(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	page, p := api.PageOf(c), place(c)
	items, err := threaddb.Items(c.Context(), s.DB.Repo(c.Repo.ID), threaddb.PageOf{Number: i.Number, Limit: page.PerPage, Offset: int(page.Offset())})
	if err != nil {
		return err
	}
	items, more := api.Cut(items, page.Limit())
	page.Link(c, more)
	var numbers, ids []int64
	for _, t := range items {
		ids = append(ids, t.AuthorID, t.Data.Assignee)
		if t.Kind == model.ItemCrossRef && t.Data.Repo == 0 {
			numbers = append(numbers, t.Data.Number)
		}
	}
	sources, err := threaddb.FindMany(c.Context(), s.DB.Repo(c.Repo.ID), numbers)
	if err != nil {
		return err
	}
	for _, o := range sources {
		ids = append(append(ids, o.AuthorID, o.ClosedBy), o.AssigneeIDs...)
	}
	facts := &threaddb.Context{}
	if len(sources) > 0 {
		facts = nil
	}
	w, err := s.showing(c, facts, ids...)
	if err != nil {
		return err
	}
	out := []any{}
	for _, t := range items {
		switch {
		case t.IsComment():
			out = append(out, TimelineComment{w.comment(t, i.Kind), "commented", w.user(t.AuthorID)})
		case t.Kind != model.ItemCrossRef:
			out = append(out, w.event(t))
		default:
			// References from other repositories are on the page only.
			if o := sources[t.Data.Number]; t.Data.Repo == 0 && o != nil && o.VisibleTo(p.Viewer.ID(), p.Role) {
				out = append(out, CrossReference{Actor: w.user(t.AuthorID), CreatedAt: api.Time(t.CreatedAt), UpdatedAt: api.Time(t.UpdatedAt),
					Event: t.Kind, Source: Source{"issue", w.issue(o)}})
			}
		}
	}
	return c.JSON(http.StatusOK, out)
}
