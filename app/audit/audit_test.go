package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/eventdb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// actions are the newest entries' actions and targets, oldest first.
func actions(t *testing.T, s *apptest.Server, f eventdb.AuditFilter) []string {
	t.Helper()
	f.Limit, f.Oldest = 100, true
	list, err := eventdb.Audit(t.Context(), s.DB.Events(), f)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Action+" "+e.Target)
	}
	return out
}

// TestOperations follows what people do through the API and the pages into
// the log, with who, where from, before and after.
func TestOperations(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	must := func(want int, method, path string, in any) {
		t.Helper()
		ann.API(method, path, in).Want(want)
	}
	must(http.StatusCreated, "POST", "/user/repos", map[string]any{"name": "box", "private": true})
	must(http.StatusOK, "PATCH", "/repos/ann/box", map[string]any{"private": false, "description": "A box"})
	must(http.StatusOK, "PATCH", "/repos/ann/box", map[string]any{"name": "crate"})
	must(http.StatusOK, "PATCH", "/repos/ann/crate", map[string]any{"archived": true})
	must(http.StatusOK, "PATCH", "/repos/ann/crate", map[string]any{"archived": false})
	must(http.StatusCreated, "POST", "/repos/ann/crate/hooks", map[string]any{"config": map[string]string{"url": "https://example.com/hook", "secret": "hush"}})
	must(http.StatusNoContent, "DELETE", "/repos/ann/crate", nil)
	ann.Post("/organizations/new", "name", "guild").Want(http.StatusSeeOther)
	ann.Post("/orgs/guild/people", "username", "bob", "role", "member").Want(http.StatusSeeOther)
	bob.Post("/orgs/guild/invitation/accept").Want(http.StatusSeeOther)
	ann.Post("/orgs/guild/people/bob/remove").Want(http.StatusSeeOther)
	got := strings.Join(actions(t, s, eventdb.AuditFilter{PersonID: ann.Account.ID}), "\n")
	for _, want := range []string{"repo.create ann/box", "repo.access ann/box", "repo.update ann/box", "repo.rename ann/crate", "repo.archived ann/crate",
		"repo.unarchived ann/crate", "hook.create https://example.com/hook", "repo.destroy ann/crate", "org.create guild", "org.invite_member bob", "org.remove_member bob"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "hush") {
		t.Error("the secret of a hook is in the log")
	}
	list, err := eventdb.Audit(t.Context(), s.DB.Events(), eventdb.AuditFilter{Actions: []string{"repo.rename"}, Limit: 5})
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	e := list[0]
	if e.Actor != "ann" || e.Via != "token" || e.Remote != "127.0.0.1" || e.Agent == "" || string(e.Before) != `{"name": "box"}` || string(e.After) != `{"name": "crate"}` {
		t.Errorf("%+v before %s after %s", e, e.Before, e.After)
	}

	page := ann.Get("/settings/security-log").OK().Has("repo.rename").Has("from 127.0.0.1")
	if page.Find("[data-audit] del").Length() == 0 {
		t.Error("no value before")
	}
	ann.Get("/settings/security-log?q=action:org.*").OK().Has("org.create")
	if n := ann.Get("/settings/security-log?q=action:org.*").OK().Find("[data-audit]").Length(); n != 3 {
		t.Errorf("%d entries of org.*", n)
	}
	ann.Get("/settings/security-log?q=created:<2020-01-01").OK().Has("Nothing was found")
	bob.Get("/settings/security-log?q=org.create").OK().Has("Nothing was found")
	ann.Get("/organizations/guild/settings/audit").OK().Has("org.add_member")
	bob.Get("/organizations/guild/settings/audit").Want(http.StatusForbidden)
	ann.Get("/organizations/ann/settings/audit").Want(http.StatusNotFound)
	bob.Get("/admin/audit").Want(http.StatusNotFound)

	var wire []audit.Wire
	ann.API("GET", "/orgs/guild/audit-log?phrase=action:org.add_member", nil).OK().Into(&wire)
	if len(wire) != 1 || wire[0].Actor != "bob" || wire[0].Org != "guild" || wire[0].Target != "bob" {
		t.Errorf("%+v", wire)
	}
	dbtest.Exec(t, s.DB, "UPDATE directory.users SET admin = (account_id = ?)", ann.Account.ID)
	ann.Get("/admin/audit").OK().Has("user.login")
	lines := strings.Split(strings.TrimSpace(ann.Get("/admin/audit/export?q=action:repo.*").OK().Body), "\n")
	if len(lines) != 7 {
		t.Errorf("%d lines exported", len(lines))
	}
	for _, line := range lines {
		var row struct {
			Action string `json:"action"`
			At     string `json:"at"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil || !strings.HasPrefix(row.Action, "repo.") || row.At == "" {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// TestSameTransaction keeps nothing of a change that did not happen.
func TestSameTransaction(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	stop := errors.New("stop")
	err := s.DB.InDirectory(t.Context(), func(ctx context.Context, tx db.DirectoryTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: "test.never"}); err != nil {
			return err
		}
		return stop
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if got := actions(t, s, eventdb.AuditFilter{Actions: []string{"test.*"}}); len(got) != 0 {
		t.Error(got)
	}
}

// TestPaging walks through the log page by page and finds each entry once;
// what is too old goes.
func TestPaging(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	for range 60 {
		err := s.DB.InDirectory(t.Context(), func(ctx context.Context, tx db.DirectoryTx) error {
			return audit.Record(ctx, tx, audit.Entry{Action: "test.page", ActorID: ann.Account.ID, AccountID: ann.Account.ID})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	first := ann.Get("/settings/security-log?q=action:test.page").OK()
	next, ok := first.Find("a[href*='before=']").Attr("href")
	if n := first.Find("[data-audit]").Length(); n != 50 || !ok {
		t.Fatalf("%d on the first page, next %q", n, next)
	}
	if n := ann.Get(next).OK().Find("[data-audit]").Length(); n != 10 {
		t.Errorf("%d on the second page", n)
	}
	dbtest.Exec(t, s.DB, "UPDATE events.audit SET at = at - interval '401 days' WHERE action = 'test.page' AND id % 2 = 0")
	if _, err := eventdb.Purge(t.Context(), s.DB, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := actions(t, s, eventdb.AuditFilter{Actions: []string{"test.page"}}); len(got) != 30 {
		t.Errorf("%d entries are left of 60", len(got))
	}
}
