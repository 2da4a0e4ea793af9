package upkeep

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/upkeepdb"
	"github.com/gitfor/gitfor/views/adminview"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
)

// Routes mounts the operator's page.
func (s *Service) Routes(r *web.Router) {
	admin := s.Gate.SiteAdmin()
	r.Get("/admin/git", admin, s.page)
	r.Post("/admin/git/{id}/maintain", admin, s.maintain)
}

// shown is how many runs a page lists.
const shown = 50

func (s *Service) page(c *web.Ctx) error {
	page := c.QueryInt("page", 1, 1, 1000)
	list, totals, err := upkeepdb.Recent(c.Context(), s.DB.Cell(), shown+1, (page-1)*shown)
	if err != nil {
		return err
	}
	p := adminview.GitProps{Query: strings.TrimSpace(c.Query("q")), Page: page, More: len(list) > shown,
		Folders: totals.Folders, Failed: totals.Failed, Gained: totals.Gained}
	list = list[:min(len(list), shown)]
	ids := make([]int64, len(list))
	for i, u := range list {
		ids[i] = u.RepoID
	}
	names, err := repodb.ByIDs(c.Context(), s.DB.Directory(), ids)
	if err != nil {
		return err
	}
	for _, u := range list {
		p.Runs = append(p.Runs, run(u, names[u.RepoID]))
	}
	status := http.StatusOK
	if p.Query != "" {
		if p.Folder, err = s.folder(c, p.Query); err != nil {
			return err
		}
		if p.Folder == nil {
			status = http.StatusNotFound
		}
	}
	return c.Render(web.Page{Status: status, Title: "Git storage · Administration", Shell: layout.AdminShell("git"), Body: adminview.Git(p)})
}

func run(u *model.GitUpkeep, repo *model.Repo) adminview.GitRun {
	out := adminview.GitRun{Pool: u.Pool, Did: u.Did, Took: time.Duration(u.TookMS) * time.Millisecond, Error: u.Error,
		Before: u.BytesBefore, After: u.BytesAfter, FilesBefore: u.FilesBefore, FilesAfter: u.FilesAfter}
	if u.StartedAt != nil {
		out.At = *u.StartedAt
	}
	if repo != nil && repo.Owner != nil {
		out.Repo = repo.FullName()
	}
	return out
}

// folder is the state of one repository by its full name, nil for none.
func (s *Service) folder(c *web.Ctx, name string) (*adminview.GitFolder, error) {
	owner, repoName, _ := strings.Cut(name, "/")
	id, err := repodb.IDOf(c.Context(), s.DB.Directory(), owner, repoName)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := &adminview.GitFolder{ID: id, Name: name}
	g, err := s.Git.Open(c.Context(), id)
	if errors.Is(err, git.ErrNoRepository) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	stats, err := g.Stats(c.Context())
	if err != nil {
		return nil, err
	}
	u, err := upkeepdb.Of(c.Context(), s.DB.Cell(), id, false)
	if err != nil {
		return nil, err
	}
	out.Exists, out.Last, out.Needs = true, run(u, nil), steps(plan(u, stats, time.Now()))
	out.Bytes, out.Packs, out.Cruft, out.PackBytes = stats.Bytes, stats.Packs, stats.CruftPacks, stats.PackBytes
	out.Loose, out.LooseRefs, out.PackedRefs = stats.LooseObjects, stats.LooseRefs, stats.PackedRefs
	out.Bitmap, out.Index, out.GraphCommits, out.GraphFresh = stats.HasBitmap, stats.HasMIDX, stats.GraphCommits, stats.GraphFresh
	return out, nil
}

// maintain asks for all steps at once.
func (s *Service) maintain(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	repo, err := repodb.ByIDAny(c.Context(), s.DB.Directory(), id)
	if err != nil {
		return err
	}
	if err := s.Ask(c.Context(), Args{id, false, WhyOperator}, time.Now()); err != nil {
		return err
	}
	return c.RedirectFlash(link.Q("q", repo.FullName()).On(link.Admin("git")), "Maintenance of "+repo.FullName()+" has begun.")
}
