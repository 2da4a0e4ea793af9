package codes

import (
	"net/http"
	"net/url"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

func (s *Service) branchRoutes(r *web.Router) {
	change := s.Gate.RepoChange(model.RoleWrite)
	const base = "/{owner}/{repo}"
	r.Get(base+"/branches/new", change, s.branchNew)
	r.Post(base+"/branches", change, s.branchCreate)
	r.Post(base+"/branches/delete", change, s.refDelete)
	r.Get(base+"/branches/rename", change, s.branchRenameForm)
	r.Post(base+"/branches/rename", change, s.branchRename)
}

// branchInput is the forms that make, rename and delete refs. From and Ref are
// percent-encoded: names in git are bytes, and forms hold UTF-8 only.
type branchInput struct {
	Name string `form:"name"`
	From string `form:"from"`
	Ref  string `form:"ref"`
}

func unescaped(s string) string {
	if raw, err := url.PathUnescape(s); err == nil {
		return raw
	}
	return s
}

func (s *Service) branchNew(c *web.Ctx) error {
	return s.renderBranchNew(c, branchInput{Name: c.Query("name"), From: c.Query("from")}, nil)
}

func (s *Service) renderBranchNew(c *web.Ctx, in branchInput, errs fault.Fields) error {
	if in.From == "" {
		in.From = link.Segment(c.Repo.DefaultBranch)
	}
	props := codeview.BranchFormProps{Repo: c.Repo, Name: in.Name, From: in.From, FromShown: git.Display(unescaped(in.From)), Errors: ui.Errors(errs)}
	return s.show(c, web.Page{Status: statusOf(errs), Title: "New branch · " + c.Repo.FullName(), Body: codeview.BranchNew(props)})
}

func statusOf(errs fault.Fields) int {
	if len(errs) > 0 {
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

func (s *Service) branchCreate(c *web.Ctx) error {
	var in branchInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	err := s.createBranch(c, in)
	if f := fault.From(err); f != nil && f.Kind == fault.Invalid {
		return s.renderBranchNew(c, in, f.Fields)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Tree(c.Repo.Owner.Name, c.Repo.Name, in.Name, ""), "Branch created.")
}

func (s *Service) createBranch(c *web.Ctx, in branchInput) error {
	if !git.ValidBranchName(in.Name) {
		return fault.Field("name", "That cannot be the name of a branch.")
	}
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	from, err := commitOf(c.Context(), g, or(unescaped(in.From), c.Repo.DefaultBranch))
	if err != nil {
		return fault.Wrap(fault.Invalid, "", fault.Field("from", "There is no such branch, tag or commit."))
	}
	return under("name", s.CreateRef(c.Context(), c.Viewer, c.Repo, git.BranchPrefix+in.Name, from.OID))
}

// under moves the messages of wrong fields to the field of a form.
func under(field string, err error) error {
	f := fault.From(err)
	if f == nil || f.Kind != fault.Invalid {
		return err
	}
	for _, message := range f.Fields {
		return fault.Field(field, message)
	}
	return err
}

// refDelete deletes a branch or tag: ref is its full name, encoded.
func (s *Service) refDelete(c *web.Ctx) error {
	var in branchInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	name := unescaped(in.Ref)
	if err := plain(s.DeleteRef(c.Context(), c.Viewer, c.Repo, name)); err != nil {
		return err
	}
	back := link.Branches(c.Repo.Owner.Name, c.Repo.Name)
	if _, tag := cutPrefix(name, git.TagPrefix); tag {
		back = link.Tags(c.Repo.Owner.Name, c.Repo.Name)
	}
	return c.RedirectFlash(back, git.Display(git.ShortRef(name))+" was deleted.")
}

func (s *Service) branchRenameForm(c *web.Ctx) error {
	return s.renderRename(c, branchInput{Ref: c.Query("ref"), Name: git.Display(git.ShortRef(unescaped(c.Query("ref"))))}, nil)
}

func (s *Service) renderRename(c *web.Ctx, in branchInput, errs fault.Fields) error {
	name := git.ShortRef(unescaped(in.Ref))
	props := codeview.BranchFormProps{Repo: c.Repo, Name: in.Name, Ref: in.Ref, FromShown: git.Display(name),
		Default: name == c.Repo.DefaultBranch, Errors: ui.Errors(errs)}
	return s.show(c, web.Page{Status: statusOf(errs), Title: "Rename branch · " + c.Repo.FullName(), Body: codeview.BranchRename(props)})
}

func (s *Service) branchRename(c *web.Ctx) error {
	var in branchInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	err := under("name", s.RenameBranch(c.Context(), c.Viewer, c.Repo, git.ShortRef(unescaped(in.Ref)), in.Name))
	if f := fault.From(err); f != nil && f.Kind == fault.Invalid {
		return s.renderRename(c, in, f.Fields)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Branches(c.Repo.Owner.Name, c.Repo.Name), "The branch is now called "+in.Name+".")
}
