package codes

import (
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/link"
)

// Ref is GitHub's git reference
// (https://docs.github.com/rest/git/refs#get-a-reference).
type Ref struct {
	Ref    string    `json:"ref"`
	NodeID string    `json:"node_id"`
	URL    string    `json:"url"`
	Object RefObject `json:"object"`
}

// RefObject is what a ref points to.
type RefObject struct {
	Type string `json:"type"`
	SHA  string `json:"sha"`
	URL  string `json:"url"`
}

type refInput struct {
	Ref   string `json:"ref"`
	SHA   string `json:"sha"`
	Force bool   `json:"force"`
}

func (s *Service) wireRef(c *web.Ctx, g *git.Repository, r git.Ref) (Ref, error) {
	kind := git.TypeCommit
	if !strings.HasPrefix(r.Name, git.BranchPrefix) {
		info, err := g.Info(c.Context(), r.OID)
		if err != nil {
			return Ref{}, lost(err)
		}
		kind = info.Type
	}
	name := git.Display(r.Name)
	return Ref{Ref: name, NodeID: api.NodeID("Ref:"+name, c.Repo.ID), URL: apiURL(c, "/git/"+link.Path(r.Name)),
		Object: RefObject{Type: kind.String(), SHA: r.OID.String(), URL: apiURL(c, "/git/"+kind.String()+"s/"+r.OID.String())}}, nil
}

// refName is the full name of a ref in an address, where refs/ may be missing.
func refName(s string) string {
	s = strings.Trim(s, "/")
	if !strings.HasPrefix(s, "refs/") {
		s = "refs/" + s
	}
	return s
}

// oneRef sends the ref of this full name.
func (s *Service) oneRef(c *web.Ctx, status int, name string) error {
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	r, err := g.Ref(c.Context(), name)
	if err != nil {
		return lost(err)
	}
	w, err := s.wireRef(c, g, r)
	if err != nil {
		return err
	}
	if status == http.StatusCreated {
		c.W.Header().Set("Location", w.URL)
	}
	return c.JSON(status, w)
}

func (s *Service) apiRef(c *web.Ctx) error { return s.oneRef(c, http.StatusOK, refName(c.Param("*"))) }

// apiMatchingRefs lists the refs whose name begins with what the address says.
func (s *Service) apiMatchingRefs(c *web.Ctx) error {
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	prefix := "refs/"
	if rest := c.Param("*"); rest != "" {
		prefix = "refs/" + strings.TrimPrefix(strings.TrimPrefix(rest, "/"), "refs/")
	}
	all, err := g.Refs(c.Context(), "refs/")
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	from, to, n := int(page.Offset()), int(page.Offset()+page.Limit()), 0
	out := []Ref{}
	for _, r := range all {
		if !strings.HasPrefix(r.Name, prefix) {
			continue
		}
		if n >= from && n < to {
			w, err := s.wireRef(c, g, r)
			if err != nil {
				return err
			}
			out = append(out, w)
		}
		n++
	}
	page.LinkTotal(c, n)
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiCreateRef(c *web.Ctx) error {
	var in refInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if !strings.HasPrefix(in.Ref, "refs/") || strings.Count(in.Ref, "/") < 2 {
		return fault.New(fault.Invalid, "Reference name must start with 'refs/' and have at least two slashes.")
	}
	oid, ok := git.ParseOID(in.SHA)
	if !ok {
		return fault.New(fault.Invalid, "The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
	}
	if err := plain(s.CreateRef(c.Context(), c.Viewer, c.Repo, in.Ref, oid)); err != nil {
		return err
	}
	return s.oneRef(c, http.StatusCreated, in.Ref)
}

// plain makes the message of the only wrong field the answer's own: GitHub's
// clients look for it there.
func plain(err error) error {
	if f := fault.From(err); f != nil && f.Kind == fault.Invalid && len(f.Fields) == 1 {
		for _, message := range f.Fields {
			return fault.Wrap(fault.Invalid, message, err)
		}
	}
	return err
}

func (s *Service) apiUpdateRef(c *web.Ctx) error {
	var in refInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	oid, ok := git.ParseOID(in.SHA)
	if !ok {
		return fault.New(fault.Invalid, "The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
	}
	name := refName(c.Param("*"))
	if err := plain(s.MoveRef(c.Context(), c.Viewer, c.Repo, name, oid, in.Force)); err != nil {
		return err
	}
	return s.oneRef(c, http.StatusOK, name)
}

func (s *Service) apiDeleteRef(c *web.Ctx) error {
	if err := plain(s.DeleteRef(c.Context(), c.Viewer, c.Repo, refName(c.Param("*")))); err != nil {
		return err
	}
	return c.NoContent()
}

// Branch is GitHub's branch
// (https://docs.github.com/rest/branches/branches#get-a-branch).
type Branch struct {
	Name          string           `json:"name"`
	Commit        Commit           `json:"commit"`
	Links         branchLinks      `json:"_links"`
	Protected     bool             `json:"protected"`
	Protection    branchProtection `json:"protection"`
	ProtectionURL string           `json:"protection_url"`
}

type branchLinks struct {
	Self string `json:"self"`
	HTML string `json:"html"`
}

type branchProtection struct {
	Enabled bool         `json:"enabled"`
	Checks  branchChecks `json:"required_status_checks"`
}

type branchChecks struct {
	Level    string   `json:"enforcement_level"`
	Contexts []string `json:"contexts"`
	Checks   []string `json:"checks"`
}

type shortBranch struct {
	Name      string  `json:"name"`
	Commit    Pointer `json:"commit"`
	Protected bool    `json:"protected"`
}

func (s *Service) wireShortBranch(c *web.Ctx, r git.Ref) shortBranch {
	return shortBranch{Name: git.Display(r.Short()), Commit: Pointer{SHA: r.OID.String(), URL: apiURL(c, "/commits/"+r.OID.String())},
		Protected: s.protected(c, r.Short())}
}

// protected says whether a rule guards the branch.
func (s *Service) protected(c *web.Ctx, branch string) bool {
	return s.Protected != nil && s.Protected(c.Context(), c.Repo, branch)
}

func (s *Service) apiBranches(c *web.Ctx) error {
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	all, err := g.Branches(c.Context())
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	var out []shortBranch
	for _, r := range all {
		w := s.wireShortBranch(c, r)
		if want := c.Query("protected"); want == "" || (want == "true") == w.Protected {
			out = append(out, w)
		}
	}
	from := min(int(page.Offset()), len(out))
	page.LinkTotal(c, len(out))
	return c.JSON(http.StatusOK, append([]shortBranch{}, out[from:min(from+page.PerPage, len(out))]...))
}

func (s *Service) apiBranch(c *web.Ctx) error { return s.oneBranch(c, http.StatusOK, c.Param("*")) }

func (s *Service) oneBranch(c *web.Ctx, status int, name string) error {
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	r, err := g.Ref(c.Context(), git.BranchPrefix+name)
	if err != nil {
		return lost(err)
	}
	commit, err := g.Commit(c.Context(), r.OID)
	if err != nil {
		return lost(err)
	}
	list, err := s.WireCommits(c, g, []*git.Commit{commit})
	if err != nil {
		return err
	}
	self := apiURL(c, "/branches/"+link.Path(name))
	w := Branch{Name: git.Display(name), Commit: list[0], ProtectionURL: self + "/protection", Protected: s.protected(c, name),
		Links: branchLinks{self, c.URL(link.Tree(c.Repo.Owner.Name, c.Repo.Name, name, ""))}}
	w.Protection = branchProtection{Enabled: w.Protected, Checks: branchChecks{Level: "off", Contexts: []string{}, Checks: []string{}}}
	return c.JSON(status, w)
}

type renameInput struct {
	NewName string `json:"new_name"`
}

// apiRenameBranch renames: the address is the branch's with /rename behind.
func (s *Service) apiRenameBranch(c *web.Ctx) error {
	name, ok := strings.CutSuffix(c.Param("*"), "/rename")
	if !ok {
		return fault.New(fault.NotFound, "Not Found")
	}
	var in renameInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.RenameBranch(c.Context(), c.Viewer, c.Repo, name, in.NewName); err != nil {
		return err
	}
	return s.oneBranch(c, http.StatusCreated, in.NewName)
}

// apiBranchesWhereHead lists the branches that a commit is the tip of.
func (s *Service) apiBranchesWhereHead(c *web.Ctx) error {
	p, err := s.apiRev(c, c.Param("sha"))
	if err != nil {
		return err
	}
	all, err := p.git.Branches(c.Context())
	if err != nil {
		return err
	}
	out := []shortBranch{}
	for _, r := range all {
		if r.OID == p.rev.Commit {
			out = append(out, s.wireShortBranch(c, r))
		}
	}
	return c.JSON(http.StatusOK, out)
}

type shortTag struct {
	Name   string  `json:"name"`
	Zip    string  `json:"zipball_url"`
	Tar    string  `json:"tarball_url"`
	Commit Pointer `json:"commit"`
	NodeID string  `json:"node_id"`
}

func (s *Service) apiTags(c *web.Ctx) error {
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	all, err := g.Tags(c.Context())
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	out := []shortTag{}
	// GitHub lists tags by name, the last first.
	for i := len(all) - 1 - int(page.Offset()); i >= 0 && len(out) < page.PerPage; i-- {
		r := all[i]
		name := git.Display(r.Short())
		out = append(out, shortTag{Name: name, Zip: apiURL(c, "/zipball/"+link.Path(r.Name)), Tar: apiURL(c, "/tarball/"+link.Path(r.Name)),
			Commit: Pointer{SHA: r.Commit().String(), URL: apiURL(c, "/commits/"+r.Commit().String())},
			NodeID: api.NodeID("Ref:"+git.Display(r.Name), c.Repo.ID)})
	}
	page.LinkTotal(c, len(all))
	return c.JSON(http.StatusOK, out)
}
