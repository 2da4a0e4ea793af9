// Package webhooks tells other programs of events: a repository, an
// organisation or the instance keeps hooks, and each event that a hook asks
// for is posted to its address, once recorded and tried six times.
//
// The subscriber (deliver.go) records a delivery per hook and event and hands
// it to the sender (sender.go), which keeps slow receivers from delaying
// others. Later tries come from the place's alarm (http_attempt.go). Bodies are
// gitfor's own (body.go) or GitHub's (api_github.go).
package webhooks

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/outbound"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/webhookdb"
)

// maxHooks bounds the hooks of one place.
const maxHooks = 50

// Input is what a person decides about a hook. Fields that are nil stay as
// they are, or at a new hook get their default.
type Input struct {
	URL         *string   `json:"url" form:"url"`
	Format      *string   `json:"format" form:"format"`
	ContentType *string   `json:"content_type" form:"content_type"`
	Secret      *string   `json:"secret" form:"secret"`
	Active      *bool     `json:"active" form:"active"`
	Events      *[]string `json:"events" form:"events"`
}

// apply puts the input into h and says what is wrong with it.
func (in *Input) apply(h *model.Hook) fault.Fields {
	f := fault.Fields{}
	set(&h.URL, in.URL)
	set(&h.Format, in.Format)
	set(&h.ContentType, in.ContentType)
	set(&h.Active, in.Active)
	if in.Events != nil {
		h.Events = slices.Compact(slices.Sorted(slices.Values(*in.Events)))
	}
	h.URL = strings.TrimSpace(h.URL)
	if err := outbound.CheckURL(h.URL); err != nil {
		f.Add("url", sentence(err.Error()))
	}
	if h.Format != model.HookGitfor && h.Format != model.HookGitHub {
		f.Add("format", "This must be gitfor or github.")
	}
	if h.ContentType != "json" && h.ContentType != "form" {
		f.Add("content_type", "This must be json or form.")
	}
	if in.Secret != nil && len(*in.Secret) > 1024 {
		f.Add("secret", "A secret has at most 1,024 characters.")
	}
	if msg := checkEvents(h.Format, h.Events); msg != "" {
		f.Add("events", msg)
	}
	return f
}

func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

var (
	ownType    = regexp.MustCompile(`^([a-z_]+\.([a-z_]+|\*)|ping|\*)$`)
	githubName = regexp.MustCompile(`^([a-z_]+|\*)$`)
)

func checkEvents(format string, list []string) string {
	if len(list) == 0 {
		return "Choose at least one event, or * for all."
	}
	if len(list) > 200 {
		return "These are too many; choose * for all."
	}
	for _, e := range list {
		switch {
		case format == model.HookGitfor && !ownType.MatchString(e):
			return fmt.Sprintf("%q is no event type such as issue.opened, issue.* or *. GitHub's names need the format github.", e)
		case format == model.HookGitHub && !githubName.MatchString(e):
			return fmt.Sprintf("%q is none of GitHub's event names, such as push or issues, nor *.", e)
		}
	}
	return ""
}

func purpose(id int64) string { return fmt.Sprintf("webhook secret %d", id) }

func (s *Service) seal(secretText string) func(id int64) []byte {
	return func(id int64) []byte {
		if secretText == "" {
			return nil
		}
		return s.Ring.Seal(purpose(id), []byte(secretText))
	}
}

// Create adds a hook to a place. A hook in GitHub's format is sent a ping at
// once, as GitHub does.
func (s *Service) Create(ctx context.Context, viewer *model.Viewer, p webhookdb.Place, in Input) (*model.Hook, error) {
	h := &model.Hook{Active: true, Format: model.HookGitfor, ContentType: "json", Events: []string{"git.push"}, CreatorID: viewer.ID()}
	if in.Format != nil && *in.Format == model.HookGitHub {
		h.Events = []string{"push"}
	}
	if err := in.apply(h).Err(); err != nil {
		return nil, hookFault(err)
	}
	have, err := webhookdb.Hooks(ctx, s.DB, p)
	if err != nil {
		return nil, err
	}
	if len(have) >= maxHooks {
		return nil, hookFault(fault.Field("base", fmt.Sprintf("There can be at most %d hooks.", maxHooks)))
	}
	if slices.ContainsFunc(have, func(o *model.Hook) bool {
		return o.URL == h.URL && slices.Equal(o.Events, h.Events) && o.Format == h.Format
	}) {
		return nil, hookFault(fault.Field("base", "Hook already exists on this "+map[db.Kind]string{db.RepoKind: "repository", db.AccountKind: "organization"}[p.Kind]))
	}
	text := ""
	set(&text, in.Secret)
	owner, err := s.ownerOf(ctx, p)
	if err != nil {
		return nil, err
	}
	err = p.In(ctx, s.DB, func(ctx context.Context, tx webhookdb.Tx) error {
		if err := webhookdb.Insert(ctx, tx, h, s.seal(text)); err != nil {
			return err
		}
		return note(ctx, tx, p, owner, "hook.create", h, nil, hookFacts(h))
	})
	if err != nil {
		return nil, err
	}
	if h.Format == model.HookGitHub && h.Active {
		return h, s.Ping(ctx, viewer, p, h)
	}
	return h, nil
}

// hookFault names in GitHub's errors what the fields belong to.
func hookFault(err error) error {
	f := fault.From(err)
	f.Resource = "Hook"
	return f
}

// Change changes a hook; a new address or secret gives it a fresh start.
func (s *Service) Change(ctx context.Context, p webhookdb.Place, h *model.Hook, in Input) error {
	old, before := h.URL, hookFacts(h)
	if err := in.apply(h).Err(); err != nil {
		return hookFault(err)
	}
	if in.Secret != nil {
		h.Secret = s.seal(*in.Secret)(h.ID)
	}
	if h.URL != old {
		h.Failures, h.FailingSince = 0, nil
	}
	owner, err := s.ownerOf(ctx, p)
	if err != nil {
		return err
	}
	return p.In(ctx, s.DB, func(ctx context.Context, tx webhookdb.Tx) error {
		if err := webhookdb.Update(ctx, tx, h); err != nil {
			return err
		}
		after := hookFacts(h)
		if in.Secret != nil {
			after["secret"] = "changed"
		}
		return note(ctx, tx, p, owner, "hook.config_changed", h, before, after)
	})
}

// ownerOf is the account in whose audit log the hooks of a place are too.
func (s *Service) ownerOf(ctx context.Context, p webhookdb.Place) (int64, error) {
	if p.Kind != db.RepoKind {
		return p.ID, nil
	}
	repos, err := repodb.ByIDs(ctx, s.DB.Directory(), []int64{p.ID})
	if err != nil || repos[p.ID] == nil {
		return 0, err
	}
	return repos[p.ID].OwnerID, nil
}

// hookFacts is what the audit log tells of a hook.
func hookFacts(h *model.Hook) audit.Facts {
	return audit.Facts{"url": h.URL, "events": h.Events, "format": h.Format, "active": h.Active}
}

func note(ctx context.Context, tx webhookdb.Tx, p webhookdb.Place, owner int64, action string, h *model.Hook, before, after audit.Facts) error {
	e := audit.Entry{Action: action, Target: h.URL, Before: before, After: after}
	switch p.Kind {
	case db.RepoKind:
		e.Repo, e.AccountID = &model.Repo{ID: p.ID}, owner
	case db.AccountKind:
		e.AccountID = p.ID
	}
	return audit.Record(ctx, tx, e)
}

// Remove deletes a hook and what was delivered to it.
func (s *Service) Remove(ctx context.Context, p webhookdb.Place, h *model.Hook) error {
	owner, err := s.ownerOf(ctx, p)
	if err != nil {
		return err
	}
	return p.In(ctx, s.DB, func(ctx context.Context, tx webhookdb.Tx) error {
		if err := webhookdb.Delete(ctx, tx, h.ID); err != nil {
			return err
		}
		return note(ctx, tx, p, owner, "hook.destroy", h, hookFacts(h), nil)
	})
}

// hostOf is the receiver that a delivery's limit counts for.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return strings.ToLower(u.Hostname())
}
