package pulls

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/link"
)

// place is who acts in a request, and where.
func place(c *web.Ctx) Place { return Place{Viewer: c.Viewer, Repo: c.Repo, Role: c.Role} }

// show writes pull requests as the API shows them.
type show struct {
	s      *Service
	c      *web.Ctx
	facts  *threaddb.Context
	people *accountdb.People
	repos  map[int64]*repos.Repository
	owners map[int64]*api.User
	teams  map[int64]*model.Team
}

// show reads what is needed to show the pull requests.
func (s *Service) show(c *web.Ctx, list ...*model.Pull) (*show, error) {
	ctx := c.Context()
	facts, err := threaddb.LoadContext(ctx, s.DB.Repo(c.Repo.ID), 0, 0)
	if err != nil {
		return nil, err
	}
	w := &show{s: s, c: c, facts: facts, repos: map[int64]*repos.Repository{}, owners: map[int64]*api.User{}}
	ids := []int64{c.Repo.OwnerID}
	var heads []int64
	for _, p := range list {
		i := p.Issue
		ids = append(append(append(ids, i.AuthorID, i.ClosedBy, p.MergedBy), i.AssigneeIDs...), p.ReviewerIDs...)
		if p.AutoMerge != nil {
			ids = append(ids, p.AutoMerge.By)
		}
		if p.HeadRepo != c.Repo.ID && p.HeadRepo != 0 {
			heads = append(heads, p.HeadRepo)
		}
	}
	for _, m := range facts.Milestones {
		ids = append(ids, m.CreatorID)
	}
	if w.people, err = accountdb.PeopleOf(ctx, s.DB.Directory(), c.Repo, ids, nil); err != nil {
		return nil, err
	}
	if err := w.loadTeams(list); err != nil {
		return nil, err
	}
	return w, w.loadRepos(ctx, heads)
}

func (w *show) loadRepos(ctx context.Context, heads []int64) error {
	own := w.s.Repos.Wire(w.c, w.c.Repo, w.c.Role, w.facts.Counts)
	w.repos[w.c.Repo.ID], w.owners[w.c.Repo.ID] = &own, &own.Owner
	if len(heads) == 0 {
		return nil
	}
	dir := w.s.DB.Directory()
	readable, err := repodb.ReadableIDs(ctx, dir, heads, w.c.Viewer.ID())
	if err != nil {
		return err
	}
	found, err := repodb.ByIDs(ctx, dir, heads)
	for id, r := range found {
		u := api.UserOf(w.c, r.Owner)
		w.owners[id] = &u
		if readable[id] && w.c.Viewer.Reaches(id, r.IsPrivate(), false) {
			v := w.s.Repos.Wire(w.c, r, model.RoleNone, nil)
			w.repos[id] = &v
		}
	}
	return err
}

func (w *show) base() string { return apiBase(w.c) }

func apiBase(c *web.Ctx) string {
	return c.URL(web.APIPrefix + "/repos" + link.Repo(c.Repo.Owner.Name, c.Repo.Name))
}

func (w *show) user(id int64) api.User { return api.UserOf(w.c, w.people.Get(id)) }

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (w *show) pull(p *model.Pull) PullRequest {
	i := issues.Wire(w.c, p.Issue, w.facts, w.people)
	n := num(p.Number)
	url, thread := w.base()+"/pulls/"+n, w.base()+"/issues/"+n
	page := w.c.URL(link.Pull(w.c.Repo.Owner.Name, w.c.Repo.Name, p.Number))
	out := PullRequest{URL: url, ID: i.ID, NodeID: api.NodeID("PullRequest", w.c.Repo.ID, p.Number), HTMLURL: page,
		DiffURL: page + ".diff", PatchURL: page + ".patch", IssueURL: thread, CommitsURL: url + "/commits",
		ReviewCommentsURL: url + "/comments", ReviewCommentURL: w.base() + "/pulls/comments{/number}",
		CommentsURL: thread + "/comments", StatusesURL: w.base() + "/statuses/" + p.HeadSHA, Number: p.Number, State: i.State,
		Locked: i.Locked, Title: i.Title, User: i.User, Body: i.Body, Labels: i.Labels, Milestone: i.Milestone,
		ActiveLockReason: i.ActiveLockReason, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, ClosedAt: i.ClosedAt,
		MergedAt: api.TimeRef(p.MergedAt), MergeCommitSHA: some(p.MergeSHA), Assignee: i.Assignee, Assignees: i.Assignees,
		Reviewers: []api.User{}, Teams: []Team{}, AuthorAssociation: i.AuthorAssociation, Draft: p.Issue.Draft}
	for _, id := range p.ReviewerIDs {
		out.Reviewers = append(out.Reviewers, w.user(id))
	}
	for _, id := range p.TeamIDs {
		if t := w.teams[id]; t != nil {
			out.Teams = append(out.Teams, w.team(t))
		}
	}
	out.Head = w.branch(p.HeadRepo, p.HeadLabel, p.HeadRef, p.HeadSHA)
	out.Base = w.branch(w.c.Repo.ID, w.c.Repo.Owner.Name+":"+p.BaseRef, p.BaseRef, p.BaseSHA)
	out.Links = Links{Self: Href{url}, HTML: Href{page}, Issue: Href{thread}, Comments: Href{out.CommentsURL},
		ReviewComments: Href{out.ReviewCommentsURL}, ReviewComment: Href{out.ReviewCommentURL}, Commits: Href{out.CommitsURL},
		Statuses: Href{out.StatusesURL}}
	if a := p.AutoMerge; a != nil {
		out.AutoMerge = &AutoMerge{EnabledBy: w.user(a.By), MergeMethod: a.Method, CommitTitle: some(a.Title), CommitMessage: some(a.Message)}
	}
	return out
}

func (w *show) branch(repo int64, label, ref, sha string) Branch {
	return Branch{Label: label, Ref: ref, SHA: sha, Repo: w.repos[repo], User: w.owners[repo]}
}

// full is a pull request by itself. needs may be nil.
func (w *show) full(p *model.Pull, needs *Needs, reviewComments int) FullPullRequest {
	out := FullPullRequest{PullRequest: w.pull(p), Merged: p.Merged(), MergeableState: "unknown", Comments: p.Issue.Comments,
		ReviewComments: reviewComments, MaintainerCanModify: p.MaintainerEdits && p.HeadRepo != w.c.Repo.ID, Commits: p.Commits,
		Additions: p.Additions, Deletions: p.Deletions, ChangedFiles: p.ChangedFiles}
	if p.MergedBy != 0 {
		u := w.user(p.MergedBy)
		out.MergedBy = &u
	}
	if p.Merged() || !p.Issue.Open() {
		return out
	}
	can := p.Mergeable == model.MergeClean || p.Mergeable == model.MergeUnrelated && w.c.Repo.Settings.AllowUnrelated
	out.Mergeable, out.Rebaseable = &can, &can
	out.MergeableState = mergeableState(p, can, needs)
	return out
}

// mergeableState is GitHub's word for where a pull request stands
// (https://docs.github.com/graphql/reference/enums#mergestatestatus).
func mergeableState(p *model.Pull, can bool, needs *Needs) string {
	switch {
	case !can:
		return "dirty"
	case p.Issue.Draft:
		return "draft"
	case needs == nil:
		return "clean"
	}
	state := "clean"
	for _, n := range needs.Open() {
		switch {
		case n.Key == "behind" && state != "blocked":
			state = "behind"
		case n.Key == "unstable":
			if state == "clean" {
				state = "unstable"
			}
		default:
			state = "blocked"
		}
	}
	return state
}

// commit writes a commit; people are accounts by the Key of their address.
func (w *show) commit(c *git.Commit, people map[string]*model.Account) Commit {
	url := w.base() + "/commits/" + c.OID.String()
	who := func(p git.Person, name string) CommitPerson {
		return CommitPerson{Name: name, Email: git.DecodeText(p.Email), Date: api.Time(p.When)}
	}
	account := func(p git.Person) *api.User { return api.UserRef(w.c, people[model.Key(git.DecodeText(p.Email))]) }
	out := Commit{URL: url, SHA: c.OID.String(), NodeID: api.NodeID("Commit", w.c.Repo.ID) + c.OID.String(),
		HTMLURL: w.c.URL(link.Commit(w.c.Repo.Owner.Name, w.c.Repo.Name, c.OID.String())), CommentsURL: url + "/comments",
		Author: account(c.Author), Committer: account(c.Committer), Parents: []CommitRef{}}
	message := c.Text()
	out.Commit = CommitDetail{URL: w.base() + "/git/commits/" + c.OID.String(), Author: who(c.Author, c.AuthorName()),
		Committer: who(c.Committer, c.CommitterName()), Message: strings.TrimSuffix(message, "\n"),
		Tree:         CommitRef{URL: w.base() + "/git/trees/" + c.Tree.String(), SHA: c.Tree.String()},
		Verification: Verification{Reason: "unsigned"}}
	if c.Signature != "" {
		out.Commit.Verification.Reason = "unknown_key"
		out.Commit.Verification.Signature = &c.Signature
	}
	for _, p := range c.Parents {
		out.Parents = append(out.Parents, CommitRef{URL: w.base() + "/commits/" + p.String(), SHA: p.String(),
			HTMLURL: w.c.URL(link.Commit(w.c.Repo.Owner.Name, w.c.Repo.Name, p.String()))})
	}
	return out
}
