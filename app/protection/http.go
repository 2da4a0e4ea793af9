package protection

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/protectdb"
	"github.com/gitfor/gitfor/db/statusdb"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/protectview"
	"github.com/gitfor/gitfor/views/ui"
)

// Section is the page of a repository's settings.
func Section() repos.SettingsSection {
	return repos.SettingsSection{Key: "branches", Label: "Branch rules", Icon: "shield"}
}

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	admin, read := s.Gate.Repo(model.RoleAdmin), s.Gate.Repo(model.RoleRead)
	const at = "/{owner}/{repo}/settings/branches"
	r.Get(at, admin, s.listPage)
	r.Get(at+"/new", admin, s.newPage)
	r.Post(at, admin, s.savePage)
	r.Get(at+"/explain", read, s.explainPage)
	r.Get(at+"/{id}", admin, s.editPage)
	r.Post(at+"/{id}", admin, s.savePage)
	r.Post(at+"/{id}/delete", admin, s.deletePage)
	s.apiRoutes(r)
}

func home(c *web.Ctx) string { return link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, "branches") }

func (s *Service) show(c *web.Ctx, page web.Page) error {
	shell, err := s.Repos.SettingsShell(c, "branches")
	if err != nil {
		return err
	}
	page.Shell = shell
	page.Title += " · " + c.Repo.FullName()
	return c.Render(page)
}

func (s *Service) branches(c *web.Ctx) ([]string, error) {
	g, err := s.Repos.Open(c.Context(), c.Repo)
	if err != nil {
		return nil, err
	}
	refs, err := g.Branches(c.Context())
	var names []string
	for _, r := range refs {
		names = append(names, r.Short())
	}
	return names, err
}

func (s *Service) listPage(c *web.Ctx) error {
	rules, err := protectdb.List(c.Context(), s.DB.Repo(c.Repo.ID))
	if err != nil {
		return err
	}
	names, err := s.branches(c)
	if err != nil {
		return err
	}
	p := protectview.ListProps{Base: home(c), Default: c.Repo.DefaultBranch, Viewer: c.Viewer.Name()}
	for _, r := range rules {
		row := protectview.RuleRow{ID: r.ID, Pattern: r.Pattern, Demands: Demands(&r.Demands), Restricted: r.Demands.Restricted,
			ByPull: r.Demands.ByPull()}
		for _, n := range names {
			if r.Matches(n) {
				row.Matches = append(row.Matches, git.Display(n))
			}
		}
		p.Rules = append(p.Rules, row)
	}
	return s.show(c, web.Page{Title: "Branch rules", Body: protectview.List(p)})
}

// ruleForm is a rule as its form sends it.
type ruleForm struct {
	Pattern     string   `form:"pattern"`
	Pull        bool     `form:"pull"`
	Reviews     int      `form:"reviews"`
	Owners      bool     `form:"owners"`
	Fresh       bool     `form:"fresh"`
	Other       bool     `form:"other"`
	Resolved    bool     `form:"resolved"`
	Checks      []string `form:"checks"`
	MoreChecks  string   `form:"more_checks"`
	UpToDate    bool     `form:"up_to_date"`
	Linear      bool     `form:"linear"`
	Signed      bool     `form:"signed"`
	Restricted  bool     `form:"restricted"`
	Pushers     string   `form:"pushers"`
	AllowForce  bool     `form:"allow_force"`
	AllowDelete bool     `form:"allow_delete"`
	Admins      bool     `form:"admins"`
}

func (s *Service) rule(ctx context.Context, f ruleForm) (*model.BranchRule, error) {
	r := &model.BranchRule{Pattern: f.Pattern, Demands: model.Protection{Pull: f.Pull, Reviews: f.Reviews, Owners: f.Owners, Fresh: f.Fresh,
		Other: f.Other, Resolved: f.Resolved, UpToDate: f.UpToDate, Linear: f.Linear, Signed: f.Signed, Restricted: f.Restricted, AllowForce: f.AllowForce,
		AllowDelete: f.AllowDelete, Admins: f.Admins}}
	r.Demands.Checks = append(f.Checks, strings.Split(f.MoreChecks, "\n")...)
	names := strings.FieldsFunc(f.Pushers, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '\r' })
	found, err := accountdb.ByNames(ctx, s.DB.Directory(), names)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		a := found[model.Key(strings.TrimPrefix(n, "@"))]
		if a == nil {
			return r, fault.Field("pushers", "There is nobody named "+n+".")
		}
		r.Demands.Pushers = append(r.Demands.Pushers, a.ID)
	}
	return r, nil
}

func (s *Service) form(c *web.Ctx, r *model.BranchRule, typed *ruleForm, errs ui.Errors, status int) error {
	contexts, err := statusdb.Contexts(c.Context(), s.DB.Repo(c.Repo.ID))
	if err != nil {
		return err
	}
	p := protectview.FormProps{Base: home(c), ID: r.ID, Pattern: r.Pattern, Demands: r.Demands, Errors: errs}
	for _, name := range r.Demands.Checks {
		if !slices.Contains(contexts, name) {
			contexts = append(contexts, name)
		}
	}
	p.Contexts = contexts
	if typed != nil {
		p.Pushers = typed.Pushers
	} else if len(r.Demands.Pushers) > 0 {
		accounts, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), r.Demands.Pushers...)
		if err != nil {
			return err
		}
		var names []string
		for _, id := range r.Demands.Pushers {
			if a := accounts[id]; a != nil {
				names = append(names, a.Name)
			}
		}
		p.Pushers = strings.Join(names, ", ")
	}
	title := "New branch rule"
	if r.ID != 0 {
		title = "Branch rule"
	}
	return s.show(c, web.Page{Status: status, Title: title, Body: protectview.Form(p)})
}

func (s *Service) newPage(c *web.Ctx) error {
	pattern := c.Query("pattern")
	return s.form(c, &model.BranchRule{Pattern: pattern, Demands: model.Protection{Pull: true, Reviews: 1}}, nil, nil, http.StatusOK)
}

func (s *Service) find(c *web.Ctx) (*model.BranchRule, error) {
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, err
	}
	rules, err := protectdb.List(c.Context(), s.DB.Repo(c.Repo.ID))
	if err != nil {
		return nil, err
	}
	for _, r := range rules {
		if r.ID == id {
			return r, nil
		}
	}
	return nil, db.ErrNotFound
}

func (s *Service) editPage(c *web.Ctx) error {
	r, err := s.find(c)
	if err != nil {
		return err
	}
	return s.form(c, r, nil, nil, http.StatusOK)
}

func (s *Service) savePage(c *web.Ctx) error {
	var f ruleForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	r, err := s.rule(c.Context(), f)
	if r != nil && c.Param("id") != "" {
		if r.ID, err = strconv.ParseInt(c.Param("id"), 10, 64); err != nil {
			return db.ErrNotFound
		}
	}
	if err == nil {
		err = s.Save(c.Context(), c.Viewer, c.Repo, r)
	}
	if fault.Is(err, fault.Invalid) {
		return s.form(c, r, &f, ui.Errors(fault.From(err).Fields), http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(home(c), "The rule for "+r.Pattern+" holds from now on.")
}

func (s *Service) deletePage(c *web.Ctx) error {
	r, err := s.find(c)
	if err != nil {
		return err
	}
	if err := s.Delete(c.Context(), c.Viewer, c.Repo, r.ID); err != nil {
		return err
	}
	return c.RedirectFlash(home(c), "The rule for "+r.Pattern+" is gone.")
}

// explainPage says what a person may do to a branch. Everyone who reads the
// repository may ask it about themselves, administrators about everyone.
func (s *Service) explainPage(c *web.Ctx) error {
	names, err := s.branches(c)
	if err != nil {
		return err
	}
	p := protectview.ExplainProps{Base: home(c), Branch: c.Query("branch"), Person: c.Query("person"), Branches: names,
		CanChoose: c.Role.AtLeast(model.RoleAdmin)}
	if p.Branch == "" {
		p.Branch = c.Repo.DefaultBranch
	}
	if p.Person == "" || !p.CanChoose {
		p.Person = c.Viewer.Name()
	}
	status := http.StatusOK
	if p.Person != "" {
		e, err := s.Explain(c.Context(), c.Repo, p.Branch, p.Person)
		switch {
		case fault.Is(err, fault.Invalid):
			p.Errors, status = ui.Errors(fault.From(err).Fields), http.StatusUnprocessableEntity
		case err != nil:
			return err
		default:
			p.Role = string(e.Role)
			for _, a := range e.Answers {
				p.Answers = append(p.Answers, protectview.Answer{Action: a.Action, Allowed: a.Allowed, Why: a.Why, Rules: a.Rules})
			}
		}
	}
	page := web.Page{Status: status, Title: "What holds for a branch", Body: protectview.Explain(p)}
	if p.CanChoose {
		return s.show(c, page)
	}
	shell, err := s.Repos.Shell(c, "code")
	if err != nil {
		return err
	}
	page.Shell = shell
	page.Title += " · " + c.Repo.FullName()
	return c.Render(page)
}
