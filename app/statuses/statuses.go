// Package statuses is what machines, and people, say of commits: commit
// statuses and check runs, as on GitHub. Pages show them beside commits, and
// rules of branches ask for them.
//
//	statuses.go   Service, Report, RunCheck, ChangeCheck
//	events.go     what is published
//	api*.go       GitHub's REST endpoints
//
// Tables: the domain "statuses" of a repository's scope. Events: status.created,
// check.created, check.completed.
package statuses

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/statusdb"
)

// Deps are what statuses are built on.
type Deps struct {
	DB    *db.DB
	Gate  *perms.Gate
	Repos *repos.Service
}

// Service is statuses and check runs.
type Service struct{ Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps} }

// Event is the data of the events about statuses.
type Event struct {
	Type string `json:"-"`

	ID          int64  `json:"id"`
	SHA         string `json:"sha"`
	Context     string `json:"context"`
	State       string `json:"state"`
	Description string `json:"description,omitempty"`
	TargetURL   string `json:"targetUrl,omitempty"`
	Conclusion  string `json:"conclusion,omitempty"`
}

// EventType is the event's type.
func (e Event) EventType() string { return e.Type }

// Payloads are the events that statuses publish.
func Payloads() []events.Payload {
	return []events.Payload{Event{Type: "status.created"}, Event{Type: "check.created"}, Event{Type: "check.updated"}, Event{Type: "check.completed"}}
}

// Limits in characters.
const (
	maxContext     = 255
	maxDescription = 1024
	maxText        = 65_535
)

// ReportInput is a status as it is reported.
type ReportInput struct {
	State       string `json:"state"`
	TargetURL   string `json:"target_url"`
	Description string `json:"description"`
	Context     string `json:"context"`
}

func (in *ReportInput) validate() error {
	fields := fault.Fields{}
	if !slices.Contains([]string{model.StatusError, model.StatusFailure, model.StatusPending, model.StatusSuccess}, in.State) {
		fields.Add("state", "The state is error, failure, pending or success.")
	}
	if in.Context == "" {
		in.Context = "default"
	}
	fields.Add("context", textOf(in.Context, maxContext))
	fields.Add("description", textOf(in.Description, maxDescription))
	fields.Add("target_url", addressOf(in.TargetURL))
	return fields.Err()
}

// textOf says what is wrong with a text of at most limit characters.
func textOf(s string, limit int) string {
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return "This is not text."
	case utf8.RuneCountInString(s) > limit:
		return "This is too long."
	}
	return ""
}

// addressOf says what is wrong with an address that people will follow.
func addressOf(s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(s) > 2000 {
		return "This must be an address that begins with https:// or http://."
	}
	return ""
}

// commit finds a commit by its whole id.
func (s *Service) commit(ctx context.Context, repo *model.Repo, sha string) (git.OID, error) {
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return "", err
	}
	missing := fault.Field("sha", "No commit found for SHA: "+sha)
	oid, ok := git.ParseOID(sha)
	if !ok {
		return "", missing
	}
	c, err := g.Commit(ctx, oid)
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrWrongType) {
		return "", missing
	}
	if err != nil {
		return "", err
	}
	return c.OID, nil
}

// Report notes a status of a commit and publishes status.created.
func (s *Service) Report(ctx context.Context, viewer *model.Viewer, repo *model.Repo, sha string, in ReportInput) (*model.Status, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	oid, err := s.commit(ctx, repo, sha)
	if err != nil {
		return nil, err
	}
	row := &model.Status{SHA: oid.String(), Kind: model.StatusReport, Context: in.Context, State: in.State,
		Description: in.Description, TargetURL: in.TargetURL, CreatorID: viewer.ID()}
	return row, s.insert(ctx, viewer, repo, row, "status.created")
}

func (s *Service) insert(ctx context.Context, viewer *model.Viewer, repo *model.Repo, row *model.Status, event string) error {
	return s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if err := statusdb.Insert(ctx, tx, row); err != nil {
			return err
		}
		return emit(ctx, tx, viewer, repo, row, event)
	})
}

func emit(ctx context.Context, tx *db.RepoTx, viewer *model.Viewer, repo *model.Repo, row *model.Status, event string) error {
	e := Event{Type: event, ID: row.ID, SHA: row.SHA, Context: row.Context, State: row.State, Description: row.Description, TargetURL: row.TargetURL}
	if row.Check != nil {
		e.Conclusion = row.Check.Conclusion
	}
	return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, e)
}
