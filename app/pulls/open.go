package pulls

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
)

// OpenInput is a new pull request.
type OpenInput struct {
	Title string `form:"title" json:"title"`
	Body  string `form:"body" json:"body"`
	// Head is "branch", "owner:branch" or "owner:repo:branch".
	Head  string `form:"head" json:"head"`
	Base  string `form:"base" json:"base"`
	Draft bool   `form:"draft" json:"draft"`
	// MaintainerEdits lets the base's writers push to the head; nil is yes.
	MaintainerEdits *bool    `form:"maintainer_edits" json:"maintainer_can_modify"`
	Labels          []string `form:"labels" json:"-"`
	Assignees       []string `form:"assignees" json:"-"`
	Milestone       int64    `form:"milestone" json:"-"`
}

// proposal is what an OpenInput means.
type proposal struct {
	git   *git.Repository
	base  git.OID
	head  *Head
	facts *facts
}

// Open opens a pull request and publishes pull.opened. Its files and whether
// it can be merged are known when it returns.
func (s *Service) Open(ctx context.Context, p Place, in OpenInput) (*model.Pull, error) {
	if p.Repo.Settings.NoPulls {
		return nil, errOff()
	}
	prop, err := s.propose(ctx, p, in)
	if err != nil {
		return nil, err
	}
	o := threads.Opening{Title: in.Title, Body: in.Body, Labels: in.Labels, Assignees: in.Assignees, Milestone: in.Milestone, Draft: in.Draft}
	if err := s.Threads.Prepare(ctx, p, &o); err != nil {
		return nil, err
	}
	var pull *model.Pull
	err = s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		pull, err = s.openTx(ctx, tx, p, in, o, prop)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.listen(ctx, prop.head.Repo, p.Repo); err != nil {
		return nil, err
	}
	if err := keep(context.WithoutCancel(ctx), prop.git, pull); err != nil {
		return nil, err
	}
	return pull, s.askOwners(ctx, p, prop.git, pull)
}

func (s *Service) openTx(ctx context.Context, tx *db.RepoTx, p Place, in OpenInput, o threads.Opening, prop *proposal) (*model.Pull, error) {
	if _, err := pulldb.Tables(ctx, tx); err != nil {
		return nil, err
	}
	same, _, err := pulldb.List(ctx, tx.Repo, pulldb.Filter{State: model.StateOpen, BaseRef: in.Base,
		HeadRepo: prop.head.Repo.ID, HeadRef: prop.head.Branch, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(same) > 0 {
		return nil, &Exists{Number: same[0].Number, Label: prop.head.Label()}
	}
	opened, err := s.Threads.OpenTx(ctx, tx, p, model.KindPull, o)
	if err != nil {
		return nil, err
	}
	pull := &model.Pull{Number: opened.Issue.Number, BaseRef: in.Base, HeadRepo: prop.head.Repo.ID, HeadRef: prop.head.Branch,
		HeadLabel: prop.head.Label(), MaintainerEdits: in.MaintainerEdits == nil || *in.MaintainerEdits, Issue: opened.Issue}
	prop.facts.into(pull)
	pull.Rounds = []model.Round{{Head: pull.HeadSHA, Base: pull.MergeBase, At: tx.Now(), By: p.Viewer.ID()}}
	if err := pulldb.Insert(ctx, tx, pull); err != nil {
		return nil, err
	}
	e := EventOf(pull, "opened")
	e.Event = opened.Event
	return pull, emit(ctx, tx, p, e)
}

// Exists says that the branch is proposed for the same base already.
type Exists struct {
	Number int64
	Label  string
}

func (e *Exists) Error() string { return "A pull request already exists for " + e.Label + "." }

// Unwrap makes it a fault of the input.
func (e *Exists) Unwrap() error {
	return &fault.Fault{Kind: fault.Invalid, Message: e.Error(), Resource: "PullRequest", Fields: fault.Fields{"head": e.Error()}}
}

// propose checks the branches and brings the head's commits into the base's
// repository.
func (s *Service) propose(ctx context.Context, p Place, in OpenInput) (*proposal, error) {
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return nil, err
	}
	prop := &proposal{git: g}
	if !utf8.ValidString(in.Base) || in.Base == "" {
		return nil, fault.Field("base", "Name the branch to merge into.")
	}
	prop.base, err = tip(ctx, g, in.Base)
	if errors.Is(err, git.ErrNotFound) {
		return nil, fault.Field("base", "There is no branch “"+git.Display(in.Base)+"” in "+p.Repo.FullName()+".")
	}
	if err != nil {
		return nil, err
	}
	if prop.head, err = s.FindHead(ctx, p, in.Head); err != nil {
		return nil, err
	}
	if !prop.head.Role.AtLeast(model.RoleWrite) && !p.Role.AtLeast(model.RoleTriage) {
		return nil, denied("Only people who may push to " + prop.head.Repo.FullName() + " can propose its branches. Fork it and propose a branch of the fork.")
	}
	if prop.head.Repo.ID == p.Repo.ID && prop.head.Branch == in.Base {
		return nil, fault.Field("head", "The branch is the one to merge into: choose two different ones.")
	}
	if err := s.bring(ctx, g, p.Repo, prop.head.Repo, prop.head.OID); err != nil {
		return nil, err
	}
	if prop.facts, err = survey(ctx, g, prop.base, prop.head.OID, "", ""); err != nil {
		return nil, err
	}
	if prop.facts.commits == 0 {
		return nil, fault.Field("head", "No commits between "+git.Display(in.Base)+" and "+git.Display(in.Head)+": nothing to merge.")
	}
	return prop, nil
}

// bring copies a commit of another repository into g.
func (s *Service) bring(ctx context.Context, g *git.Repository, repo, from *model.Repo, oid git.OID) error {
	if from.ID == repo.ID {
		return nil
	}
	other, err := s.open(ctx, from)
	if err != nil {
		return err
	}
	return g.CopyObjects(ctx, other, oid)
}
