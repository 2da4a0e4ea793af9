package admin_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	s := apptest.NewWorking(t)
	admin := s.User(t, "ann")
	admin.Get("/admin").OK().Has("Postgres").Has("relations").Has("migrated, storage can be written")
}

// TestAccounts suspends a person and takes it back, and makes another an
// administrator; the last one stays.
func TestAccounts(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	admin, bob := s.User(t, "ann"), s.User(t, "bob")
	act := func(c *apptest.Client, of *apptest.Client, part string, want int) {
		t.Helper()
		c.Post(fmt.Sprintf("/admin/accounts/%d/%s", of.Account.ID, part)).Want(want)
	}
	page := admin.Get("/admin/accounts?q=bob@").OK().Has("bob@example.com")
	if n := page.Find("ul[aria-label=Accounts] > li").Length(); n != 1 {
		t.Errorf("%d accounts found", n)
	}
	act(bob, admin, "suspend", http.StatusNotFound)
	act(admin, bob, "suspend", http.StatusSeeOther)
	bob.API(http.MethodGet, "/user", nil).Want(http.StatusForbidden)
	admin.Get("/admin/accounts?state=suspended").OK().Has("bob@example.com")
	act(admin, bob, "unsuspend", http.StatusSeeOther)
	bob.API(http.MethodGet, "/user", nil).OK()
	act(admin, admin, "suspend", http.StatusConflict)
	act(admin, admin, "demote", http.StatusConflict)
	act(admin, bob, "promote", http.StatusSeeOther)
	bob.Get("/admin/accounts?state=admin").OK().Has("ann@example.com").Has("bob@example.com")
	act(bob, admin, "demote", http.StatusSeeOther)
	admin.Get("/admin").Want(http.StatusNotFound)
}

func TestRepositories(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	admin, bob := s.User(t, "ann"), s.User(t, "bob")
	dbtest.Repo(t, s.DB, bob.Account, "secret", dbtest.RepoOpts{Private: true})
	dbtest.Repo(t, s.DB, bob.Account, "open", dbtest.RepoOpts{})
	admin.Get("/admin/repositories").OK().Has("bob/secret").Has("bob/open")
	if body := admin.Get("/admin/repositories?state=private&sort=size").OK().Has("bob/secret").Body; strings.Contains(body, "bob/open") {
		t.Error("a public repository among the private ones")
	}
}

// TestScopes puts a scope to sleep and wakes it, and restores one from its own
// export.
func TestScopes(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	admin := s.User(t, "ann")
	repo := dbtest.Repo(t, s.DB, admin.Account, "box", dbtest.RepoOpts{})
	issue := func(title string) {
		t.Helper()
		admin.API(http.MethodPost, "/repos/ann/box/issues", map[string]any{"title": title}).Want(http.StatusCreated)
	}
	issue("first")
	at := "/admin/scopes/" + db.RepoScope(repo.ID).String()
	admin.Get("/admin/scopes").OK().Has(at).Has("ann/box")
	if to := admin.Get("/admin/scopes?q=ann/box").Location(); to != at {
		t.Errorf("found at %q", to)
	}
	admin.Get(at).OK().Has("Put to sleep").Has("open issues")
	admin.Post(at + "/sleep").Want(http.StatusSeeOther)
	admin.Get(at).OK().Has("Asleep")
	admin.Post(at + "/wake").Want(http.StatusSeeOther)

	export := admin.Get(at + "/export").OK().Body
	issue("second")
	restore := func(file string) *apptest.Response {
		t.Helper()
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		part, err := w.CreateFormFile("export", "box.scope")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte(file))
		_ = w.Close()
		return admin.Do(http.MethodPost, at+"/restore", &body, "Content-Type", w.FormDataContentType(), "Sec-Fetch-Site", "same-origin", "Origin", s.URL)
	}
	restore("nonsense").Want(http.StatusUnprocessableEntity).Has("Nothing was changed")
	restore(export[:len(export)-9]).Want(http.StatusUnprocessableEntity)
	admin.Get("/ann/box/issues").OK().Has("second")
	restore(export).Want(http.StatusSeeOther)
	if body := admin.Get("/ann/box/issues").OK().Has("first").Body; strings.Contains(body, "second") {
		t.Error("what came after the export is still there")
	}
	admin.Get("/admin/scopes/repo_99").Want(http.StatusNotFound)
	admin.Get("/admin/scopes/pg_catalog").Want(http.StatusNotFound)
}
