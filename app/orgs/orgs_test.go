package orgs_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type doc = map[string]any

// world is an organisation acme that ann owns, and others who do not belong
// to it.
type world struct {
	*apptest.Server
	ann, bob, eve *apptest.Client
	org           *model.Account
}

func newWorld(t *testing.T) world {
	t.Helper()
	s := apptest.New(t)
	w := world{Server: s, ann: s.User(t, "ann"), bob: s.User(t, "bob"), eve: s.User(t, "eve")}
	w.ann.Post("/organizations/new", "name", "acme", "display_name", "Acme Inc").Want(303)
	org := s.Anon().API(http.MethodGet, "/orgs/acme", nil).OK().JSON()
	w.org = &model.Account{ID: int64(org["id"].(float64)), Name: "acme", NameKey: "acme", Kind: model.KindOrganization}
	return w
}

// join puts a person into acme by invitation.
func (w *world) join(c *apptest.Client) {
	w.ann.API(http.MethodPut, "/orgs/acme/memberships/"+c.Account.Name, nil).OK()
	c.API(http.MethodPatch, "/user/memberships/orgs/acme", doc{"state": "active"}).OK()
}

func list(t *testing.T, r *apptest.Response) []doc {
	t.Helper()
	var out []doc
	r.OK().Into(&out)
	return out
}

func TestInvitationByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bob.API(http.MethodPut, "/orgs/acme/memberships/bob", nil).Want(404)
	m := w.ann.API(http.MethodPut, "/orgs/acme/memberships/bob", doc{"role": "admin"}).OK().JSON()
	if m["state"] != "pending" || m["role"] != "admin" {
		t.Errorf("membership: %v", m)
	}
	w.bob.API(http.MethodGet, "/orgs/acme/teams", nil).Want(404)
	if got := list(t, w.bob.API(http.MethodGet, "/user/memberships/orgs?state=pending", nil)); len(got) != 1 {
		t.Errorf("pending: %v", got)
	}
	if got := list(t, w.ann.API(http.MethodGet, "/orgs/acme/invitations", nil)); len(got) != 1 || got[0]["login"] != "bob" || got[0]["role"] != "admin" {
		t.Errorf("invitations: %v", got)
	}
	w.bob.Get("/settings/invitations").OK().Has("Acme Inc")
	w.bob.Get("/orgs/acme/invitation").OK().Has("You are invited to Acme Inc").Has("an owner")
	w.eve.Get("/orgs/acme/invitation").Want(404)
	w.eve.Post("/orgs/acme/invitation/accept").Want(404)
	w.bob.Post("/orgs/acme/invitation/accept").Want(303)
	w.bob.Post("/orgs/acme/invitation/accept").Want(404)
	if m := w.bob.API(http.MethodGet, "/user/memberships/orgs/acme", nil).OK().JSON(); m["state"] != "active" || m["role"] != "admin" {
		t.Errorf("accepted: %v", m)
	}
	// A member gets another role at once.
	if m := w.ann.API(http.MethodPut, "/orgs/acme/memberships/bob", doc{"role": "member"}).OK().JSON(); m["state"] != "active" || m["role"] != "member" {
		t.Errorf("changed: %v", m)
	}
	w.ann.Post("/orgs/acme/people", "username", "ann", "role", "member").Want(409) // the only owner
	w.ann.Post("/orgs/acme/people", "username", "ghostly", "role", "member").Want(422).Has("ghostly")
	w.ann.Post("/orgs/acme/people", "username", "eve", "role", "member").Want(303)
	w.eve.Post("/orgs/acme/invitation/decline").Want(303)
	if got := list(t, w.ann.API(http.MethodGet, "/orgs/acme/invitations", nil)); len(got) != 0 {
		t.Errorf("after declining: %v", got)
	}
	w.bob.Post("/orgs/acme/people/leave").Want(303)
	w.bob.API(http.MethodGet, "/user/memberships/orgs/acme", nil).Want(404)
}

// linkOf makes an invitation on the page and returns its link's path.
func (w *world) linkOf(t *testing.T, pairs ...string) string {
	t.Helper()
	w.ann.Post("/orgs/acme/people/invite", pairs...).Want(303)
	link, _ := w.ann.Get("/orgs/acme/people").OK().Find("input[readonly]").Attr("value")
	_, path, ok := strings.Cut(link, "/invitations/")
	if !ok {
		t.Fatalf("no link on the page: %q", link)
	}
	if w.ann.Get("/orgs/acme/people").OK().Find("input[readonly]").Length() != 0 {
		t.Error("the link is shown twice")
	}
	return "/invitations/" + path
}

func TestInvitationByLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	many := w.linkOf(t, "role", "member")
	w.ann.Post("/orgs/acme/people/invite", "role", "owner").Want(422)
	w.ann.Post("/orgs/acme/people/invite", "email", "not an address", "role", "member").Want(422)
	if to := w.Anon().Get(many).Want(303).Location(); !strings.HasPrefix(to, "/login?next=") {
		t.Errorf("a stranger is sent to %s", to)
	}
	w.bob.Get(many).OK().Has("You are invited")
	w.bob.Get(many[:len(many)-2] + "xx").Want(404)
	w.bob.Post(many).Want(303)
	w.eve.Post(many).Want(303) // it works for everybody
	w.bob.Get(many).Want(303)
	if n := len(list(t, w.ann.API(http.MethodGet, "/orgs/acme/members", nil))); n != 3 {
		t.Errorf("%d members", n)
	}
	w.ann.API(http.MethodDelete, "/orgs/acme/members/bob", nil).Want(204)
	w.ann.API(http.MethodDelete, "/orgs/acme/members/eve", nil).Want(204)
	id := strconv.FormatInt(int64(list(t, w.ann.API(http.MethodGet, "/orgs/acme/invitations", nil))[0]["id"].(float64)), 10)
	w.ann.Post("/orgs/acme/invitations/" + id + "/revoke").Want(303)
	w.bob.Post(many).Want(410)

	once := w.linkOf(t, "email", "bob@example.org", "role", "member")
	w.bob.Post(once).Want(303)
	w.eve.Post(once).Want(410)
	late := w.linkOf(t, "email", "eve@example.org", "role", "member")
	dbtest.Exec(t, w.DB, "UPDATE directory.invitations SET expires_at = now() - interval '1 second'")
	w.eve.Post(late).Want(410)
}

func TestTeamsOverAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join(w.bob)
	repo := dbtest.Repo(t, w.DB, w.org, "secret", dbtest.RepoOpts{Private: true})
	_ = repo
	dbtest.Exec(t, w.DB, "UPDATE directory.accounts SET base_role = '' WHERE id = ?", w.org.ID)
	core := w.ann.API(http.MethodPost, "/orgs/acme/teams", doc{"name": "Core Team", "description": "All of it"}).Want(201).JSON()
	if core["slug"] != "core-team" || core["privacy"] != "closed" || core["parent"] != nil || core["members_count"] != float64(1) {
		t.Errorf("team: %v", core)
	}
	w.ann.API(http.MethodPost, "/orgs/acme/teams", doc{"name": "core team"}).Want(422)
	w.bob.API(http.MethodPost, "/orgs/acme/teams", doc{"name": "mine"}).Want(403)
	w.eve.API(http.MethodGet, "/orgs/acme/teams", nil).Want(404)
	deep := w.ann.API(http.MethodPost, "/orgs/acme/teams", doc{"name": "Deep", "parent_team_id": core["id"]}).Want(201).JSON()
	if deep["parent"].(doc)["slug"] != "core-team" {
		t.Errorf("nested team: %v", deep)
	}
	w.ann.API(http.MethodPatch, "/orgs/acme/teams/core-team", doc{"parent_team_id": deep["id"]}).Want(422)
	w.ann.API(http.MethodPut, "/orgs/acme/teams/deep/memberships/bob", doc{"role": "maintainer"}).OK()
	if got := list(t, w.bob.API(http.MethodGet, "/orgs/acme/teams/core-team/members", nil)); len(got) != 2 {
		t.Errorf("members with those below: %v", got)
	}

	// What the team above has, the team below has.
	w.bob.API(http.MethodGet, "/repos/acme/secret", nil).Want(404)
	w.bob.API(http.MethodPut, "/orgs/acme/teams/deep/repos/acme/secret", doc{"permission": "push"}).Want(404)
	w.ann.API(http.MethodPut, "/orgs/acme/teams/core-team/repos/acme/secret", doc{"permission": "push"}).Want(204)
	w.bob.API(http.MethodGet, "/repos/acme/secret", nil).OK()
	if got := list(t, w.bob.API(http.MethodGet, "/orgs/acme/teams/deep/repos", nil)); len(got) != 1 || got[0]["role_name"] != "write" {
		t.Errorf("repositories of the team below: %v", got)
	}
	w.bob.API(http.MethodGet, "/orgs/acme/teams/deep/repos/acme/secret", nil).Want(204)
	if got := list(t, w.ann.API(http.MethodGet, "/repos/acme/secret/teams", nil)); len(got) != 1 || got[0]["permission"] != "push" {
		t.Errorf("teams of the repository: %v", got)
	}

	// A maintainer changes the team, not its place.
	w.bob.API(http.MethodPatch, "/orgs/acme/teams/deep", doc{"name": "Deeper", "parent_team_id": 0}).OK()
	if got := w.bob.API(http.MethodGet, "/orgs/acme/teams/deeper", nil).OK().JSON(); got["parent"] == nil {
		t.Error("a maintainer moved the team")
	}
	w.bob.API(http.MethodPatch, "/orgs/acme/teams/core-team", doc{"name": "x"}).Want(403)
	w.bob.API(http.MethodDelete, "/orgs/acme/teams/deeper", nil).Want(403)
	w.bob.API(http.MethodPut, "/orgs/acme/teams/deeper/memberships/eve", nil).Want(422) // does not belong
	if got := w.ann.API(http.MethodPut, "/orgs/acme/teams/deeper/memberships/eve", nil).OK().JSON(); got["state"] != "pending" {
		t.Errorf("invited into a team: %v", got)
	}
	w.eve.API(http.MethodPatch, "/user/memberships/orgs/acme", doc{"state": "active"}).OK()
	w.eve.API(http.MethodGet, "/repos/acme/secret", nil).OK()
	if got := list(t, w.eve.API(http.MethodGet, "/user/teams", nil)); len(got) != 1 || got[0]["slug"] != "deeper" {
		t.Errorf("eve's teams: %v", got)
	}
	w.ann.API(http.MethodDelete, "/orgs/acme/members/eve", nil).Want(204)
	w.eve.API(http.MethodGet, "/repos/acme/secret", nil).Want(404)

	// Secret ones are seen by their own.
	w.ann.API(http.MethodPost, "/orgs/acme/teams", doc{"name": "Hidden", "privacy": "secret"}).Want(201)
	w.bob.API(http.MethodGet, "/orgs/acme/teams/hidden", nil).Want(404)
	w.ann.API(http.MethodGet, "/orgs/acme/teams/hidden", nil).OK()
	// Teams below move up.
	w.ann.API(http.MethodDelete, "/orgs/acme/teams/core-team", nil).Want(204)
	if got := w.ann.API(http.MethodGet, "/orgs/acme/teams/deeper", nil).OK().JSON(); got["parent"] != nil {
		t.Errorf("parent of what was below: %v", got["parent"])
	}
	w.bob.API(http.MethodGet, "/repos/acme/secret", nil).Want(404)
}

func TestTeamPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join(w.bob)
	w.eve.Get("/orgs/acme/teams").Want(404)
	w.ann.Get("/orgs/acme/teams").OK().Has("There are no teams yet")
	w.bob.Get("/orgs/acme/teams/new").Want(403)
	bad := w.ann.Post("/orgs/acme/teams", "name", "!!!", "description", "kept").Want(422)
	if v, _ := bad.Find("input[name=description]").Attr("value"); v != "kept" {
		t.Errorf("typed text is lost: %q", v)
	}
	w.ann.Post("/orgs/acme/teams", "name", "Core").Want(303)
	w.ann.Post("/orgs/acme/teams", "name", "Deep", "parent", "core").Want(303)
	w.bob.Get("/orgs/acme/teams").OK().Has("Deep")
	w.ann.Post("/orgs/acme/teams/deep/members", "username", "bob", "role", "member").Want(303)
	w.ann.Post("/orgs/acme/teams/deep/members", "username", "nobody", "role", "member").Want(422).Has("nobody")
	w.bob.Get("/orgs/acme/teams/core").OK().Has("through deep")
	w.bob.Post("/orgs/acme/teams/core/members/ann/remove").Want(403)
	w.bob.Post("/orgs/acme/teams/deep/members/bob/remove").Want(303)
	w.ann.Post("/orgs/acme/teams/deep", "name", "Deep", "parent", "deep").Want(422)
	w.ann.Post("/orgs/acme/teams/deep", "name", "Deep two").Want(303)
	w.ann.Get("/orgs/acme/teams/deep-two").OK()
	w.ann.Post("/orgs/acme/teams/deep-two/delete").Want(303)
	w.ann.Get("/orgs/acme/teams/deep-two").Want(404)
}

func TestRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join(w.bob)
	dbtest.Repo(t, w.DB, w.org, "secret", dbtest.RepoOpts{Private: true})
	w.bob.Get("/organizations/acme/settings").Want(403)
	w.eve.Get("/organizations/acme/settings/members").Want(404)
	w.ann.Get("/organizations/acme/settings").OK().Has("Delete this organisation")
	w.bob.Get("/acme/secret").OK() // read is the base role
	w.ann.Post("/organizations/acme/settings/members", "base_role", "none").Want(303)
	w.bob.Get("/acme/secret").Want(404)
	w.bob.API(http.MethodPost, "/orgs/acme/repos", doc{"name": "mine"}).Want(403)
	w.ann.Post("/organizations/acme/settings/members", "base_role", "king").Want(422)
	w.ann.Post("/organizations/acme/settings/members", "base_role", "write", "members_create", "true").Want(303)
	w.bob.API(http.MethodPost, "/orgs/acme/repos", doc{"name": "mine"}).Want(201)

	// With the rule, a session that began with a recovery code sees nothing
	// private, and what it began with shows again when the rule is gone.
	text, err := w.App.Auth.StartSession(t.Context(), w.bob.Account.ID, auth.Device{Agent: "test", Way: auth.ByRecovery})
	if err != nil {
		t.Fatal(err)
	}
	weak := w.As(t, w.bob.Account)
	weak.Jar.Set(w.App.Kit.CookieName("session"), text)
	weak.Get("/acme/secret").OK()
	w.ann.Post("/organizations/acme/settings/members", "base_role", "write", "require_passkey", "true").Want(303)
	weak.Get("/acme/secret").Want(403).Has("passkey")
	weak.Get("/orgs/acme/teams").Want(403)
	w.bob.Get("/acme/secret").OK()
}

func TestOrganisationSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ann.Post("/organizations/acme/settings", "display_name", "Acme & Co", "location", strings.Repeat("x", 500)).Want(422).Has("Acme &amp; Co")
	w.ann.Post("/organizations/acme/settings", "display_name", "Acme & Co", "bio", "We make things").Want(303)
	w.Anon().Get("/acme").OK().Has("We make things")
	w.ann.Post("/organizations/acme/settings/rename", "username", "ann").Want(422)
	w.ann.Post("/organizations/acme/settings/rename", "username", "apex").Want(303)
	if to := w.Anon().Get("/acme").Want(301).Location(); to != "/apex" {
		t.Errorf("the old name leads to %s", to)
	}
	w.ann.Post("/organizations/apex/settings/delete", "name", "acme").Want(422)
	w.ann.Post("/organizations/apex/settings/delete", "name", "apex").Want(303)
	w.Anon().Get("/apex").Want(404)
}

func TestPublicMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.join(w.bob)
	if got := list(t, w.Anon().API(http.MethodGet, "/orgs/acme/public_members", nil)); len(got) != 0 {
		t.Errorf("public: %v", got)
	}
	w.bob.API(http.MethodPut, "/orgs/acme/public_members/ann", nil).Want(403)
	w.bob.API(http.MethodPut, "/orgs/acme/public_members/bob", nil).Want(204)
	if got := list(t, w.Anon().API(http.MethodGet, "/orgs/acme/public_members", nil)); len(got) != 1 || got[0]["login"] != "bob" {
		t.Errorf("public: %v", got)
	}
	w.bob.Post("/orgs/acme/people/publicity", "public", "false").Want(303)
	if got := list(t, w.Anon().API(http.MethodGet, "/orgs/acme/public_members", nil)); len(got) != 0 {
		t.Errorf("public: %v", got)
	}
}
