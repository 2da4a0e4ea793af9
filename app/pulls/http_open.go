package pulls

import (
	"errors"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/views/pullview"
	"github.com/gitfor/gitfor/views/ui"
)

// Form is the form that opens a pull request from the comparison of base and
// head, or nil where the viewer cannot.
func (s *Service) Form(c *web.Ctx, base, head string) (templ.Component, error) {
	if !c.Viewer.SignedIn() || c.Repo.Archived() || c.Repo.Settings.NoPulls {
		return nil, nil
	}
	ctx, p := c.Context(), place(c)
	g, err := s.open(ctx, c.Repo)
	if err != nil {
		return nil, err
	}
	if _, err := tip(ctx, g, base); err != nil {
		return nil, ignoreMissing(err)
	}
	h, err := s.FindHead(ctx, p, head)
	if fault.Is(err, fault.Invalid) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if h.Repo.ID == c.Repo.ID && h.Branch == base {
		return nil, nil
	}
	props := pullview.NewProps{Owner: c.Repo.Owner.Name, Name: c.Repo.Name, Base: base, Head: head, HeadName: h.Label(),
		MaintainerEdits: true, AskMaintainer: h.Repo.ID != c.Repo.ID}
	same, _, err := pulldb.List(ctx, s.DB.Repo(c.Repo.ID), pulldb.Filter{State: model.StateOpen, BaseRef: base,
		HeadRepo: h.Repo.ID, HeadRef: h.Branch, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(same) > 0 {
		props.Exists = same[0].Number
		return pullview.New(props), nil
	}
	ready, err := s.prefill(c, g, h, &props)
	if err != nil || !ready {
		return nil, err
	}
	return pullview.New(props), nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, git.ErrNotFound) {
		return nil
	}
	return err
}

// prefill suggests a title and a description; false when there is nothing to
// propose.
func (s *Service) prefill(c *web.Ctx, g *git.Repository, h *Head, props *pullview.NewProps) (bool, error) {
	ctx := c.Context()
	if h.Repo.ID != c.Repo.ID {
		other, err := s.open(ctx, h.Repo)
		if err != nil {
			return false, err
		}
		if g, err = g.Borrowing(other); err != nil {
			return false, err
		}
	}
	base, err := tip(ctx, g, props.Base)
	if err != nil {
		return false, err
	}
	log, err := g.Log(ctx, h.OID, git.LogOptions{Exclude: []git.OID{base}, Limit: 2})
	if err != nil || len(log) == 0 {
		return false, err
	}
	f := &facts{base: base, head: h.OID}
	if f.mergeBase, err = g.MergeBase(ctx, base, h.OID); err != nil {
		return false, err
	}
	if err := f.try(ctx, g); err != nil {
		return false, err
	}
	props.Mergeable = f.mergeable
	props.Title = titled(h.Branch)
	if len(log) == 1 {
		props.Title, props.Body = log[0].Title(), withoutTrailers(log[0])
	}
	template, err := s.template(c, g, base)
	if err != nil {
		return false, err
	}
	if template != "" {
		props.Body = strings.TrimSpace(props.Body + "\n\n" + template)
	}
	q := c.R.URL.Query()
	if q.Has("title") {
		props.Title = q.Get("title")
	}
	if q.Has("body") {
		props.Body = q.Get("body")
	}
	return true, nil
}

// titled makes a title of a branch's name: fix-slow_start is "Fix slow start".
func titled(branch string) string {
	if i := strings.LastIndexByte(branch, '/'); i >= 0 && i < len(branch)-1 {
		branch = branch[i+1:]
	}
	rs := []rune(strings.Join(strings.FieldsFunc(branch, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " "))
	if len(rs) == 0 {
		return branch
	}
	return strings.ToUpper(string(rs[:1])) + string(rs[1:])
}

// maxTemplate is the most that is read of a template.
const maxTemplate = 64 << 10

// template is the description that the repository wants pull requests to
// start with, from the base branch.
func (s *Service) template(c *web.Ctx, g *git.Repository, base git.OID) (string, error) {
	for _, dir := range []string{".github", "", "docs"} {
		entries, _, err := g.TreeAt(c.Context(), base, dir)
		if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrWrongType) {
			continue
		}
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			switch strings.ToLower(e.Name) {
			case "pull_request_template.md", "pull_request_template.txt", "pull_request_template":
				text, err := g.Blob(c.Context(), e.OID, maxTemplate)
				if err != nil {
					continue
				}
				return git.DecodeText(string(text)), nil
			}
		}
	}
	return "", nil
}

// openPage takes the form that opens a pull request.
func (s *Service) openPage(c *web.Ctx) error {
	in := OpenInput{}
	var form struct {
		OpenInput

		Key string `form:"idempotency_key"`
	}
	if err := c.Decode(&form); err != nil {
		return err
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if !c.R.PostForm.Has("maintainer_edits") {
		off := false
		in.MaintainerEdits = &off
	}
	pull, err := s.Open(c.Context(), place(c), in)
	var exists *Exists
	if errors.As(err, &exists) {
		return c.RedirectFlash(here(c, exists.Number), exists.Error())
	}
	if fields, ok := invalid(err); ok {
		return s.refuseOpen(c, in, form.Key, fields)
	}
	if err != nil {
		return err
	}
	return c.Redirect(here(c, pull.Number))
}

func (s *Service) refuseOpen(c *web.Ctx, in OpenInput, key string, fields ui.Errors) error {
	shell, err := s.Repos.Shell(c, "pulls")
	if err != nil {
		return err
	}
	props := pullview.NewProps{Owner: c.Repo.Owner.Name, Name: c.Repo.Name, Base: in.Base, Head: in.Head, HeadName: in.Head,
		Title: in.Title, Body: in.Body, Draft: in.Draft, Errors: fields, Key: key,
		MaintainerEdits: in.MaintainerEdits != nil && *in.MaintainerEdits, AskMaintainer: strings.Contains(in.Head, ":")}
	return c.Render(web.Page{Status: http.StatusUnprocessableEntity, Title: "Open a pull request · " + c.Repo.FullName(), Shell: shell,
		Body: pullview.NewPage(props)})
}
