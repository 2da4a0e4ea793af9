package releases

import (
	"net/http"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/releaseview"
	"github.com/gitfor/gitfor/views/ui"
)

// form is a release as its form sends it. Do is publish, draft or notes.
type form struct {
	Tag        string `form:"tag_name"`
	Target     string `form:"target_commitish"`
	Previous   string `form:"previous_tag_name"`
	Name       string `form:"name"`
	Body       string `form:"body"`
	Prerelease bool   `form:"prerelease"`
	Latest     string `form:"make_latest"`
	Do         string `form:"do"`
	Version    int    `form:"version"`
	Key        string `form:"idempotency_key"`
}

func (f *form) input(old *model.Release) Input {
	draft := f.Do == "draft"
	in := Input{Tag: &f.Tag, Target: &f.Target, Name: &f.Name, Body: &f.Body, Prerelease: &f.Prerelease, Draft: &draft, Latest: f.Latest}
	if old != nil {
		in.Version = &f.Version
		if !old.Draft {
			// A published one stays so.
			*in.Draft = false
		}
	}
	return in
}

// most is how many branches and tags the form suggests.
const most = 200

func (s *Service) renderForm(c *web.Ctx, status int, old *model.Release, f form, fields ui.Errors, note string) error {
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	p := releaseview.FormProps{Owner: c.Repo.Owner.Name, Repo: c.Repo.Name, Default: c.Repo.DefaultBranch, Context: c.Repo.FullName(), Tag: f.Tag, Target: f.Target,
		Previous: f.Previous, Name: f.Name, Body: f.Body, Prerelease: f.Prerelease, Latest: f.Latest, Version: f.Version, Errors: fields, Note: note,
		WillLast: c.Repo.Settings.ImmutableReleases}
	if old != nil {
		p.ID, p.Published, p.Immutable, p.Assets = old.ID, !old.Draft, old.Immutable, old.Assets
	}
	branches, err := g.Branches(c.Context())
	if err != nil {
		return err
	}
	tags, err := g.Tags(c.Context())
	if err != nil {
		return err
	}
	for _, r := range branches[:min(most, len(branches))] {
		p.Branches = append(p.Branches, git.Display(r.Short()))
	}
	for i := len(tags) - 1; i >= 0 && len(p.Tags) < most; i-- {
		p.Tags = append(p.Tags, git.Display(tags[i].Short()))
	}
	title := "New release"
	if old != nil {
		title = "Edit " + old.Title()
	}
	return s.show(c, web.Page{Status: status, Title: title, Body: releaseview.Form(p)})
}

func (s *Service) newPage(c *web.Ctx) error {
	return s.renderForm(c, http.StatusOK, nil, form{Tag: c.Query("tag"), Target: c.Query("target"), Name: c.Query("title"), Body: c.Query("body"),
		Prerelease: c.Query("prerelease") == "1"}, nil, "")
}

func formOf(r *model.Release) form {
	f := form{Tag: r.Tag, Target: r.Target, Name: r.Name, Body: r.Body, Prerelease: r.Prerelease, Version: r.Version}
	if r.Latest == model.NeverLatest {
		f.Latest = "false"
	}
	return f
}

func (s *Service) editPage(c *web.Ctx) error {
	r, err := s.found(c)
	if err != nil {
		return err
	}
	return s.renderForm(c, http.StatusOK, r, formOf(r), nil, "")
}

// savePage makes or changes a release, or fills the form with notes.
func (s *Service) savePage(c *web.Ctx) error {
	var f form
	if err := c.Decode(&f); err != nil {
		return err
	}
	var old *model.Release
	if c.Param("id") != "" {
		var err error
		if old, err = s.found(c); err != nil {
			return err
		}
	}
	if f.Do == "notes" {
		return s.fillNotes(c, old, f)
	}
	var r *model.Release
	var err error
	if old == nil {
		r, err = s.Create(c.Context(), c.Viewer, c.Repo, f.input(nil))
	} else {
		r, err = s.Edit(c.Context(), c.Viewer, c.Repo, old.ID, f.input(old))
	}
	if fields, ok := invalid(err); ok {
		return s.renderForm(c, http.StatusUnprocessableEntity, old, f, fields, "")
	}
	if fault.Is(err, fault.Conflict) && old != nil {
		f.Version = old.Version
		return s.renderForm(c, http.StatusConflict, old, f, ui.Errors{"": fault.From(err).Error()},
			"What is saved now is: "+old.Title()+"\n\n"+old.Body+"\n\nYour own text is in the form; saving again replaces theirs.")
	}
	if err != nil {
		return err
	}
	if r.Draft {
		return c.RedirectFlash(link.Releases(c.Repo.Owner.Name, c.Repo.Name)+"/"+num(r.ID)+"/edit", "The draft is saved. Only people with write access see it.")
	}
	return c.Redirect(link.Release(c.Repo.Owner.Name, c.Repo.Name, r.Tag))
}

// fillNotes shows the form again with notes made of the merged pull requests
// below what was typed.
func (s *Service) fillNotes(c *web.Ctx, old *model.Release, f form) error {
	in := NotesInput{Tag: f.Tag, Target: f.Target, Previous: f.Previous}
	if old != nil {
		in.Release = old.ID
	}
	notes, err := s.Notes(c.Context(), c.Repo, in)
	if fields, ok := invalid(err); ok {
		return s.renderForm(c, http.StatusUnprocessableEntity, old, f, fields, "")
	}
	if err != nil {
		return err
	}
	if f.Name == "" {
		f.Name = notes.Name
	}
	if f.Body != "" {
		f.Body += "\n\n"
	}
	f.Body += notes.Body
	note := "Notes were made of all history."
	if notes.Previous != "" {
		note = "Notes were made of what was merged since " + git.Display(notes.Previous) + "."
	}
	return s.renderForm(c, http.StatusOK, old, f, nil, note)
}
