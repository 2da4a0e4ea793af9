package pulls

import (
	"net/http"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/part"
	"github.com/gitfor/gitfor/views/pullview"
	"github.com/gitfor/gitfor/views/ui"
)

// autoPost has the pull request merged once nothing is missing.
func (s *Service) autoPost(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in MergeInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	pull, err := s.AutoMerge(c.Context(), place(c), n, in)
	if err == nil && pull.Merged() {
		return s.done(c, n, nil, "Merged.")
	}
	return s.done(c, n, err, "It is merged once nothing is missing.")
}

func (s *Service) autoCancel(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	return s.done(c, n, s.CancelAutoMerge(c.Context(), place(c), n), "It is no longer merged by itself.")
}

func (s *Service) revertPost(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	made, err := s.Revert(c.Context(), place(c), n)
	if err != nil {
		return s.done(c, n, err, "")
	}
	return c.Redirect(here(c, made.Number))
}

func (s *Service) pickPost(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in struct {
		Onto string `form:"onto"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	made, err := s.CherryPick(c.Context(), place(c), n, in.Onto)
	if err != nil {
		return s.done(c, n, err, "")
	}
	return c.Redirect(here(c, made.Number))
}

// conflictsPage shows the conflicts and takes how they are resolved.
func (s *Service) conflictsPage(c *web.Ctx) error {
	return s.conflictsWith(c, http.StatusOK, nil, nil, "")
}

func (s *Service) conflictsWith(c *web.Ctx, status int, in *ResolveInput, errs ui.Errors, said string) error {
	pull, g, err := s.found(c)
	if err != nil {
		return err
	}
	found, err := s.Clashes(c.Context(), place(c), pull.Number)
	if f := fault.From(err); err != nil && f.Kind == fault.Conflict {
		return s.done(c, pull.Number, err, "")
	}
	if err != nil {
		return err
	}
	p := pullview.ConflictsProps{Action: here(c, pull.Number) + "/conflicts", Back: here(c, pull.Number), HeadSHA: found.Head, BaseSHA: found.Base,
		HeadName: pull.HeadRef, BaseName: pull.BaseRef, Errors: ui.Errors{"": said}}
	if said == "" {
		p.Errors = nil
	}
	if p.Head, err = s.headProps(c, g, pull, nil, "conflicts"); err != nil {
		return err
	}
	for _, f := range found.Files {
		file := pullview.Conflict{Path: f.Path, Text: f.Text, Ours: f.Ours, Theirs: f.Theirs, Editable: f.Editable, HasOurs: f.HasOurs, HasTheirs: f.HasTheirs, How: ResolveText}
		if !f.Editable {
			file.How = ""
		}
		if in != nil {
			for _, r := range in.Files {
				if r.Path == f.Path {
					file.How = r.How
					if r.Text != "" {
						file.Text = r.Text
					}
				}
			}
		}
		file.Error = errs[f.Path]
		p.Files = append(p.Files, file)
	}
	if in != nil {
		p.Message = in.Message
	}
	return s.render(c, status, pull, "Conflicts", pullview.Conflicts(p), true, p.Head)
}

func (s *Service) conflictsPost(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var form struct {
		Head    string   `form:"head"`
		Base    string   `form:"base"`
		Message string   `form:"message"`
		Paths   []string `form:"path"`
	}
	if err := c.Decode(&form); err != nil {
		return err
	}
	in := ResolveInput{Head: form.Head, Base: form.Base, Message: form.Message}
	for i, path := range form.Paths {
		k := num(int64(i))
		in.Files = append(in.Files, Resolution{Path: path, How: c.R.PostForm.Get("how-" + k), Text: c.R.PostForm.Get("text-" + k)})
	}
	_, err = s.Resolve(c.Context(), place(c), n, in)
	switch f := fault.From(err); {
	case err == nil:
		return s.done(c, n, nil, "The conflicts are resolved.")
	case f.Kind == fault.Invalid:
		errs := ui.Errors{}
		for k, v := range f.Fields {
			errs[k] = v
		}
		return s.conflictsWith(c, http.StatusUnprocessableEntity, &in, errs, "Not all conflicts are resolved.")
	case f.Kind == fault.Conflict:
		return s.conflictsWith(c, http.StatusConflict, &in, nil, f.Message)
	}
	return err
}

// stack are the open pull requests that this one stands on or that stand on
// it, the lowest first.
func (s *Service) stack(c *web.Ctx, pull *model.Pull) ([]pullview.StackEntry, error) {
	if !pull.Issue.Open() || pull.HeadRepo != c.Repo.ID {
		return nil, nil
	}
	list, err := pulldb.Stack(c.Context(), s.DB.Repo(c.Repo.ID), pull.Number)
	if err != nil || len(list) < 2 {
		return nil, err
	}
	var out []pullview.StackEntry
	for _, x := range list {
		if !x.Issue.VisibleTo(c.Viewer.ID(), c.Role) {
			continue
		}
		out = append(out, pullview.StackEntry{Number: x.Number, Title: x.Issue.Title, Href: link.Pull(c.Repo.Owner.Name, c.Repo.Name, x.Number),
			Current: x.Number == pull.Number, State: part.PullState(x.Issue.State, false, x.Issue.Draft)})
	}
	return out, nil
}

// branchNames are the branches that a change can be picked onto.
func branchNames(c *web.Ctx, g *git.Repository, except string) ([]string, error) {
	branches, err := g.Branches(c.Context())
	var out []string
	for _, b := range branches {
		if name := b.Short(); name != except && len(out) < maxBases {
			out = append(out, name)
		}
	}
	return out, err
}
