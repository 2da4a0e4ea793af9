package repos

import (
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/repoview"
	"github.com/gitfor/gitfor/views/ui"
)

// SettingsSection is a page of a repository's settings that a feature adds.
type SettingsSection struct{ Key, Label, Icon string }

// SettingsShell is the frame of the settings pages of the repository in c.
func (s *Service) SettingsShell(c *web.Ctx, active string) (layout.Shell, error) {
	counts, err := s.DB.Repo(c.Repo.ID).Counts(c.Context())
	if err != nil {
		return nil, err
	}
	frame := s.frame(c, "settings", counts)
	nav := ui.NavSection{Links: []ui.Tab{{Key: "general", Label: "General", Icon: "settings",
		Href: link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, "")}}}
	for _, sec := range s.Sections {
		nav.Links = append(nav.Links, ui.Tab{Key: sec.Key, Label: sec.Label, Icon: sec.Icon,
			Href: link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, sec.Key)})
	}
	return layout.SettingsShell(layout.SettingsProps{Label: "Repository settings", Active: active, Repo: &frame,
		Sections: []ui.NavSection{nav}}), nil
}

func (s *Service) settings(c *web.Ctx) error { return s.renderSettings(c, nil) }

func (s *Service) renderSettings(c *web.Ctx, err error) error {
	f := fault.From(err)
	if err != nil && f.Kind != fault.Invalid {
		return err
	}
	props := repoview.SettingsProps{Repo: c.Repo, Topics: strings.Join(c.Repo.Topics, " ")}
	status := http.StatusOK
	if f != nil {
		props.Errors, status = ui.Errors(f.Fields), http.StatusUnprocessableEntity
		// What was typed is shown again.
		typed := *c.Repo
		for field, dst := range map[string]*string{"description": &typed.Description, "website": &typed.Website,
			"default_branch": &typed.DefaultBranch} {
			if v, ok := c.R.PostForm[field]; ok {
				*dst = v[0]
			}
		}
		props.Repo, props.NewName, props.NewOwner = &typed, c.R.PostForm.Get("name"), c.R.PostForm.Get("new_owner")
		if v, ok := c.R.PostForm["topics"]; ok {
			props.Topics = v[0]
		}
	}
	g, err := s.Open(c.Context(), c.Repo)
	if err != nil {
		return err
	}
	branches, err := g.Branches(c.Context())
	if err != nil {
		return err
	}
	for _, b := range branches {
		name := strings.TrimPrefix(b.Name, "refs/heads/")
		props.Branches = append(props.Branches, ui.Option{Value: name, Label: name})
	}
	shell, err := s.SettingsShell(c, "general")
	if err != nil {
		return err
	}
	return c.Render(web.Page{Status: status, Title: "Settings · " + c.Repo.FullName(), Shell: shell, Body: repoview.Settings(props)})
}

// settingsForm is the general form; an absent checkbox means off.
type settingsForm struct {
	Description   string `form:"description"`
	Website       string `form:"website"`
	Topics        string `form:"topics"`
	DefaultBranch string `form:"default_branch"`
	HasIssues     bool   `form:"has_issues"`
	AllowMerge    bool   `form:"allow_merge"`
	AllowSquash   bool   `form:"allow_squash"`
	AllowRebase   bool   `form:"allow_rebase"`
	AutoMerge     bool   `form:"auto_merge"`
	DeleteOnMerge bool   `form:"delete_on_merge"`
	Template      bool   `form:"template"`
	Immutable     bool   `form:"immutable_releases"`
}

func (s *Service) settingsSave(c *web.Ctx) error {
	var f settingsForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	topics := strings.FieldsFunc(f.Topics, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\r' })
	in := EditInput{Description: &f.Description, Website: &f.Website, Topics: &topics, HasIssues: &f.HasIssues,
		AllowMerge: &f.AllowMerge, AllowSquash: &f.AllowSquash, AllowRebase: &f.AllowRebase, AutoMerge: &f.AutoMerge,
		DeleteOnMerge: &f.DeleteOnMerge, Template: &f.Template, ImmutableReleases: &f.Immutable}
	if f.DefaultBranch != "" {
		in.DefaultBranch = &f.DefaultBranch
	}
	return s.saved(c, s.Edit(c.Context(), c.Viewer, c.Repo, in), "The settings are saved.")
}

// saved shows the settings again: with a message, or with what is wrong.
func (s *Service) saved(c *web.Ctx, err error, message string) error {
	if err != nil {
		return s.renderSettings(c, err)
	}
	return c.RedirectFlash(link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, ""), message)
}

func (s *Service) rename(c *web.Ctx) error {
	name := strings.TrimSpace(c.R.PostFormValue("name"))
	return s.saved(c, s.Edit(c.Context(), c.Viewer, c.Repo, EditInput{Name: &name}),
		"The repository has its new name; links to the old one redirect.")
}

func (s *Service) visibility(c *web.Ctx) error {
	if err := s.confirmed(c); err != nil {
		return s.renderSettings(c, err)
	}
	to := model.Private
	if c.Repo.IsPrivate() {
		to = model.Public
	}
	return s.saved(c, s.Edit(c.Context(), c.Viewer, c.Repo, EditInput{Visibility: &to}), "The repository is now "+to+".")
}

func (s *Service) archive(c *web.Ctx) error {
	to := !c.Repo.Archived()
	message := "The repository can be changed again."
	if to {
		message = "The repository is archived and read-only."
	}
	return s.saved(c, s.Edit(c.Context(), c.Viewer, c.Repo, EditInput{Archived: &to}), message)
}

func (s *Service) transfer(c *web.Ctx) error {
	if err := s.confirmed(c); err != nil {
		return s.renderSettings(c, err)
	}
	err := s.Transfer(c.Context(), c.Viewer, c.Repo, strings.TrimSpace(c.R.PostFormValue("new_owner")))
	if err != nil {
		return s.renderSettings(c, err)
	}
	return c.RedirectFlash(link.Repo(c.Repo.Owner.Name, c.Repo.Name), "The repository has a new owner; old links redirect.")
}

// confirmed checks that the repository's full name was typed.
func (s *Service) confirmed(c *web.Ctx) error {
	if !strings.EqualFold(strings.TrimSpace(c.R.PostFormValue("confirm")), c.Repo.FullName()) {
		return fault.Field("confirm", "Type "+c.Repo.FullName()+" to confirm.")
	}
	return nil
}
