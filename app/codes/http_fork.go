package codes

import (
	"errors"
	"net/http"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

func (s *Service) forkRoutes(r *web.Router) {
	read, viewer, change := s.Gate.Repo(model.RoleRead), s.Gate.RepoViewer(), s.Gate.RepoChange(model.RoleWrite)
	const base = "/{owner}/{repo}"
	r.Get(base+"/fork", viewer, s.forkForm)
	r.Post(base+"/fork", viewer, s.fork)
	r.Get(base+"/forks", read, s.forks)
	r.Post(base+"/sync", change, s.sync)
	a := r.API()
	a.Get(apiRepo+"/forks", read, s.apiForks, &web.Doc{ID: "repos/list-forks", Summary: "List forks", Out: []repos.Repository{}, Query: []string{"sort", "per_page", "page"}})
	a.Post(apiRepo+"/forks", viewer, s.apiFork, &web.Doc{ID: "repos/create-fork", Summary: "Create a fork", In: repos.ForkInput{}, Out: repos.Repository{}, Status: http.StatusAccepted})
	a.Post(apiRepo+"/merge-upstream", change, s.apiSync, &web.Doc{ID: "repos/merge-upstream", Summary: "Sync a fork branch with the upstream repository", In: syncInput{}, Out: synced{}})
}

func (s *Service) forkForm(c *web.Ctx) error {
	return s.renderFork(c, repos.ForkInput{Owner: c.Viewer.Name(), Name: c.Repo.Name, Description: c.Repo.Description, DefaultOnly: false}, nil)
}

func (s *Service) renderFork(c *web.Ctx, in repos.ForkInput, errs fault.Fields) error {
	orgs, err := accountdb.OrgsOf(c.Context(), s.DB.Directory(), c.Viewer.ID())
	if err != nil {
		return err
	}
	props := codeview.ForkProps{Repo: c.Repo, Owner: in.Owner, Name: in.Name, Description: in.Description, DefaultOnly: in.DefaultOnly,
		Errors: ui.Errors(errs), Owners: []ui.Option{{Value: c.Viewer.Name(), Label: c.Viewer.Name()}}}
	for _, o := range orgs {
		props.Owners = append(props.Owners, ui.Option{Value: o.Name, Label: o.Name})
	}
	have, err := repodb.ForkOfOwner(c.Context(), s.DB.Directory(), c.Repo.ID, c.Viewer.ID())
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	if err == nil {
		props.Have = have
	}
	return s.show(c, web.Page{Status: statusOf(errs), Title: "Fork " + c.Repo.FullName(), Body: codeview.ForkPage(props)})
}

func (s *Service) fork(c *web.Ctx) error {
	var in repos.ForkInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	fork, existed, err := s.Repos.Fork(c.Context(), c.Viewer, c.Repo, in)
	if f := fault.From(err); f != nil && f.Kind == fault.Invalid {
		return s.renderFork(c, in, f.Fields)
	}
	if err != nil {
		return err
	}
	to := link.Repo(fork.Owner.Name, fork.Name)
	if existed {
		return c.RedirectFlash(to, "There is a fork already: this one.")
	}
	return c.Redirect(to)
}

func (s *Service) forks(c *web.Ctx) error {
	page := c.QueryInt("page", 1, 1, 100_000)
	list, more, err := repodb.List(c.Context(), s.DB.Directory(), c.Viewer.ID(),
		repodb.ListOpts{ForkOf: c.Repo.ID, Sort: "pushed", Limit: fansPerPage, Offset: int64(page-1) * fansPerPage})
	if err != nil {
		return err
	}
	props := codeview.ForksProps{Repo: c.Repo, Forks: list}
	if more {
		props.Older = link.Page(c.R.URL.RequestURI(), page+1)
	}
	if page > 1 {
		props.Newer = link.Page(c.R.URL.RequestURI(), page-1)
	}
	return s.show(c, web.Page{Title: "Forks · " + c.Repo.FullName(), Body: codeview.ForksPage(props)})
}

type syncInput struct {
	Branch string `json:"branch" form:"branch"`
}

func (s *Service) sync(c *web.Ctx) error {
	var in syncInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	branch := or(unescaped(in.Branch), c.Repo.DefaultBranch)
	how, err := s.Repos.Sync(c.Context(), c.Viewer, c.Repo, branch)
	if err != nil {
		return err
	}
	words := map[string]string{repos.SyncNone: "It was up to date.", repos.SyncFastForward: "The branch is up to date now.",
		repos.SyncMerge: "The changes of the source were merged."}
	return c.RedirectFlash(link.Tree(c.Repo.Owner.Name, c.Repo.Name, branch, ""), words[how])
}

// upstream is what a fork's pages tell of its source: how far the branch is
// from that of the same name there. nil for what is no fork.
func (s *Service) upstream(c *web.Ctx, p *place) (*codeview.Upstream, error) {
	up, err := s.Repos.Upstream(c.Context(), c.Viewer, c.Repo)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := &codeview.Upstream{FullName: up.FullName(), Href: link.Repo(up.Owner.Name, up.Name)}
	if !p.rev.IsBranch() {
		return out, nil
	}
	from, err := s.Repos.Open(c.Context(), up)
	if err != nil {
		return nil, err
	}
	theirs, err := from.Ref(c.Context(), p.rev.Ref)
	if err != nil {
		return out, nil //nolint:nilerr // the source has no such branch
	}
	both, err := p.git.Borrowing(from)
	if err != nil {
		return nil, err
	}
	counts, err := both.AheadBehind(c.Context(), theirs.OID, p.rev.Commit)
	if err != nil {
		return nil, err
	}
	n := counts[p.rev.Commit]
	out.Counted, out.Ahead, out.Behind = true, n.Ahead, n.Behind
	out.Branch, out.Ref = git.Display(branchOf(p)), link.Segment(branchOf(p))
	out.CanSync = n.Behind > 0 && c.Role.AtLeast(model.RoleWrite) && !c.Repo.Archived()
	out.Compare = link.Compare(up.Owner.Name, up.Name, branchOf(p), c.Repo.Owner.Name+":"+branchOf(p))
	return out, nil
}

func (s *Service) apiForks(c *web.Ctx) error {
	page := api.PageOf(c)
	o := repodb.ListOpts{ForkOf: c.Repo.ID, Sort: "created", Limit: page.Limit(), Offset: page.Offset()}
	switch c.Query("sort") {
	case "oldest":
		o.Asc = true
	case "stargazers", "watchers":
		o.Sort = "stars"
	}
	viewer := c.Viewer.ID()
	if !c.Viewer.Has("repo") {
		viewer = 0
	}
	list, more, err := repodb.List(c.Context(), s.DB.Directory(), viewer, o)
	if err != nil {
		return err
	}
	page.Link(c, more)
	out := make([]repos.Repository, len(list))
	for i, r := range list {
		out[i] = s.Repos.Wire(c, r, model.RoleRead, nil)
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiFork(c *web.Ctx) error {
	var in repos.ForkInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	fork, _, err := s.Repos.Fork(c.Context(), c.Viewer, c.Repo, in)
	if err != nil {
		return err
	}
	w := s.Repos.Wire(c, fork, model.RoleAdmin, nil)
	source := s.Repos.Wire(c, c.Repo, c.Role, nil)
	w.Parent, w.Source = &source, &source
	return c.JSON(http.StatusAccepted, w)
}

type synced struct {
	Message string `json:"message"`
	Type    string `json:"merge_type"`
	Base    string `json:"base_branch"`
}

func (s *Service) apiSync(c *web.Ctx) error {
	var in syncInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.Branch == "" {
		return fault.Field("branch", "branch wasn't supplied")
	}
	how, err := s.Repos.Sync(c.Context(), c.Viewer, c.Repo, in.Branch)
	if err != nil {
		return err
	}
	up, err := s.Repos.Upstream(c.Context(), c.Viewer, c.Repo)
	if err != nil {
		return err
	}
	base := up.Owner.Name + ":" + in.Branch
	words := map[string]string{repos.SyncNone: "This branch is not behind the upstream " + base + ".",
		repos.SyncFastForward: "Successfully fetched and fast-forwarded from upstream " + base + ".",
		repos.SyncMerge:       "Successfully fetched and merged from upstream " + base + "."}
	return c.JSON(http.StatusOK, synced{words[how], how, base})
}
