// Package audit notes who did what, from where, and what was so before and
// after: for the operator, the owners of an organisation or repository, and
// each person of their own account. Entries are written in the transaction of
// the change and kept for 400 days.
//
//	audit.go   Record, which the operations of features call
//	query.go   the search language of the pages and of the API
//	http.go    the pages and the export as JSON lines
//	api.go     GitHub's endpoint of an organisation's audit log
//
// Table: events.audit. Views: views/auditview.
package audit

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Facts are what an entry tells of the time before or after, by name. They
// hold no secret.
type Facts map[string]any

// Entry is what somebody did.
type Entry struct {
	// Action is a name such as "repo.create", GitHub's where it has one
	// (https://docs.github.com/organizations/keeping-your-organization-secure/managing-security-settings-for-your-organization/audit-log-events-for-your-organization).
	Action string
	// Actor is who did it; nil is whoever the request acts for.
	Actor *model.Viewer
	// ActorID is Actor where only the id is known, as at signing in.
	ActorID int64
	// Repo is the repository that it was done to, and AccountID the person
	// or organisation; with a repository its owner where it is 0.
	Repo      *model.Repo
	AccountID int64
	// Target names what was changed; the repository's full name where it is "".
	Target        string
	Before, After Facts
}

// Record notes an entry in tx: it is kept if and only if tx commits.
func Record(ctx context.Context, tx db.Tx, e Entry) error {
	o := db.OriginOf(ctx)
	row := db.AuditEntry{Action: e.Action, ActorID: o.ActorID, Actor: o.Actor, AccountID: e.AccountID, Target: clip(e.Target),
		Remote: clip(o.Remote), Agent: clip(o.Agent), Via: o.Via}
	switch {
	case e.Actor.SignedIn():
		row.ActorID, row.Actor = e.Actor.ID(), e.Actor.Name()
	case e.ActorID != 0 && e.ActorID != o.ActorID:
		row.ActorID, row.Actor = e.ActorID, ""
	}
	if e.Repo != nil {
		row.RepoID = e.Repo.ID
		if row.AccountID == 0 {
			row.AccountID = e.Repo.OwnerID
		}
		if row.Target == "" && e.Repo.Owner != nil {
			row.Target = e.Repo.FullName()
		}
	}
	var err error
	if row.Before, err = e.Before.encode(); err == nil {
		row.After, err = e.After.encode()
	}
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	tx.Audit(row)
	return nil
}

func (f Facts) encode() (json.RawMessage, error) {
	if len(f) == 0 {
		return nil, nil
	}
	return json.Marshal(f)
}

// clip cuts what clients send to a reasonable length, without what a terminal
// or the database would trip over.
func clip(s string) string {
	const most = 300
	out := make([]rune, 0, min(len(s), most))
	for _, r := range s {
		if len(out) == most {
			break
		}
		if r >= ' ' && r != 0x7f && r != '\ufffd' {
			out = append(out, r)
		}
	}
	return string(out)
}
