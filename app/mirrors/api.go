package mirrors

import (
	"net/http"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// Status is a source import as GitHub shows it
// (https://docs.github.com/rest/migrations/source-imports).
type Status struct {
	VCS           string  `json:"vcs"`
	VCSURL        string  `json:"vcs_url"`
	UseLFS        bool    `json:"use_lfs"`
	Status        string  `json:"status"`
	StatusText    string  `json:"status_text"`
	FailedStep    *string `json:"failed_step"`
	ErrorMessage  *string `json:"error_message"`
	ImportPercent *int    `json:"import_percent"`
	URL           string  `json:"url"`
	HTMLURL       string  `json:"html_url"`
	AuthorsURL    string  `json:"authors_url"`
	RepositoryURL string  `json:"repository_url"`
}

func (s *Service) apiRoutes(r *web.Router) {
	a, admin, change := r.API(), s.Gate.Repo(model.RoleAdmin), s.Gate.RepoChange(model.RoleAdmin)
	const at = "/repos/{owner}/{repo}/import"
	a.Get(at, admin, s.apiStatus, &web.Doc{ID: "migrations/get-import-status", Summary: "Get an import status", Out: Status{}})
	a.Put(at, change, s.apiStart, &web.Doc{ID: "migrations/start-import", Summary: "Start an import", In: Input{}, Out: Status{}, Status: http.StatusCreated})
	a.Delete(at, admin, s.apiCancel, &web.Doc{ID: "migrations/cancel-import", Summary: "Cancel an import", Status: http.StatusNoContent})
}

func statusOf(c *web.Ctx, m *model.Mirror) Status {
	repo := link.Repo(c.Repo.Owner.Name, c.Repo.Name)
	url := c.URL(web.APIPrefix + "/repos" + repo)
	out := Status{VCS: "git", VCSURL: m.URL, URL: url + "/import", HTMLURL: c.URL(repo + "/import"), AuthorsURL: url + "/import/authors",
		RepositoryURL: url, StatusText: m.Phase}
	switch m.State {
	case model.MirrorOK:
		out.Status, out.StatusText = "complete", "Done"
	case model.MirrorFailed:
		step := "importing"
		out.Status, out.FailedStep, out.ErrorMessage, out.StatusText = "error", &step, &m.Message, m.Message
	default:
		out.Status, out.ImportPercent = "importing", &m.Percent
	}
	return out
}

// latest is the import, or the pull mirror, of the repository in c.
func (s *Service) latest(c *web.Ctx) (*model.Mirror, error) {
	rows, err := s.List(c.Context(), c.Repo)
	if err != nil {
		return nil, err
	}
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].Kind != model.MirrorPush {
			return rows[i], nil
		}
	}
	return nil, db.ErrNotFound
}

func (s *Service) apiStatus(c *web.Ctx) error {
	m, err := s.latest(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, statusOf(c, m))
}

func (s *Service) apiStart(c *web.Ctx) error {
	var in Input
	if err := c.Decode(&in); err != nil {
		return err
	}
	m, err := s.ImportInto(c.Context(), c.Viewer, c.Repo, in)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, statusOf(c, m))
}

func (s *Service) apiCancel(c *web.Ctx) error {
	m, err := s.latest(c)
	if err != nil {
		return err
	}
	if err := s.Remove(c.Context(), c.Viewer, c.Repo, m.ID); err != nil {
		return err
	}
	return c.NoContent()
}
