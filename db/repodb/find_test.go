package repodb_test

import (
	"errors"
	"testing"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestRoles(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	org := dbtest.Account(t, d, "Org", model.KindOrganization)
	user := func(name string) int64 { return dbtest.User(t, d, name).ID }
	boss, member, collab, teamed, nested, stranger := user("boss"), user("member"), user("collab"), user("teamed"), user("nested"), user("stranger")
	repo := dbtest.Repo(t, d, org, "Secret", dbtest.RepoOpts{Private: true})
	dbtest.Repo(t, d, org, "open", dbtest.RepoOpts{})
	now := repo.CreatedAt
	dbtest.Exec(t, d, "INSERT INTO directory.org_members (org_id, user_id, role, created_at) VALUES (?0, ?1, 'owner', ?3), (?0, ?2, 'member', ?3)", org.ID, boss, member, now)
	dbtest.Exec(t, d, "INSERT INTO directory.collaborators (repo_id, account_id, role, created_at) VALUES (?0, ?1, 'triage', ?2)", repo.ID, collab, now)
	dbtest.Exec(t, d, `INSERT INTO directory.teams (id, org_id, parent_id, name, slug, created_at) VALUES
		(1, ?0, NULL, 'a', 'a', ?1), (2, ?0, 1, 'b', 'b', ?1)`, org.ID, now)
	dbtest.Exec(t, d, "INSERT INTO directory.team_members (team_id, user_id, created_at) VALUES (1, ?0, ?2), (2, ?1, ?2)", teamed, nested, now)
	dbtest.Exec(t, d, "INSERT INTO directory.team_repos (team_id, repo_id, role, created_at) VALUES (1, ?, 'write', ?)", repo.ID, now)

	want := map[int64]model.Role{boss: model.RoleAdmin, member: "", collab: model.RoleTriage, teamed: model.RoleWrite,
		nested: model.RoleWrite, stranger: "", 0: ""}
	check := func(step string) {
		t.Helper()
		for id, role := range want {
			got, have, err := repodb.Find(t.Context(), d.Directory(), "oRG", "SECRET", id)
			if have != role || (role == "") != errors.Is(err, db.ErrNotFound) || (err == nil && got.FullName() != "Org/Secret") {
				t.Errorf("%s: account %d has %q (%v), want %q", step, id, have, err, role)
			}
			ids, err := repodb.ReadableIDs(t.Context(), d.Directory(), []int64{repo.ID, repo.ID + 1}, id)
			if err != nil || ids[repo.ID] != (role != "") || !ids[repo.ID+1] {
				t.Errorf("%s: account %d may read %v (%v), role %q", step, id, ids, err, role)
			}
			if _, have, err := repodb.Find(t.Context(), d.Directory(), "org", "open", id); err != nil || !have.AtLeast(model.RoleRead) {
				t.Errorf("%s: account %d at a public repository: %q, %v", step, id, have, err)
			}
		}
	}
	check("no base role")
	dbtest.Exec(t, d, "UPDATE directory.accounts SET base_role = 'read' WHERE id = ?", org.ID)
	want[member] = model.RoleRead
	check("base role read")
}
