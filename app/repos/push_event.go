package repos

import (
	"context"

	"github.com/gitfor/gitfor/app/git"
)

const (
	// maxPushRefs and maxPushCommits bound what an event lists; the totals
	// are always told.
	maxPushRefs    = 100
	maxPushCommits = 20
)

// Pushed says that refs moved. A push of very many refs is one event that
// lists the first of them.
type Pushed struct {
	Via       string       `json:"via"`
	Refs      []PushedRef  `json:"refs"`
	RefsTotal int          `json:"refs_total"`
	Commits   []PushCommit `json:"commits"`
}

// EventType implements events.Payload.
func (Pushed) EventType() string { return "git.push" }

// PushedRef is one ref that moved; before or after is all zeros where it was
// made or deleted.
type PushedRef struct {
	Ref     string `json:"ref"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Created bool   `json:"created"`
	Deleted bool   `json:"deleted"`
	Forced  bool   `json:"forced"`
}

// PushCommit is a commit that the first branch of the push brought.
type PushCommit struct {
	ID        string     `json:"id"`
	Tree      string     `json:"tree_id"`
	Message   string     `json:"message"`
	Timestamp string     `json:"timestamp"`
	Author    PushPerson `json:"author"`
	Committer PushPerson `json:"committer"`
}

// PushPerson is an author or committer as the commit names them.
type PushPerson struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// pushed describes a push for its event. What cannot be read is left out: the
// event must not fail because of a description.
func (s *Service) pushed(ctx context.Context, p *Push, moved []git.RefUpdate) Pushed {
	out := Pushed{Via: p.Via, RefsTotal: len(moved), Refs: []PushedRef{}, Commits: []PushCommit{}}
	g, err := s.Open(ctx, p.Repo)
	for i, u := range moved {
		if i == maxPushRefs {
			break
		}
		ref := PushedRef{Ref: git.Display(u.Name), Before: u.Old.String(), After: u.New.String(),
			Created: u.Old.IsZero(), Deleted: u.New.IsZero()}
		if _, branch := branchOf(u.Name); branch && err == nil && !ref.Created && !ref.Deleted && i < maxPushCommits {
			dropped, logErr := g.Log(ctx, u.Old, git.LogOptions{Exclude: []git.OID{u.New}, Limit: 1})
			ref.Forced = logErr == nil && len(dropped) > 0
		}
		out.Refs = append(out.Refs, ref)
		if _, branch := branchOf(u.Name); branch && err == nil && !ref.Deleted && len(out.Commits) == 0 {
			out.Commits = s.pushCommits(ctx, g, p, u)
		}
	}
	return out
}

// pushCommits lists the newest commits that u brought, the oldest first as in
// GitHub's push payload.
func (s *Service) pushCommits(ctx context.Context, g *git.Repository, p *Push, u git.RefUpdate) []PushCommit {
	opts := git.LogOptions{Limit: maxPushCommits}
	switch {
	case !u.Old.IsZero():
		opts.Exclude = []git.OID{u.Old}
	case u.Name != "refs/heads/"+p.Repo.DefaultBranch:
		if base, err := g.Ref(ctx, "refs/heads/"+p.Repo.DefaultBranch); err == nil {
			opts.Exclude = []git.OID{base.OID}
		}
	}
	log, err := g.Log(ctx, u.New, opts)
	if err != nil {
		return []PushCommit{}
	}
	out := make([]PushCommit, len(log))
	for i, c := range log {
		out[len(log)-1-i] = PushCommit{ID: c.OID.String(), Tree: c.Tree.String(), Message: c.Text(),
			Timestamp: c.Author.When.Format("2006-01-02T15:04:05Z07:00"),
			Author:    PushPerson{c.AuthorName(), git.DecodeText(c.Author.Email)},
			Committer: PushPerson{c.CommitterName(), git.DecodeText(c.Committer.Email)}}
	}
	return out
}
