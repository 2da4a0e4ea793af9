// Package notificationdb holds the queries of people's inboxes and of who is
// told of what.
package notificationdb

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// Person is somebody who may be told of something in a repository.
type Person struct {
	ID       int64           `bun:"id"`
	Name     string          `bun:"name"`
	Shown    string          `bun:"display_name"`
	Email    string          `bun:"email"`
	TimeZone string          `bun:"time_zone"`
	Notify   json.RawMessage `bun:"notify"`
	// Pushes says that some browser of theirs takes pushes, so that telling
	// many people asks none of their scopes.
	Pushes bool     `bun:"pushes"`
	Roles  []string `bun:"roles,array"`
	// Role is the highest of Roles, RoleRead at least in a public repository.
	Role model.Role `bun:"-"`
}

// Settings are what the person chose, or the default.
func (p *Person) Settings() model.NotifySettings {
	s := model.DefaultNotify()
	if len(p.Notify) > 0 {
		if json.Unmarshal(p.Notify, &s) != nil {
			return model.DefaultNotify()
		}
	}
	return s
}

// People returns those of the accounts that are people, active, and may read
// the repository.
func People(ctx context.Context, dir db.Directory, repo *model.Repo, ids []int64) ([]*Person, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []*Person
	err := dir.NewRaw(`WITH RECURSIVE reach AS (
			SELECT tr.team_id, tr.role FROM directory.team_repos tr WHERE tr.repo_id = ?0
			UNION SELECT t.id, reach.role FROM directory.teams t JOIN reach ON t.parent_id = reach.team_id)
		SELECT a.id, a.name, a.display_name, u.email, u.time_zone, a.settings->'notify' AS notify, coalesce((a.settings->'pushes')::boolean, false) AS pushes, ARRAY(
			SELECT 'admin' WHERE a.id = ?1
			UNION ALL SELECT c.role FROM directory.collaborators c WHERE c.repo_id = ?0 AND c.account_id = a.id
			UNION ALL SELECT CASE m.role WHEN 'owner' THEN 'admin' ELSE o.base_role END
				FROM directory.org_members m JOIN directory.accounts o ON o.id = m.org_id WHERE m.org_id = ?1 AND m.user_id = a.id
			UNION ALL SELECT reach.role FROM reach JOIN directory.team_members tm ON tm.team_id = reach.team_id WHERE tm.user_id = a.id) AS roles
		FROM directory.accounts a JOIN directory.users u ON u.account_id = a.id
		WHERE a.id IN (?2) AND a.deleted_at IS NULL AND a.suspended_at IS NULL`, repo.ID, repo.OwnerID, bun.List(ids)).Scan(ctx, &rows)
	if err != nil {
		return nil, db.Map(err)
	}
	out := rows[:0]
	for _, p := range rows {
		if repo.Visibility == model.Public {
			p.Role = model.RoleRead
		}
		for _, r := range p.Roles {
			p.Role = model.MaxRole(p.Role, model.Role(r))
		}
		if p.Role != model.RoleNone {
			out = append(out, p)
		}
	}
	return out, nil
}

// Named finds who is mentioned: people by their names, and the members of
// teams (org/team, with the teams below them).
func Named(ctx context.Context, dir db.Directory, names, teams []string) (people, members []int64, err error) {
	if len(names) > 0 {
		if err := dir.NewRaw("SELECT id FROM directory.accounts WHERE name_key IN (?) AND kind = 'user' AND deleted_at IS NULL",
			bun.List(names)).Scan(ctx, &people); err != nil {
			return nil, nil, db.Map(err)
		}
	}
	if len(teams) > 0 {
		err = dir.NewRaw(`WITH RECURSIVE named AS (
				SELECT t.id FROM directory.teams t JOIN directory.accounts o ON o.id = t.org_id
				WHERE o.name_key || '/' || t.slug IN (?) AND o.deleted_at IS NULL
				UNION SELECT t.id FROM directory.teams t JOIN named ON t.parent_id = named.id)
			SELECT DISTINCT user_id FROM directory.team_members WHERE team_id IN (SELECT id FROM named)`, bun.List(teams)).Scan(ctx, &members)
	}
	return people, members, db.Map(err)
}

// TeamMembers are the members of a team and of the teams below it.
func TeamMembers(ctx context.Context, dir db.Directory, teamID int64) ([]int64, error) {
	var ids []int64
	err := dir.NewRaw(`WITH RECURSIVE named AS (
			SELECT ?::bigint AS id
			UNION SELECT t.id FROM directory.teams t JOIN named ON t.parent_id = named.id)
		SELECT DISTINCT user_id FROM directory.team_members WHERE team_id IN (SELECT id FROM named)`, teamID).Scan(ctx, &ids)
	return ids, db.Map(err)
}

// Watch is somebody's watch of a repository.
type Watch struct {
	AccountID int64    `bun:"account_id"`
	Level     string   `bun:"level"`
	Kinds     []string `bun:"kinds,array"`
}

// WatchersAfter returns a page of a repository's watchers by account, those
// who ignore it included.
func WatchersAfter(ctx context.Context, dir db.Directory, repoID, after int64, limit int) ([]Watch, error) {
	var list []Watch
	err := dir.NewRaw("SELECT account_id, level, kinds FROM directory.watches WHERE repo_id = ? AND account_id > ? ORDER BY account_id LIMIT ?",
		repoID, after, limit).Scan(ctx, &list)
	return list, db.Map(err)
}

// WatchesOf returns the watches of some accounts.
func WatchesOf(ctx context.Context, dir db.Directory, repoID int64, accounts []int64) (map[int64]Watch, error) {
	out := make(map[int64]Watch, len(accounts))
	if len(accounts) == 0 {
		return out, nil
	}
	var list []Watch
	err := dir.NewRaw("SELECT account_id, level, kinds FROM directory.watches WHERE repo_id = ? AND account_id IN (?)",
		repoID, bun.List(accounts)).Scan(ctx, &list)
	for _, w := range list {
		out[w.AccountID] = w
	}
	return out, db.Map(err)
}

// Deliver puts deliveries down, in one statement.
func Deliver(ctx context.Context, tx db.CellTx, list []*model.InboxDelivery) error {
	if len(list) == 0 {
		return nil
	}
	_, err := tx.Cell.NewInsert().Model(&list).On("CONFLICT DO NOTHING").Returning("NULL").Exec(ctx)
	return db.Map(err)
}

// Arm makes the alarms of accounts ring at due or before.
func Arm(ctx context.Context, tx db.CellTx, due map[int64]time.Time) error {
	if len(due) == 0 {
		return nil
	}
	type row struct {
		bun.BaseModel `bun:"table:cell.alarms,alias:a"`

		Scope string    `bun:"scope,pk"`
		DueAt time.Time `bun:"due_at"`
	}
	rows := make([]row, 0, len(due))
	for id, at := range due {
		rows = append(rows, row{Scope: db.AccountScope(id).String(), DueAt: at})
	}
	_, err := tx.Cell.NewInsert().Model(&rows).On("CONFLICT (scope) DO UPDATE").
		Set("due_at = least(a.due_at, EXCLUDED.due_at), gen = a.gen + 1").Returning("NULL").Exec(ctx)
	return db.Map(err)
}

// Waiting says whether something waits for the account's inbox.
func Waiting(ctx context.Context, cell db.Cell, accountID int64) (bool, error) {
	var waits bool
	err := cell.NewRaw("SELECT EXISTS (SELECT FROM cell.deliveries WHERE account_id = ?)", accountID).Scan(ctx, &waits)
	return waits, db.Map(err)
}

// Empty says whether the account has no inbox and nothing waits for one.
func Empty(ctx context.Context, cell db.Cell, accountID int64) (bool, error) {
	var some bool
	err := cell.NewRaw(`SELECT EXISTS (SELECT FROM cell.deliveries WHERE account_id = ?)
		OR EXISTS (SELECT FROM cell.scopes WHERE scope = ? AND jsonb_exists(domains, ?))`,
		accountID, db.AccountScope(accountID).String(), Domain).Scan(ctx, &some)
	return !some, db.Map(err)
}

// Inboxes lists the accounts that have an inbox, or something that waits for
// one; at most limit.
func Inboxes(ctx context.Context, cell db.Cell, limit int) ([]int64, error) {
	var ids []int64
	err := cell.NewRaw(`SELECT substr(scope, 9)::bigint FROM cell.scopes WHERE scope LIKE 'account\_%' AND jsonb_exists(domains, ?)
		UNION SELECT account_id FROM cell.deliveries LIMIT ?`, Domain, limit).Scan(ctx, &ids)
	return ids, db.Map(err)
}

// Expire drops what nobody took in since before a time.
func Expire(ctx context.Context, tx db.CellTx, before time.Time) error {
	_, err := tx.Cell.NewRaw("DELETE FROM cell.deliveries WHERE item->>'at' < ?", before.UTC().Format(time.RFC3339)).Exec(ctx)
	return db.Map(err)
}

// takeAtOnce bounds what one transaction takes in.
const takeAtOnce = 2000

// Take removes what waits for the account's inbox and returns it, oldest
// first; the transaction puts it into the inbox.
func Take(ctx context.Context, tx *db.AccountTx) ([]*model.InboxDelivery, error) {
	var list []*model.InboxDelivery
	err := tx.Cell().NewRaw(`WITH gone AS (DELETE FROM cell.deliveries WHERE (account_id, event_id) IN (
			SELECT account_id, event_id FROM cell.deliveries WHERE account_id = ? ORDER BY seq LIMIT `+strconv.Itoa(takeAtOnce)+`)
		RETURNING account_id, event_id, seq, item) SELECT * FROM gone ORDER BY seq`, tx.ID()).Scan(ctx, &list)
	return list, db.Map(err)
}
