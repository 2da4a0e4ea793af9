package reviews

import (
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// show writes reviews and comments as the API shows them.
type show struct {
	c      *web.Ctx
	people *accountdb.People
	heads  map[int64]string
}

func (s *Service) show(c *web.Ctx, heads map[int64]string, ids ...int64) (*show, error) {
	people, err := accountdb.PeopleOf(c.Context(), s.DB.Directory(), c.Repo, ids, nil)
	return &show{c, people, heads}, err
}

func (w *show) base() string {
	return w.c.URL(web.APIPrefix + "/repos" + link.Repo(w.c.Repo.Owner.Name, w.c.Repo.Name))
}

func (w *show) user(id int64) api.User { return api.UserOf(w.c, w.people.Get(id)) }

func (w *show) association(id int64) string {
	if a := w.people.Association[id]; a != "" {
		return a
	}
	return accountdb.AssociationNone
}

func (w *show) review(r *model.Review) ReviewWire {
	page := w.c.URL(link.Pull(w.c.Repo.Owner.Name, w.c.Repo.Name, r.Number)) + "#review-" + num(r.ID)
	pull := w.base() + "/pulls/" + num(r.Number)
	return ReviewWire{ID: r.ID, NodeID: api.NodeID("PullRequestReview", w.c.Repo.ID, r.ID), User: w.user(r.AuthorID), Body: r.Body,
		State: strings.ToUpper(r.State), HTMLURL: page, PullRequestURL: pull, SubmittedAt: api.TimeRef(r.SubmittedAt), CommitID: r.SHA,
		Links: ReviewLinks{HTML: pulls.Href{Href: page}, PullRequest: pulls.Href{Href: pull}}, AuthorAssociation: w.association(r.AuthorID)}
}

func ref[T int | int64 | string](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func (w *show) comment(x *model.ReviewComment) CommentWire {
	page := w.c.URL(link.Pull(w.c.Repo.Owner.Name, w.c.Repo.Name, x.Number)) + "#discussion-" + num(x.ID)
	pull, url := w.base()+"/pulls/"+num(x.Number), w.base()+"/pulls/comments/"+num(x.ID)
	head := w.heads[x.Number]
	if head == "" {
		head = x.SHA
	}
	out := CommentWire{URL: url, ReviewID: ref(x.ReviewID), ID: x.ID, NodeID: api.NodeID("PullRequestReviewComment", w.c.Repo.ID, x.ID),
		DiffHunk: x.Hunk, Path: x.Path, CommitID: head, OriginalCommitID: x.SHA, User: w.user(x.AuthorID), Body: x.Body,
		CreatedAt: api.Time(x.CreatedAt), UpdatedAt: api.Time(x.UpdatedAt), HTMLURL: page, PullRequestURL: pull,
		AuthorAssociation: w.association(x.AuthorID), Reactions: pulls.RollupOf(url, x.Reactions), OriginalLine: ref(x.Line),
		OriginalStartLine: ref(x.StartLine), StartSide: ref(x.StartSide), Side: x.Side, SubjectType: "line",
		Links: ReviewLinks{HTML: pulls.Href{Href: page}, PullRequest: pulls.Href{Href: pull}, Self: &pulls.Href{Href: url}}}
	if x.Line == 0 {
		out.SubjectType = "file"
	} else {
		out.OriginalPosition = ref(strings.Count(x.Hunk, "\n"))
	}
	if !x.First() {
		out.InReplyTo = x.Thread
	}
	if path, line, start, ok := where(x); ok {
		out.Path, out.Line, out.StartLine = path, ref(line), ref(start)
		out.Position = out.OriginalPosition
	}
	return out
}
