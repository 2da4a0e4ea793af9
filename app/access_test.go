package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/deploykeys"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestRoutesGolden shows every new route, and every change of who may use
// one, as a line of the change. GITFOR_UPDATE=1 writes it anew.
func TestRoutesGolden(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	var lines []string
	for _, r := range s.App.Kit.Routes() {
		lines = append(lines, fmt.Sprintf("%-6s %-90s %-4s %s", r.Method, r.Pattern, r.Door, r.Access))
	}
	sort.Strings(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	golden := filepath.Join("testdata", "routes.golden")
	if os.Getenv("GITFOR_UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the routes differ from %s; read the difference, then run the tests with GITFOR_UPDATE=1", golden)
	}
}

// person is one who tries every route.
type person struct {
	name   string
	client *apptest.Client
	// private and public are the roles in the repositories of these kinds.
	private, public model.Role
	signedIn        bool
	admin           bool
	// org is the role in the organisation guild.
	org string
	// scopes, when not nil, are all that the token has.
	scopes []string
	// deploy says that it is a token of the private repository.
	deploy bool
	// bad says that the credential is refused.
	bad bool
}

// reached is the status by which a route says that its access check passed.
const reached = 299

func people(t *testing.T, s *apptest.Server) []person {
	t.Helper()
	owner := s.User(t, "owner") // the first: also the administrator
	private := dbtest.Repo(t, s.DB, owner.Account, "private", dbtest.RepoOpts{Private: true})
	public := dbtest.Repo(t, s.DB, owner.Account, "public", dbtest.RepoOpts{})
	all := []person{
		{name: "anonymous", client: s.Anon(), public: model.RoleRead},
		{name: "owner", client: owner, private: model.RoleAdmin, public: model.RoleAdmin, signedIn: true, admin: true},
		{name: "stranger", client: s.Member(t, "stranger"), public: model.RoleRead, signedIn: true},
	}
	for _, role := range []model.Role{model.RoleRead, model.RoleTriage, model.RoleWrite, model.RoleMaintain, model.RoleAdmin} {
		c := s.Member(t, string(role)+"er")
		for _, r := range []*model.Repo{private, public} {
			dbtest.Exec(t, s.DB, "INSERT INTO directory.collaborators (repo_id, account_id, role, created_at) VALUES (?, ?, ?, ?)",
				r.ID, c.Account.ID, role, r.CreatedAt)
		}
		all = append(all, person{name: string(role) + "er", client: c, private: role, public: role, signedIn: true})
	}
	guild := dbtest.Account(t, s.DB, "guild", model.KindOrganization)
	for _, m := range []struct{ name, role string }{{"member", "member"}, {"boss", "owner"}} {
		c := s.Member(t, m.name)
		dbtest.Exec(t, s.DB, "INSERT INTO directory.org_members (org_id, user_id, role, created_at) VALUES (?, ?, ?, ?)",
			guild.ID, c.Account.ID, m.role, guild.CreatedAt)
		all = append(all, person{name: m.name, client: c, public: model.RoleRead, signedIn: true, org: m.role})
	}
	suspended := s.Member(t, "sleepy")
	dbtest.Exec(t, s.DB, "UPDATE directory.accounts SET suspended_at = ? WHERE id = ?", private.CreatedAt, suspended.Account.ID)
	all = append(all, person{name: "suspended", client: suspended, bad: true})
	narrow := s.As(t, owner.Account)
	token, err := s.App.Auth.NewToken(t.Context(), owner.Account.ID, auth.TokenInput{Name: "narrow", Scopes: []string{"notifications"}})
	if err != nil {
		t.Fatal(err)
	}
	narrow.Token = token
	narrow.Jar.Clear()
	for _, write := range []bool{false, true} {
		text, _, err := s.App.DeployKeys.NewToken(t.Context(), &model.Viewer{Account: owner.Account}, private, deploykeys.TokenInput{Name: "machine", Write: write})
		if err != nil {
			t.Fatal(err)
		}
		c := s.Anon()
		c.Token = text
		p := person{name: "deploy token", client: c, private: model.RoleRead, deploy: true, scopes: []string{}}
		if write {
			p.name, p.private = "deploy token that writes", model.RoleWrite
		}
		all = append(all, p)
	}
	all = append(all, person{name: "token without scope", client: narrow, public: model.RoleRead, signedIn: true, scopes: []string{"notifications"}})
	return all
}

// may says what the access class of a route means for a person. A class that
// is missing here fails the test: who adds one says what it means.
func may(t *testing.T, access string, p person, repo string) bool {
	t.Helper()
	role := p.public
	if repo == "private" {
		role = p.private
	}
	name, rest, _ := strings.Cut(access, " ")
	switch {
	case p.bad:
		return false
	case name == "anyone", name == "account":
		return true
	case access == "git-fetch or git-push":
		return role.AtLeast(model.RoleRead) // asked for a fetch here
	case name == "lfs-batch":
		return role.AtLeast(model.RoleRead) // an upload asks more when the body is read
	case name == "git-push":
		return role.AtLeast(model.RoleWrite)
	case name == "signed-in":
		return p.signedIn && (rest == "" || p.scopes == nil || slices.ContainsFunc(strings.Split(rest, "|"), func(scope string) bool {
			return slices.Contains(p.scopes, scope)
		}))
	case name == "site-admin":
		return p.admin
	case name == "account-admin" && repo == "guild":
		return p.org == "owner"
	case name == "account-admin":
		return p.signedIn && (p.name == "owner" || p.name == "token without scope")
	case name == "org-member":
		return p.org != ""
	case name == "org-owner":
		return p.org == "owner"
	case name == "repo-post", name == "repo-viewer":
		return p.signedIn && p.scopes == nil && role.AtLeast(model.RoleRead)
	case strings.HasPrefix(name, "repo-"):
		return role.AtLeast(model.Role(strings.TrimPrefix(strings.TrimPrefix(name, "repo-"), "change-")))
	}
	t.Errorf("access class %q is not in this test: say who may", access)
	return false
}

var param = regexp.MustCompile(`\{[^}]+\}|\*`)

// address fills a pattern in: with the repository, its owner, and things that
// do not exist for all else.
func address(pattern, repo string) string {
	return param.ReplaceAllStringFunc(pattern, func(p string) string {
		switch p {
		case "{owner}", "{username}", "{org}":
			if repo == "guild" {
				return "guild"
			}
			return "owner"
		case "{repo}":
			return repo
		}
		return "1"
	})
}

// TestEveryRouteForEveryone walks the whole route table with every kind of
// person and fails on each route that lets in whom its access class does not,
// or keeps out whom it does. Who may not see a repository is told 404.
func TestEveryRouteForEveryone(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	s.App.Kit.Intercept(func(c *web.Ctx) error {
		c.W.WriteHeader(reached)
		return nil
	})
	everyone := people(t, s)
	routes := s.App.Kit.Routes()
	if len(routes) < 50 {
		t.Fatalf("%d routes", len(routes))
	}
	for _, r := range routes {
		repos := []string{"-"}
		switch {
		case strings.Contains(r.Pattern, "{repo}"):
			repos = []string{"private", "public"}
		case strings.Contains(r.Pattern, "/orgs/{owner}"), strings.Contains(r.Pattern, "/organizations/{owner}"):
			repos = []string{"guild"} // the organisation in place of a person
		}
		for _, repo := range repos {
			for _, p := range everyone {
				try(t, r, repo, p)
			}
		}
	}
}

func try(t *testing.T, r web.Route, repo string, p person) {
	t.Helper()
	headers := []string{"Sec-Fetch-Site", "same-origin"}
	if p.client.Token != "" && (r.Door != web.PageDoor || p.scopes != nil || p.bad) {
		headers = append(headers, "Authorization", "Bearer "+p.client.Token)
	}
	path := address(r.Pattern, repo)
	if strings.HasSuffix(path, "/info/refs") {
		path += "?service=git-upload-pack"
	}
	got := p.client.Do(r.Method, path, nil, headers...).Status
	if p.scopes != nil && r.Door == web.PageDoor && r.Method != http.MethodGet {
		p.signedIn = false // forms take sessions only
		if p.deploy {
			p.private, p.public = model.RoleNone, model.RoleRead
		} else {
			p.name = "token on a form"
		}
	}
	want := may(t, r.Access, p, repo)
	if p.bad && r.Door == web.PageDoor && (r.Access == "anyone" || r.Access == "account") {
		return // on pages that are for anyone, a refused session is a stranger's
	}
	if (got == reached) != want {
		t.Errorf("%s %s (%s) of the %s repository for %s: %d, want let in: %v", r.Method, r.Pattern, r.Access, repo, p.name, got, want)
		return
	}
	if want || p.bad {
		return
	}
	hidden := repo == "private" && p.private == model.RoleNone && strings.HasPrefix(r.Access, "repo-")
	if hidden && r.Door != web.GitDoor && got != http.StatusNotFound {
		t.Errorf("%s %s tells %s that the private repository is there: %d", r.Method, r.Pattern, p.name, got)
	}
	if got >= 500 {
		t.Errorf("%s %s for %s: %d", r.Method, r.Pattern, p.name, got)
	}
}
