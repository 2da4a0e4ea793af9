package admin

import (
	"context"
	"errors"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/adminview"
	"github.com/gitfor/gitfor/views/link"
)

func (s *Service) scopes(c *web.Ctx) error {
	page := c.QueryInt("page", 1, 1, 100_000)
	state := c.Query("state")
	if name := strings.TrimSpace(c.Query("q")); name != "" {
		scope, err := s.findScope(c.Context(), name)
		if err == nil {
			return c.Redirect(link.Admin("scopes/" + scope.String()))
		}
		if !errors.Is(err, db.ErrNotFound) {
			return err
		}
		return render(c, http.StatusOK, "scopes", "Scopes", adminview.Scopes(adminview.ScopesProps{Query: name}))
	}
	rows, err := s.DB.Scopes(c.Context(), state, perPage+1, (page-1)*perPage)
	if err != nil {
		return err
	}
	counts, err := s.DB.ScopeCounts(c.Context())
	if err != nil {
		return err
	}
	size, err := s.DB.Size(c.Context())
	if err != nil {
		return err
	}
	p := adminview.ScopesProps{State: state, Live: counts["live"], Asleep: counts["asleep"], Relations: size.Relations, Bytes: size.Bytes,
		States: choices(c, "state", "", "All", "live", "Live", "asleep", "Asleep", "gone", "Gone")}
	rows, p.Newer, p.Older = pager(c, rows, page)
	names, err := s.names(c.Context(), rows)
	if err != nil {
		return err
	}
	for _, info := range rows {
		p.Scopes = append(p.Scopes, scopeRow(info, names))
	}
	return render(c, 0, "scopes", "Scopes", adminview.Scopes(p))
}

// findScope reads OWNER/NAME, NAME of an account, or a schema's name.
func (s *Service) findScope(ctx context.Context, name string) (db.Scope, error) {
	if scope, err := db.ParseScope(name); err == nil {
		return scope, nil
	}
	if owner, repo, ok := strings.Cut(name, "/"); ok {
		r, err := repodb.ByName(ctx, s.DB.Directory(), owner, repo)
		if err != nil {
			return db.Scope{}, err
		}
		return db.RepoScope(r.ID), nil
	}
	a, err := accountdb.ByName(ctx, s.DB.Directory(), name)
	if err != nil {
		return db.Scope{}, err
	}
	return db.AccountScope(a.ID), nil
}

// names are what scopes belong to, by schema.
func (s *Service) names(ctx context.Context, rows []*db.ScopeInfo) (map[string][2]string, error) {
	var repoIDs, accountIDs []int64
	for _, info := range rows {
		scope, err := db.ParseScope(info.Scope)
		switch {
		case err != nil:
		case scope.Kind() == db.RepoKind:
			repoIDs = append(repoIDs, scope.ID())
		default:
			accountIDs = append(accountIDs, scope.ID())
		}
	}
	repos, err := repodb.ByIDs(ctx, s.DB.Directory(), repoIDs)
	if err != nil {
		return nil, err
	}
	accounts, err := accountdb.ByIDs(ctx, s.DB.Directory(), accountIDs...)
	if err != nil {
		return nil, err
	}
	out := map[string][2]string{}
	for id, r := range repos {
		if r.Owner != nil {
			out[db.RepoScope(id).String()] = [2]string{r.FullName(), link.Repo(r.Owner.Name, r.Name)}
		}
	}
	for id, a := range accounts {
		out[db.AccountScope(id).String()] = [2]string{a.Name, link.Account(a.Name)}
	}
	return out, nil
}

func scopeRow(info *db.ScopeInfo, names map[string][2]string) adminview.Scope {
	row := adminview.Scope{Scope: info.Scope, Name: names[info.Scope][0], Href: names[info.Scope][1], State: info.State,
		Relations: info.Relations, Bytes: info.Bytes, Touched: info.TouchedAt, SleepAt: info.SleepAt, Alarm: info.AlarmAt}
	for _, domain := range slices.Sorted(maps.Keys(info.Domains)) {
		row.Domains = append(row.Domains, adminview.Domain{Name: domain, Version: info.Domains[domain], Newest: info.Newest[domain]})
	}
	for _, name := range slices.Sorted(maps.Keys(info.Counts)) {
		row.Counts = append(row.Counts, adminview.Tally{Name: strings.ReplaceAll(name, "_", " "), N: info.Counts[name]})
	}
	return row
}

// of is the scope that a page is about.
func of(c *web.Ctx) (db.Scope, error) {
	scope, err := db.ParseScope(c.Param("scope"))
	if err != nil {
		return scope, db.ErrNotFound
	}
	return scope, nil
}

func (s *Service) scope(c *web.Ctx) error { return s.showScope(c, http.StatusOK, "") }

func (s *Service) showScope(c *web.Ctx, status int, problem string) error {
	scope, err := of(c)
	if err != nil {
		return err
	}
	info, err := s.DB.Inspect(c.Context(), scope)
	if err != nil {
		return err
	}
	names, err := s.names(c.Context(), []*db.ScopeInfo{info})
	if err != nil {
		return err
	}
	if info.State == "none" && names[info.Scope][0] == "" {
		return db.ErrNotFound
	}
	return render(c, status, "scopes", scope.String(), adminview.ScopePage(scopeRow(info, names), problem))
}

// changed goes back to a scope's page.
func changed(c *web.Ctx, scope db.Scope, err error, message string) error {
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Admin("scopes/"+scope.String()), message)
}

func (s *Service) scopeSleep(c *web.Ctx) error {
	scope, err := of(c)
	if err != nil {
		return err
	}
	return changed(c, scope, s.DB.Sleep(c.Context(), scope), "The scope sleeps until somebody comes.")
}

func (s *Service) scopeWake(c *web.Ctx) error {
	scope, err := of(c)
	if err != nil {
		return err
	}
	return changed(c, scope, s.DB.Wake(c.Context(), scope), "The scope is awake.")
}

// scopeExport sends the scope as the file that scopeRestore takes.
func (s *Service) scopeExport(c *web.Ctx) error {
	scope, err := of(c)
	if err != nil {
		return err
	}
	h := c.W.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+scope.String()+`.scope"`)
	h.Set("Cache-Control", "no-store")
	_, err = s.DB.Export(c.Context(), scope, c.W, nil) // writes nothing before it is whole
	return err
}

// maxExport is the largest export that the form takes.
const maxExport = 512 << 20

// scopeRestore puts an export in the place of what the scope holds.
func (s *Service) scopeRestore(c *web.Ctx) error {
	scope, err := of(c)
	if err != nil {
		return err
	}
	file, err := upload(c)
	if err != nil {
		return s.showScope(c, http.StatusUnprocessableEntity, "Choose the file of an export.")
	}
	defer c.R.MultipartForm.RemoveAll() //nolint:errcheck // temporary files
	defer file.Close()                  //nolint:errcheck // read only
	kept, err := s.SaveScope(c.Context(), scope)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	err = s.DB.Import(c.Context(), scope, file, true)
	if err != nil && fault.From(err).Kind == fault.Internal {
		return s.showScope(c, http.StatusUnprocessableEntity, "Nothing was changed: this file cannot be restored here. It says: "+err.Error())
	}
	message := "The scope is what the export says."
	if kept != "" {
		message += " What it was before is kept in " + kept + "."
	}
	return changed(c, scope, err, message)
}

func upload(c *web.Ctx) (multipart.File, error) {
	c.R.Body = http.MaxBytesReader(c.W, c.R.Body, maxExport)
	if err := c.R.ParseMultipartForm(8 << 20); err != nil {
		return nil, err
	}
	file, _, err := c.R.FormFile("export")
	return file, err
}
