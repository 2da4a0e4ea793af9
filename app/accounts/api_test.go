package accounts_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
)

const aKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

func TestUserAPI(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob, anon := s.User(t, "ann"), s.User(t, "bob"), s.Anon()
	anon.API(http.MethodGet, "/user", nil).Want(401)
	me := ann.API(http.MethodGet, "/user", nil).OK().JSON()
	if me["login"] != "ann" || me["site_admin"] != true || me["type"] != "User" || me["two_factor_authentication"] != true {
		t.Errorf("GET /user: %v", me)
	}
	for _, key := range []string{"id", "node_id", "avatar_url", "html_url", "name", "company", "blog", "location", "email", "bio", "public_repos", "followers", "created_at", "plan"} {
		if _, ok := me[key]; !ok {
			t.Errorf("GET /user lacks %s", key)
		}
	}
	ann.API(http.MethodPatch, "/user", map[string]any{"name": "Ann", "bio": "Hi", "blog": "https://example.com"}).OK()
	got := anon.API(http.MethodGet, "/users/ANN", nil).OK().JSON()
	if got["name"] != "Ann" || got["blog"] != "https://example.com" {
		t.Errorf("GET /users/ann: %v", got)
	}
	anon.API(http.MethodGet, "/users/nobody", nil).Want(404)

	bob.API(http.MethodPut, "/user/following/ann", nil).Want(204)
	bob.API(http.MethodGet, "/user/following/ann", nil).Want(204)
	var followers []map[string]any
	anon.API(http.MethodGet, "/users/ann/followers", nil).OK().Into(&followers)
	if len(followers) != 1 || followers[0]["login"] != "bob" {
		t.Errorf("followers: %v", followers)
	}
	bob.API(http.MethodDelete, "/user/following/ann", nil).Want(204)
	bob.API(http.MethodGet, "/user/following/ann", nil).Want(404)
}

func TestKeyAPI(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	made := ann.API(http.MethodPost, "/user/keys", map[string]any{"title": "laptop", "key": aKey + " c"}).Want(201).JSON()
	if made["key"] != aKey || made["title"] != "laptop" || made["read_only"] != false {
		t.Errorf("POST /user/keys: %v", made)
	}
	r := bob.API(http.MethodPost, "/user/keys", map[string]any{"title": "x", "key": aKey}).Want(422).JSON()
	if r["message"] != "Validation Failed" || !strings.Contains(toText(r["errors"]), "in use") {
		t.Errorf("the same key again: %v", r)
	}
	var keys []map[string]any
	s.Anon().API(http.MethodGet, "/users/ann/keys", nil).OK().Into(&keys)
	if len(keys) != 1 || keys[0]["key"] != aKey || len(keys[0]) != 2 {
		t.Errorf("GET /users/ann/keys: %v", keys)
	}
	id := "/user/keys/" + number(made["id"])
	ann.API(http.MethodGet, id, nil).OK()
	bob.API(http.MethodDelete, id, nil).Want(404)
	ann.API(http.MethodDelete, id, nil).Want(204)
	ann.API(http.MethodGet, id, nil).Want(404)
}

func TestEmailAPI(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	ann.API(http.MethodPost, "/user/emails", map[string]any{"emails": []string{"b@example.com"}}).Want(201)
	ann.API(http.MethodPost, "/user/emails", []string{"c@example.com"}).Want(201)
	var list []map[string]any
	ann.API(http.MethodGet, "/user/emails", nil).OK().Into(&list)
	if len(list) != 3 || list[0]["primary"] != true || list[0]["visibility"] != "public" || list[1]["visibility"] != nil {
		t.Errorf("GET /user/emails: %v", list)
	}
	ann.API(http.MethodPatch, "/user/email/visibility", map[string]any{"visibility": "private"}).OK()
	ann.API(http.MethodGet, "/user/emails", nil).OK().Has(`"private"`)
	ann.API(http.MethodDelete, "/user/emails", map[string]any{"emails": []string{"b@example.com"}}).Want(204)
	ann.API(http.MethodDelete, "/user/emails", map[string]any{"emails": []string{"ann@example.com"}}).Want(409)
}

func TestOrganisations(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob, anon := s.User(t, "ann"), s.User(t, "bob"), s.Anon()
	bob.Post("/organizations/new", "name", "ANN").Want(422).Has("taken")
	bob.Post("/organizations/new", "name", "orgs").Want(422).Has("reserved")
	bob.Post("/organizations/new", "name", "acme", "display_name", "Acme Inc").Want(303)
	anon.Get("/acme").OK().Has("Acme Inc")
	org := anon.API(http.MethodGet, "/orgs/acme", nil).OK().JSON()
	if org["login"] != "acme" || org["name"] != "Acme Inc" || org["type"] != "Organization" {
		t.Errorf("GET /orgs/acme: %v", org)
	}
	anon.API(http.MethodGet, "/orgs/ann", nil).Want(404)
	ann.Post("/orgs/acme/people", "username", "ann", "role", "member").Want(404)
	bob.Post("/orgs/acme/people", "username", "nobody", "role", "member").Want(422)
	bob.Post("/orgs/acme/people", "username", "bob", "role", "member").Want(409) // the only owner
	bob.Post("/orgs/acme/people/bob/remove").Want(409)
	bob.API(http.MethodPut, "/orgs/acme/memberships/ann", map[string]any{"role": "admin"}).OK()
	ann.API(http.MethodPatch, "/user/memberships/orgs/acme", map[string]any{"state": "active"}).OK()
	if m := ann.API(http.MethodGet, "/user/memberships/orgs/acme", nil).OK().JSON(); m["role"] != "admin" || m["state"] != "active" {
		t.Errorf("membership: %v", m)
	}
	ann.API(http.MethodPost, "/orgs/acme/repos", map[string]any{"name": "tools"}).Want(201)
	anon.Get("/acme").OK().Has("tools")
	bob.Post("/orgs/acme/people/bob/remove").Want(303)
	bob.API(http.MethodGet, "/orgs/acme/members/ann", nil).Want(404)
	ann.API(http.MethodGet, "/orgs/acme/members/ann", nil).Want(204)
	var orgs []map[string]any
	ann.API(http.MethodGet, "/user/orgs", nil).OK().Into(&orgs)
	if len(orgs) != 1 || orgs[0]["login"] != "acme" {
		t.Errorf("GET /user/orgs: %v", orgs)
	}
}

func TestAvatar(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	a, b := s.Anon().Get("/-/avatar/1").OK(), s.Anon().Get("/-/avatar/2").OK()
	if a.Header.Get("Content-Type") != "image/svg+xml" || a.Body == b.Body || !strings.HasPrefix(a.Body, "<svg ") {
		t.Errorf("avatars: %s %s", a.Body, b.Body)
	}
	s.Anon().Get("/-/avatar/x").Want(404)
}

func toText(v any) string { return fmt.Sprint(v) }

func number(v any) string {
	n, _ := v.(float64)
	return strconv.FormatInt(int64(n), 10)
}
