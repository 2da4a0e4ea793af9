package explore

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/issuedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/siteview"
)

// How many options of each kind the palette offers.
const (
	mostRepos   = 8
	mostThreads = 6
	mostFiles   = 6
	mostPeople  = 5
	mostPages   = 4
)

// jump is one question to the palette.
type jump struct {
	s    *Service
	c    *web.Ctx
	q    string
	repo *model.Repo // where the person is; nil outside repositories
	role model.Role
	out  []siteview.Option
}

// palette lists where the typed text may lead: threads, repositories, files,
// people and pages. at is the page that it was opened on.
func (s *Service) palette(c *web.Ctx) error {
	j := &jump{s: s, c: c, q: strings.TrimSpace(c.Query("q"))}
	if len(j.q) > 200 {
		j.q = j.q[:200]
	}
	if err := j.place(c.Query("at")); err != nil {
		return err
	}
	steps := []func() error{j.number, j.pages, j.repos, j.threads, j.files, j.people}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if j.q != "" {
		j.add("search", "Search everywhere for “"+j.q+"”", "", link.Explore(j.q))
	}
	return c.Render(web.Page{Shell: layout.Site, Body: siteview.Options(j.out)})
}

func (j *jump) add(icon, label, hint, href string) {
	j.out = append(j.out, siteview.Option{Icon: icon, Label: label, Hint: hint, Href: href})
}

// place finds the repository of the page that the palette was opened on.
func (j *jump) place(at string) error {
	parts := strings.SplitN(strings.TrimPrefix(at, "/"), "/", 3)
	if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return nil
	}
	repo, role, err := repodb.Find(j.c.Context(), j.s.db.Directory(), parts[0], parts[1], j.c.Viewer.ID())
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err == nil && j.c.Viewer.Reaches(repo.ID, repo.IsPrivate(), false) {
		j.repo, j.role = repo, role
	}
	return err
}

var numbered = regexp.MustCompile(`^(?:([\w.-]+)/([\w.-]+))?#?(\d{1,9})$`)

// number leads to a thread by its number: #12, 12 or owner/name#12.
func (j *jump) number() error {
	m := numbered.FindStringSubmatch(j.q)
	if m == nil {
		return nil
	}
	repo, role := j.repo, j.role
	if m[1] != "" {
		var err error
		repo, role, err = repodb.Find(j.c.Context(), j.s.db.Directory(), m[1], m[2], j.c.Viewer.ID())
		if errors.Is(err, db.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if repo == nil {
		return nil
	}
	n, err := strconv.ParseInt(m[3], 10, 64)
	if err != nil {
		return nil //nolint:nilerr // the pattern bounds it
	}
	i, err := threaddb.Find(j.c.Context(), j.s.db.Repo(repo.ID), n)
	if errors.Is(err, db.ErrNotFound) || err == nil && !i.VisibleTo(j.c.Viewer.ID(), role) {
		return nil
	}
	if err != nil {
		return err
	}
	j.thread(repo, i)
	return nil
}

func (j *jump) thread(repo *model.Repo, i *model.Issue) {
	owner, name := repo.Owner.Name, repo.Name
	icon, href := "circle-dot", link.Issue(owner, name, i.Number)
	switch i.Kind {
	case model.KindPull:
		icon, href = "git-pull-request", link.Pull(owner, name, i.Number)
	case model.KindDiscussion:
		icon, href = "messages-square", link.Discussions(owner, name)+"/"+strconv.FormatInt(i.Number, 10)
	}
	for _, o := range j.out {
		if o.Href == href {
			return
		}
	}
	j.add(icon, i.Title, repo.FullName()+"#"+strconv.FormatInt(i.Number, 10), href)
}

// threads finds threads of the repository by words of their titles.
func (j *jump) threads() error {
	if j.repo == nil || len(j.q) < 2 {
		return nil
	}
	list, err := issuedb.Titled(j.c.Context(), j.s.db.Repo(j.repo.ID), j.q, j.c.Viewer.ID(), j.role.AtLeast(model.RoleTriage), mostThreads)
	for _, i := range list {
		j.thread(j.repo, i)
	}
	return err
}

// files finds files of the repository's default branch.
func (j *jump) files() error {
	if j.repo == nil || len(j.q) < 2 || j.s.Files == nil {
		return nil
	}
	paths, ref, err := j.s.Files(j.c, j.repo, j.q, mostFiles)
	for _, p := range paths {
		dir := ""
		name := p
		if at := strings.LastIndexByte(p, '/'); at >= 0 {
			dir, name = p[:at], p[at+1:]
		}
		j.add("file-code", name, dir, link.Blob(j.repo.Owner.Name, j.repo.Name, ref, p))
	}
	return err
}

// repos finds repositories; before anything is typed, the viewer's own.
func (j *jump) repos() error {
	o := repodb.ListOpts{Query: j.q, Limit: mostRepos, Sort: "pushed"}
	if j.q == "" {
		if !j.c.Viewer.SignedIn() {
			return nil
		}
		o.MemberID = j.c.Viewer.ID()
	}
	list, _, err := repodb.List(j.c.Context(), j.s.db.Directory(), j.c.Viewer.ID(), o)
	if err == nil && len(list) == 0 && j.q != "" {
		o.Loose = true
		list, _, err = repodb.List(j.c.Context(), j.s.db.Directory(), j.c.Viewer.ID(), o)
	}
	for _, r := range list {
		if j.c.Viewer.Reaches(r.ID, r.IsPrivate(), false) {
			j.add("book-marked", r.FullName(), r.Description, link.Repo(r.Owner.Name, r.Name))
		}
	}
	return err
}

func (j *jump) people() error {
	if j.q == "" {
		return nil
	}
	list, err := accountdb.Search(j.c.Context(), j.s.db.Directory(), strings.TrimPrefix(j.q, "@"), mostPeople)
	for _, a := range list {
		icon := "user"
		if !a.IsUser() {
			icon = "building-2"
		}
		j.add(icon, a.Name, a.DisplayName, link.Account(a.Name))
	}
	return err
}

// pages offers places of the site, of the repository and of the settings:
// before anything is typed the usual ones, then those whose names match.
func (j *jump) pages() error {
	known := j.known()
	if j.q == "" {
		for _, p := range known {
			if p.usual {
				j.out = append(j.out, p.Option)
			}
		}
		return nil
	}
	n := 0
	for _, p := range known {
		if n < mostPages && matches(p.Label+" "+p.Hint, j.q) {
			j.out = append(j.out, p.Option)
			n++
		}
	}
	return nil
}

// matches says whether each typed word begins a word of the label.
func matches(label, typed string) bool {
	words := strings.Fields(strings.ToLower(label))
	for _, t := range strings.Fields(strings.ToLower(typed)) {
		found := false
		for _, w := range words {
			found = found || strings.HasPrefix(w, t)
		}
		if !found {
			return false
		}
	}
	return true
}

type place struct {
	siteview.Option

	usual bool
}

func (j *jump) known() []place {
	v := j.c.Viewer
	at := func(usual bool, icon, label, hint, href string) place {
		return place{siteview.Option{Icon: icon, Label: label, Hint: hint, Href: href}, usual}
	}
	var out []place
	if r := j.repo; r != nil {
		counts := map[string]int{"code": 0, "issues": 0, "pulls": 0, "releases": 0, "activity": 0}
		if j.role.AtLeast(model.RoleAdmin) {
			counts["settings"] = 0
		}
		for _, t := range layout.RepoTabs(r.Owner.Name, r.Name, counts) {
			out = append(out, at(true, t.Icon, t.Label, r.FullName(), t.Href))
		}
		if v.SignedIn() {
			out = append(out, at(false, "plus", "New issue", r.FullName(), link.NewIssue(r.Owner.Name, r.Name)))
		}
	}
	if !v.SignedIn() {
		return append(out, at(true, "compass", "Explore", "", link.Explore("")), at(true, "log-in", "Sign in", "", link.Login("")))
	}
	out = append(out, at(j.repo == nil, "house", "Dashboard", "", link.Home()), at(true, "inbox", "Inbox", "Notifications", link.Notifications()),
		at(true, "plus", "New repository", "", link.New()), at(j.repo == nil, "compass", "Explore", "", link.Explore("")),
		at(j.repo == nil, "settings", "Settings", "", link.Settings("")),
		at(false, "user", "Profile", "Your page", link.Account(v.Name())))
	if j.s.Settings != nil {
		for _, sec := range j.s.Settings() {
			for _, t := range sec.Links {
				out = append(out, at(false, t.Icon, t.Label, "Your settings", t.Href))
			}
		}
	}
	if v.Admin() {
		for _, sec := range layout.AdminSections() {
			for _, t := range sec.Links {
				out = append(out, at(false, t.Icon, t.Label, "Administration", t.Href))
			}
		}
	}
	return out
}
