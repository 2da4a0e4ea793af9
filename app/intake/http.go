package intake

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/intakeview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// Section is the page of a repository's settings.
func Section() repos.SettingsSection {
	return repos.SettingsSection{Key: "pushes", Label: "Files and secrets", Icon: "file-lock"}
}

// Routes mounts the pages.
func (s *Service) Routes(r *web.Router) {
	admin, write := s.Gate.Repo(model.RoleAdmin), s.Gate.RepoChange(model.RoleWrite)
	r.Get("/{owner}/{repo}/settings/pushes", admin, s.settingsPage)
	r.Post("/{owner}/{repo}/settings/pushes", admin, s.settingsSave)
	r.Get("/{owner}/{repo}/allow-secret", write, s.allowPage)
	r.Post("/{owner}/{repo}/allow-secret", write, s.allow)
}

// settingsForm is the form as it is sent.
type settingsForm struct {
	Secrets bool   `form:"secrets"`
	MaxMB   string `form:"max_mb"`
	Paths   string `form:"paths"`
}

func (s *Service) settingsPage(c *web.Ctx) error {
	st := c.Repo.Settings
	f := settingsForm{Secrets: !st.SecretPushAllow, Paths: strings.Join(st.ForbiddenPaths, "\n")}
	if st.MaxFileBytes > 0 {
		f.MaxMB = strconv.FormatFloat(float64(st.MaxFileBytes)/(1<<20), 'f', -1, 64)
	}
	return s.settingsShow(c, f, nil)
}

func (s *Service) settingsShow(c *web.Ctx, f settingsForm, err error) error {
	shell, shellErr := s.Repos.SettingsShell(c, "pushes")
	if shellErr != nil {
		return shellErr
	}
	p := intakeview.SettingsProps{Action: link.RepoSettings(c.Repo.Owner.Name, c.Repo.Name, "pushes"), Secrets: f.Secrets, MaxMB: f.MaxMB, Paths: f.Paths}
	status := http.StatusOK
	if err != nil {
		p.Errors, status = ui.Errors(fault.From(err).Fields), http.StatusUnprocessableEntity
	}
	if s.MaxFile != nil {
		p.Instance = s.MaxFile(c.Context())
	}
	var ids []int64
	for _, a := range c.Repo.Settings.SecretsAllowed {
		ids = append(ids, a.By)
	}
	people, nameErr := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
	if nameErr != nil {
		return nameErr
	}
	for _, a := range c.Repo.Settings.SecretsAllowed {
		row := intakeview.Allowed{Rule: a.Rule, File: a.File, Reason: a.Reason, At: a.At}
		if who := people[a.By]; who != nil {
			row.By = who.Name
		}
		p.Allowed = append(p.Allowed, row)
	}
	return c.Render(web.Page{Status: status, Title: "Files and secrets · " + c.Repo.FullName(), Shell: shell, Body: intakeview.Settings(p)})
}

func (f settingsForm) parse() (maxBytes int64, paths []string, err error) {
	fields := fault.Fields{}
	if v := strings.TrimSpace(f.MaxMB); v != "" {
		mb, err := strconv.ParseFloat(v, 64)
		if err != nil || mb < 0 || mb > 100_000 {
			fields.Add("max_mb", "Write a number of megabytes, or nothing for no limit.")
		}
		maxBytes = int64(mb * (1 << 20))
	}
	for line := range strings.Lines(f.Paths) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(line) > 200 || len(paths) >= 100 || strings.ContainsAny(line, "\\[]") {
			fields.Add("paths", "There may be 100 patterns of up to 200 characters, with * and ? as their only signs.")
			break
		}
		paths = append(paths, line)
	}
	return maxBytes, paths, fields.Err()
}

func (s *Service) settingsSave(c *web.Ctx) error {
	var f settingsForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	maxBytes, paths, err := f.parse()
	if err != nil {
		return s.settingsShow(c, f, err)
	}
	before := c.Repo.Settings
	repo := *c.Repo
	repo.Settings.MaxFileBytes, repo.Settings.ForbiddenPaths, repo.Settings.SecretPushAllow = maxBytes, paths, !f.Secrets
	if err := s.DB.InDirectory(c.Context(), func(ctx context.Context, tx db.DirectoryTx) error {
		if err := repodb.Update(ctx, tx, &repo, "settings"); err != nil {
			return err
		}
		return audit.Record(ctx, tx, audit.Entry{Action: "repo.file_rules_changed", Actor: c.Viewer, Repo: &repo,
			Before: audit.Facts{"secrets_blocked": !before.SecretPushAllow, "max_file_bytes": before.MaxFileBytes, "forbidden_paths": before.ForbiddenPaths},
			After:  audit.Facts{"secrets_blocked": f.Secrets, "max_file_bytes": maxBytes, "forbidden_paths": paths}})
	}); err != nil {
		return err
	}
	return c.RedirectFlash(link.RepoSettings(repo.Owner.Name, repo.Name, "pushes"), "These rules hold from the next push on.")
}

// allowForm names a secret and says why it may come in.
type allowForm struct {
	Code   string `form:"code"`
	Rule   string `form:"rule"`
	File   string `form:"file"`
	Reason string `form:"reason"`
}

func (s *Service) allowPage(c *web.Ctx) error {
	return s.allowShow(c, allowForm{Code: c.Query("code"), Rule: c.Query("rule"), File: c.Query("file")}, nil)
}

func (s *Service) allowShow(c *web.Ctx, f allowForm, err error) error {
	shell, shellErr := s.Repos.Shell(c, "code")
	if shellErr != nil {
		return shellErr
	}
	p := intakeview.AllowProps{Action: link.RepoPage(c.Repo.Owner.Name, c.Repo.Name, "allow-secret"), Code: f.Code, Rule: f.Rule, File: f.File, Reason: f.Reason}
	status := http.StatusOK
	if err != nil {
		p.Errors, status = ui.Errors(fault.From(err).Fields), http.StatusUnprocessableEntity
	}
	return c.Render(web.Page{Status: status, Title: "Allow a secret · " + c.Repo.FullName(), Shell: shell, Body: intakeview.Allow(p)})
}

func (s *Service) allow(c *web.Ctx) error {
	var f allowForm
	if err := c.Decode(&f); err != nil {
		return err
	}
	err := s.Allow(c.Context(), c.Viewer, c.Repo, f.Code, f.Rule, f.File, f.Reason)
	if fault.Is(err, fault.Invalid) {
		return s.allowShow(c, f, err)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Repo(c.Repo.Owner.Name, c.Repo.Name), "It may be pushed now. Push again.")
}
