package issues

import (
	"context"
	"math"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/link"
)

// place is who acts in a request, and where.
func place(c *web.Ctx) threads.Place {
	return threads.Place{Viewer: c.Viewer, Repo: c.Repo, Role: c.Role}
}

// show writes records as the API shows them.
type show struct {
	c      *web.Ctx
	repo   *model.Repo
	facts  *threaddb.Context
	people *accountdb.People
}

func (w *show) base() string {
	return w.c.URL(web.APIPrefix + "/repos" + link.Repo(w.repo.Owner.Name, w.repo.Name))
}

func (w *show) user(id int64) api.User { return api.UserOf(w.c, w.people.Get(id)) }

func (w *show) userRef(id int64) *api.User {
	if id == 0 {
		return nil
	}
	u := w.user(id)
	return &u
}

func (w *show) association(id int64) string {
	if a := w.people.Association[id]; a != "" {
		return a
	}
	return accountdb.AssociationNone
}

func (w *show) issue(i *model.Issue) Issue {
	url := w.base() + "/issues/" + num(i.Number)
	out := Issue{URL: url, RepositoryURL: w.base(), LabelsURL: url + "/labels{/name}", CommentsURL: url + "/comments",
		EventsURL: url + "/events", HTMLURL: w.c.URL(threads.Href(w.repo, i)), ID: i.ID, NodeID: api.NodeID("Issue", w.repo.ID, i.Number),
		Number: i.Number, Title: i.Title, User: w.user(i.AuthorID), Labels: []Label{}, State: i.State, Locked: i.Locked != "",
		Assignees: []api.User{}, Comments: i.Comments, CreatedAt: api.Time(i.CreatedAt), UpdatedAt: api.Time(i.UpdatedAt),
		ClosedAt: api.TimeRef(i.ClosedAt), AuthorAssociation: w.association(i.AuthorID), ActiveLockReason: some(i.LockReason()),
		Body: some(i.Body), ClosedBy: w.userRef(i.ClosedBy), Reactions: rollup(url, i.Reactions), TimelineURL: url + "/timeline",
		StateReason: some(i.StateReason), Confidential: i.Confidential,
		Dependencies: Dependencies{BlockedBy: len(i.BlockedBy), TotalBlockedBy: len(i.BlockedBy), Blocking: len(i.Blocking), TotalBlocking: len(i.Blocking)}}
	for _, id := range i.LabelIDs {
		if l := w.labelByID(id); l != nil {
			out.Labels = append(out.Labels, w.label(l))
		}
	}
	for _, id := range i.AssigneeIDs {
		out.Assignees = append(out.Assignees, w.user(id))
	}
	if len(out.Assignees) > 0 {
		out.Assignee = &out.Assignees[0]
	}
	for _, m := range w.facts.Milestones {
		if m.ID == i.MilestoneID {
			v := w.milestone(m)
			out.Milestone = &v
		}
	}
	if i.Type != "" {
		out.Type = &Type{NodeID: api.NodeID("IssueType", w.repo.ID), Name: i.Type}
	}
	out.SubIssues = w.summary(i)
	if i.IsPull() {
		page := w.c.URL(link.Pull(w.repo.Owner.Name, w.repo.Name, i.Number))
		out.PullRequest = &PullLinks{URL: w.base() + "/pulls/" + num(i.Number), HTMLURL: page, DiffURL: page + ".diff", PatchURL: page + ".patch"}
		if i.StateReason == model.ReasonMerged {
			out.PullRequest.MergedAt, out.StateReason = out.ClosedAt, nil
		}
		out.Draft = &i.Draft
	}
	return out
}

func (w *show) summary(i *model.Issue) Summary {
	s := Summary{Total: len(i.Children)}
	for _, n := range i.Children {
		if k := w.facts.Known[n]; k != nil && !k.Open() {
			s.Completed++
		}
	}
	if s.Total > 0 {
		s.Percent = int(math.Round(float64(s.Completed) * 100 / float64(s.Total)))
	}
	return s
}

func (w *show) labelByID(id int64) *model.Label {
	for _, l := range w.facts.Labels {
		if l.ID == id {
			return l
		}
	}
	return nil
}

func (w *show) label(l *model.Label) Label {
	return Label{ID: l.ID, NodeID: api.NodeID("Label", w.repo.ID, l.ID), URL: w.base() + "/labels/" + link.Segment(l.Name),
		Name: l.Name, Description: some(l.Description), Color: l.Color, Default: l.Default}
}

func (w *show) labels(ids []int64) []Label {
	out := []Label{}
	for _, id := range ids {
		if l := w.labelByID(id); l != nil {
			out = append(out, w.label(l))
		}
	}
	return out
}

func (w *show) milestone(m *model.Milestone) Milestone {
	url := w.base() + "/milestones/" + num(m.Number)
	return Milestone{URL: url, HTMLURL: w.c.URL(link.Milestone(w.repo.Owner.Name, w.repo.Name, m.Number)), LabelsURL: url + "/labels",
		ID: m.ID, NodeID: api.NodeID("Milestone", w.repo.ID, m.ID), Number: m.Number, Title: m.Title, Description: some(m.Description),
		Creator: w.userRef(m.CreatorID), OpenIssues: m.OpenIssues, ClosedIssues: m.ClosedIssues, State: m.State,
		CreatedAt: api.Time(m.CreatedAt), UpdatedAt: api.Time(m.UpdatedAt), DueOn: api.TimeRef(m.DueOn), ClosedAt: api.TimeRef(m.ClosedAt)}
}

func (w *show) comment(t *model.TimelineItem, kind string) Comment {
	url := w.base() + "/issues/comments/" + num(t.ID)
	page := threads.Href(w.repo, &model.Issue{Kind: kind, Number: t.Number})
	return Comment{URL: url, HTMLURL: w.c.URL(page + "#comment-" + num(t.ID)), IssueURL: w.base() + "/issues/" + num(t.Number),
		ID: t.ID, NodeID: api.NodeID("IssueComment", w.repo.ID, t.ID), User: w.user(t.AuthorID), CreatedAt: api.Time(t.CreatedAt),
		UpdatedAt: api.Time(t.UpdatedAt), AuthorAssociation: w.association(t.AuthorID), Body: t.Body, Reactions: rollup(url, t.Reactions)}
}

func (w *show) event(t *model.TimelineItem) Event {
	e := Event{ID: t.ID, NodeID: api.NodeID("Event", w.repo.ID, t.ID), URL: w.base() + "/issues/events/" + num(t.ID),
		Actor: w.user(t.AuthorID), Event: t.Kind, CreatedAt: api.Time(t.CreatedAt)}
	d := t.Data
	if d.Commit != "" {
		url := w.base() + "/commits/" + d.Commit
		e.CommitID, e.CommitURL = &d.Commit, &url
	}
	if d.Label != nil {
		e.Label = &EventLabel{d.Label.Name, d.Label.Color}
	}
	if d.Assignee != 0 {
		e.Assignee, e.Assigner = w.userRef(d.Assignee), &e.Actor
	}
	if d.Milestone != "" {
		e.Milestone = &EventMilestone{d.Milestone}
	}
	switch t.Kind {
	case model.ItemRenamed:
		e.Rename = &Rename{d.From, d.To}
	case model.ItemLocked:
		e.LockReason = some(d.Reason)
	case model.ItemClosed:
		e.StateReason = some(d.Reason)
	}
	return e
}

// some is a text that is null when empty.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// showing prepares to show records of the repository in c, with the people of
// these ids. Facts are read unless they are given; when nobody but the viewer
// is shown, no query is needed for people.
func (s *Service) showing(c *web.Ctx, facts *threaddb.Context, ids ...int64) (*show, error) {
	w := &show{c: c, repo: c.Repo, facts: facts}
	var err error
	if w.facts == nil {
		if w.facts, err = threaddb.LoadContext(c.Context(), s.DB.Repo(c.Repo.ID), 0, 0); err != nil {
			return nil, err
		}
	}
	for _, m := range w.facts.Milestones {
		ids = append(ids, m.CreatorID)
	}
	w.people, err = s.people(c.Context(), place(c), ids)
	return w, err
}

func (s *Service) people(ctx context.Context, p threads.Place, ids []int64) (*accountdb.People, error) {
	for _, id := range ids {
		if id != 0 && id != p.Viewer.ID() {
			return accountdb.PeopleOf(ctx, s.DB.Directory(), p.Repo, ids, nil)
		}
	}
	out := &accountdb.People{ByID: map[int64]*model.Account{}, Association: map[int64]string{}}
	if p.Viewer.SignedIn() {
		out.ByID[p.Viewer.ID()], out.Association[p.Viewer.ID()] = p.Viewer.Account, associationOf(p)
	}
	return out, nil
}

// associationOf is how the viewer stands to the repository.
func associationOf(p threads.Place) string {
	switch {
	case p.Viewer.ID() == p.Repo.OwnerID:
		return accountdb.AssociationOwner
	case !p.Role.AtLeast(model.RoleTriage):
		return accountdb.AssociationNone
	case !p.Repo.Owner.IsUser():
		return accountdb.AssociationMember
	}
	return accountdb.AssociationCollaborator
}

// factsOf reads the labels and milestones where the thread has any, and the
// threads around it.
func (s *Service) factsOf(ctx context.Context, p threads.Place, i *model.Issue) (*threaddb.Context, error) {
	if len(i.LabelIDs) == 0 && i.MilestoneID == 0 && len(i.Children) == 0 {
		return &threaddb.Context{}, nil
	}
	return threaddb.LoadContext(ctx, s.DB.Repo(p.Repo.ID), i.Number, 0)
}

// answer sends one issue.
func (s *Service) answer(c *web.Ctx, status int, i *model.Issue, facts *threaddb.Context) error {
	var err error
	if facts == nil {
		if facts, err = s.factsOf(c.Context(), place(c), i); err != nil {
			return err
		}
	}
	if i.MilestoneID == 0 {
		// Whoever made other milestones is not shown.
		facts.Milestones = nil
	}
	w, err := s.showing(c, facts, append([]int64{i.AuthorID, i.ClosedBy}, i.AssigneeIDs...)...)
	if err != nil {
		return err
	}
	return c.JSON(status, w.issue(i))
}

// Wire is a thread as the API shows it, for features that build on threads.
func Wire(c *web.Ctx, i *model.Issue, facts *threaddb.Context, people *accountdb.People) Issue {
	return (&show{c: c, repo: c.Repo, facts: facts, people: people}).issue(i)
}
