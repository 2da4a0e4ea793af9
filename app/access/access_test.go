package access_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type doc = map[string]any

func list(t *testing.T, r *apptest.Response) []doc {
	t.Helper()
	var out []doc
	r.OK().Into(&out)
	return out
}

func TestInviteOverAPI(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob, eve := s.User(t, "ann"), s.User(t, "bob"), s.User(t, "eve")
	dbtest.Repo(t, s.DB, ann.Account, "secret", dbtest.RepoOpts{Private: true})
	const at = "/repos/ann/secret"
	bob.API(http.MethodGet, at, nil).Want(404)

	inv := ann.API(http.MethodPut, at+"/collaborators/BOB", doc{"permission": "push"}).Want(201).JSON()
	for _, key := range []string{"id", "node_id", "repository", "invitee", "inviter", "permissions", "created_at", "expired", "url", "html_url"} {
		if _, ok := inv[key]; !ok {
			t.Errorf("an invitation lacks %s", key)
		}
	}
	if inv["permissions"] != "write" || inv["expired"] != false || inv["invitee"].(doc)["login"] != "bob" {
		t.Errorf("invitation: %v", inv)
	}
	again := ann.API(http.MethodPut, at+"/collaborators/bob", doc{"permission": "pull"}).Want(201).JSON()
	if again["id"] != inv["id"] || again["permissions"] != "read" {
		t.Errorf("invited again: %v, before %v", again["id"], inv["id"])
	}
	bob.API(http.MethodGet, at, nil).Want(404)
	id := strconv.FormatInt(int64(inv["id"].(float64)), 10)
	if got := list(t, ann.API(http.MethodGet, at+"/invitations", nil)); len(got) != 1 {
		t.Fatalf("invitations: %v", got)
	}
	got := ann.API(http.MethodPatch, at+"/invitations/"+id, doc{"permissions": "maintain"}).OK().JSON()
	if got["permissions"] != "maintain" {
		t.Errorf("changed invitation: %v", got)
	}
	ann.API(http.MethodPatch, at+"/invitations/"+id, doc{"permissions": "king"}).Want(422)

	// Nobody else can see or take it.
	eve.API(http.MethodPatch, "/user/repository_invitations/"+id, nil).Want(404)
	eve.API(http.MethodDelete, at+"/invitations/"+id, nil).Want(404)
	if got := list(t, eve.API(http.MethodGet, "/user/repository_invitations", nil)); len(got) != 0 {
		t.Errorf("eve has invitations: %v", got)
	}
	mine := list(t, bob.API(http.MethodGet, "/user/repository_invitations", nil))
	if len(mine) != 1 || mine[0]["repository"].(doc)["full_name"] != "ann/secret" {
		t.Fatalf("bob's invitations: %v", mine)
	}
	bob.API(http.MethodPatch, "/user/repository_invitations/"+id, nil).Want(204)
	bob.API(http.MethodPatch, "/user/repository_invitations/"+id, nil).Want(404)
	bob.API(http.MethodGet, at, nil).OK()
	perm := bob.API(http.MethodGet, at+"/collaborators/bob/permission", nil).OK().JSON()
	if perm["permission"] != "write" || perm["role_name"] != "maintain" {
		t.Errorf("permission: %v", perm)
	}
	perm = ann.API(http.MethodGet, at+"/collaborators/eve/permission", nil).OK().JSON()
	if perm["permission"] != "none" || perm["role_name"] != "none" {
		t.Errorf("a stranger's permission: %v", perm)
	}

	// Who is in has another role at once.
	ann.API(http.MethodPut, at+"/collaborators/bob", doc{"permission": "triage"}).Want(204)
	bob.API(http.MethodGet, at+"/collaborators", nil).Want(403)
	people := list(t, ann.API(http.MethodGet, at+"/collaborators", nil))
	if len(people) != 2 || people[0]["role_name"] != "admin" || people[1]["role_name"] != "triage" {
		t.Errorf("collaborators: %v", people)
	}
	if got := list(t, ann.API(http.MethodGet, at+"/collaborators?affiliation=outside", nil)); len(got) != 1 || got[0]["login"] != "bob" {
		t.Errorf("outside collaborators: %v", got)
	}
	ann.API(http.MethodGet, at+"/collaborators/bob", nil).Want(204)
	ann.API(http.MethodGet, at+"/collaborators/eve", nil).Want(404)
	ann.API(http.MethodPut, at+"/collaborators/ann", nil).Want(422)
	ann.API(http.MethodPut, at+"/collaborators/nobody", nil).Want(404)
	bob.API(http.MethodPut, at+"/collaborators/eve", nil).Want(403)

	// People leave by themselves.
	bob.API(http.MethodDelete, at+"/collaborators/ann", nil).Want(403)
	bob.API(http.MethodDelete, at+"/collaborators/bob", nil).Want(204)
	bob.API(http.MethodGet, at, nil).Want(404)

	var types []string
	for _, e := range dbtest.Events(t.Context(), t, s.DB) {
		if strings.HasPrefix(e.Type, "collaborator.") {
			types = append(types, e.Type)
		}
	}
	want := []string{"collaborator.invited", "collaborator.invited", "collaborator.added", "collaborator.role_changed", "collaborator.removed"}
	if len(types) != len(want) {
		t.Fatalf("events %v, want %v", types, want)
	}
	for i := range want {
		if types[i] != want[i] {
			t.Errorf("events %v, want %v", types, want)
		}
	}
}

func TestDeclineRevokeAndExpire(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	dbtest.Repo(t, s.DB, ann.Account, "secret", dbtest.RepoOpts{Private: true})
	invite := func() string {
		t.Helper()
		inv := ann.API(http.MethodPut, "/repos/ann/secret/collaborators/bob", nil).Want(201).JSON()
		return strconv.FormatInt(int64(inv["id"].(float64)), 10)
	}
	id := invite()
	bob.API(http.MethodDelete, "/user/repository_invitations/"+id, nil).Want(204)
	ann.API(http.MethodDelete, "/repos/ann/secret/invitations/"+id, nil).Want(404)
	id = invite()
	ann.API(http.MethodDelete, "/repos/ann/secret/invitations/"+id, nil).Want(204)
	bob.API(http.MethodPatch, "/user/repository_invitations/"+id, nil).Want(404)
	id = invite()
	dbtest.Exec(t, s.DB, "UPDATE directory.invitations SET expires_at = now() - interval '1 second'")
	bob.API(http.MethodPatch, "/user/repository_invitations/"+id, nil).Want(410)
	if again := invite(); again != id {
		t.Errorf("renewed as %s, was %s", again, id)
	}
	bob.API(http.MethodPatch, "/user/repository_invitations/"+id, nil).Want(204)
}

func TestAccessPage(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob, eve := s.User(t, "ann"), s.User(t, "bob"), s.User(t, "eve")
	dbtest.Repo(t, s.DB, ann.Account, "secret", dbtest.RepoOpts{Private: true})
	const at = "/ann/secret/settings/access"
	ann.Get(at).OK().Has("only the people below see it").Has("owns the repository")
	bob.Get(at).Want(404)

	refused := ann.Post(at, "username", "nobody", "role", "triage").Want(422)
	if v, _ := refused.Find("input[name=username]").Attr("value"); v != "nobody" {
		t.Errorf("typed name is lost: %q", v)
	}
	if refused.Find(`select[name=role] option[value=triage][selected]`).Length() != 1 {
		t.Error("the chosen role is lost")
	}
	refused.Has("Nobody here is called")

	bob.Get("/ann/secret/invitations").Want(404)
	ann.Post(at, "username", "@bob", "role", "write").Want(303)
	ann.Get(at).OK().Has("Invitations")
	eve.Get("/ann/secret/invitations").Want(404)
	page := bob.Get("/ann/secret/invitations").OK().Has("You are invited to ann/secret")
	action, _ := page.Find(`form[action$="/accept"]`).Attr("action")
	bob.Get("/settings/invitations").OK().Has("ann/secret")
	eve.Post(action).Want(404)
	if to := bob.Post(action).Want(303).Location(); to != "/ann/secret" {
		t.Errorf("sent to %s", to)
	}
	bob.Get("/ann/secret").OK()
	ann.Get(at).OK().Has("write as a collaborator")
	ann.Post(at+"/people/bob", "role", "read").Want(303)
	ann.Get(at).OK().Has("read as a collaborator")
	ann.Post(at + "/people/bob/remove").Want(303)
	bob.Get("/ann/secret").Want(404)
}

func TestTeamsOfARepository(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	org := dbtest.Account(t, s.DB, "acme", model.KindOrganization)
	repo := dbtest.Repo(t, s.DB, org, "secret", dbtest.RepoOpts{Private: true})
	now := repo.CreatedAt
	dbtest.Exec(t, s.DB, "INSERT INTO directory.org_members (org_id, user_id, role, created_at) VALUES (?0, ?1, 'owner', ?3), (?0, ?2, 'member', ?3)",
		org.ID, ann.Account.ID, bob.Account.ID, now)
	dbtest.Exec(t, s.DB, `INSERT INTO directory.teams (id, org_id, parent_id, name, slug, created_at) VALUES
		(1, ?0, NULL, 'Core', 'core', ?1), (2, ?0, 1, 'Deep', 'deep', ?1)`, org.ID, now)
	dbtest.Exec(t, s.DB, "INSERT INTO directory.team_members (team_id, user_id, created_at) VALUES (2, ?, ?)", bob.Account.ID, now)
	const at = "/acme/secret/settings/access"
	bob.Get("/acme/secret").Want(404)
	ann.Post(at+"/teams", "team", "core", "role", "write").Want(303)
	bob.Get("/acme/secret").OK()
	ann.Get(at).OK().Has("write through the team core").Has("owns the organisation")
	ann.Post(at+"/teams", "team", "none", "role", "write").Want(422)

	// A member is added at once, and the repository's new owner has no teams
	// of the old one.
	ann.API(http.MethodPut, "/repos/acme/secret/collaborators/bob", doc{"permission": "read"}).Want(204)
	ann.API(http.MethodDelete, "/repos/acme/secret/collaborators/bob", nil).Want(204)
	ann.Post("/acme/secret/settings/transfer", "confirm", "acme/secret", "new_owner", "ann").Want(303)
	bob.Get("/ann/secret").Want(404)
}
