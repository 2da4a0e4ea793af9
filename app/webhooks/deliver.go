package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // GitHub's older signature header uses it
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/webhookdb"
	"github.com/google/uuid"
)

// Deliver records a delivery of e for each hook that asks for it and begins to
// send. A delivery that is recorded already is not sent again from here.
func (s *Service) Deliver(ctx context.Context, e *model.Event) error {
	places := []webhookdb.Place{webhookdb.OfInstance()}
	if e.AccountID != 0 {
		places = append(places, webhookdb.OfAccount(e.AccountID))
	}
	if e.RepoID != 0 {
		places = append(places, webhookdb.OfRepo(e.RepoID))
	}
	places, err := webhookdb.Hooked(ctx, s.DB, places...)
	if err != nil || len(places) == 0 {
		return err
	}
	m := &messages{s: s, e: e}
	for _, p := range places {
		if err := s.deliverTo(ctx, p, m); err != nil {
			return fmt.Errorf("hooks of %s: %w", p, err)
		}
	}
	return nil
}

func (s *Service) deliverTo(ctx context.Context, p webhookdb.Place, m *messages) error {
	hooks, err := webhookdb.Hooks(ctx, s.DB, p)
	if err != nil {
		return err
	}
	byID := map[int64]*model.Hook{}
	var list []*model.Delivery
	for _, h := range hooks {
		// An event from before the hook was made is not for it.
		if !h.Active || m.e.Time.Before(h.CreatedAt) {
			continue
		}
		messages, err := m.of(ctx, h)
		if err != nil {
			return err
		}
		for i, msg := range messages {
			if h.Wants(msg.event) {
				list = append(list, s.delivery(h, part(m.e.EventID, i), m.e.RepoID, msg))
				byID[h.ID] = h
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return s.begin(ctx, p, list, byID)
}

// begin records deliveries and hands those that are new to the sender.
func (s *Service) begin(ctx context.Context, p webhookdb.Place, list []*model.Delivery, hooks map[int64]*model.Hook) error {
	var fresh []*model.Delivery
	err := p.In(ctx, s.DB, func(ctx context.Context, tx webhookdb.Tx) (err error) {
		fresh, err = webhookdb.Begin(ctx, tx, list)
		return err
	})
	if err != nil {
		return err
	}
	for _, dl := range fresh {
		s.sign(hooks[dl.HookID], dl)
		s.sender.Send(p, dl)
	}
	return nil
}

// part is the key of the parts of an event that GitHub tells one by one.
func part(eventID string, i int) string {
	if i == 0 {
		return eventID
	}
	return eventID + "#" + strconv.Itoa(i)
}

// eventID is the id of the event that a delivery is of.
func eventID(dl *model.Delivery) string {
	id, _, _ := strings.Cut(dl.EventID, "#")
	return id
}

// message is an event in a format.
type message struct {
	event, action string
	body          []byte
	target        map[string]string // headers that only GitHub's format has
}

// messages makes the message of one event in each format once.
type messages struct {
	s       *Service
	e       *model.Event
	sub     *subject
	formats map[string][]*message
}

// of is the event as h's format has it; none when the format has no such event.
func (m *messages) of(ctx context.Context, h *model.Hook) ([]*message, error) {
	if msg, ok := m.formats[h.Format]; ok {
		return msg, nil
	}
	if h.Format == model.HookGitfor && !h.Wants(m.e.Type) {
		return nil, nil
	}
	if m.sub == nil {
		sub, err := m.s.subjectOf(ctx, m.e)
		if err != nil {
			return nil, err
		}
		m.sub, m.formats = &sub, map[string][]*message{}
	}
	var list []*message
	var err error
	if h.Format == model.HookGitHub {
		list, err = m.s.githubMessages(ctx, m.e, *m.sub)
	} else {
		msg := &message{event: m.e.Type}
		msg.body, err = bodyOf(m.e, *m.sub)
		list = append(list, msg)
	}
	if err != nil {
		return nil, err
	}
	m.formats[h.Format] = list
	return list, nil
}

func (s *Service) delivery(h *model.Hook, eventID string, repoID int64, msg *message) *model.Delivery {
	dl := &model.Delivery{HookID: h.ID, EventID: eventID, GUID: uuid.NewString(), Event: msg.event, Action: msg.action,
		RepoID: repoID, Request: model.HookRequest{URL: h.URL, Body: string(msg.body), Headers: map[string]string{}}}
	if h.ContentType == "form" {
		dl.Request.Headers["Content-Type"] = "application/x-www-form-urlencoded"
		dl.Request.Body = "payload=" + url.QueryEscape(string(msg.body))
	} else {
		dl.Request.Headers["Content-Type"] = "application/json"
	}
	for k, v := range msg.target {
		dl.Request.Headers[k] = v
	}
	s.signHeaders(h, dl)
	return dl
}

// signHeaders sets the headers that do not need the delivery's id.
func (s *Service) signHeaders(h *model.Hook, dl *model.Delivery) {
	head := dl.Request.Headers
	head["User-Agent"] = "gitfor-hooks/" + s.Kit.Config().Version
	head["Accept"] = "*/*"
	key, err := s.open(h)
	if err != nil {
		s.Log.Error("a webhook's secret does not open", "hook", h.ID, "err", err)
	}
	if h.Format == model.HookGitHub {
		head["User-Agent"] = "GitHub-Hookshot/gitfor"
		head["X-GitHub-Event"], head["X-GitHub-Delivery"] = dl.Event, dl.GUID
		head["X-GitHub-Hook-ID"] = strconv.FormatInt(h.ID, 10)
		if key != nil {
			head["X-Hub-Signature"] = "sha1=" + mac(sha1.New, key, dl.Request.Body)
			head["X-Hub-Signature-256"] = "sha256=" + mac(sha256.New, key, dl.Request.Body)
		}
		return
	}
	head["x-g1t-event"], head["x-g1t-hook"] = dl.Event, strconv.FormatInt(h.ID, 10)
	if key != nil {
		head["x-g1t-signature-256"] = "sha256=" + mac(sha256.New, key, dl.Request.Body)
	}
}

// sign adds the delivery's id to the headers of gitfor's format.
func (s *Service) sign(h *model.Hook, dl *model.Delivery) {
	if h.Format == model.HookGitfor {
		dl.Request.Headers["x-g1t-delivery"] = strconv.FormatInt(dl.ID, 10)
	}
}

func mac(h func() hash.Hash, key []byte, body string) string {
	m := hmac.New(h, key)
	m.Write([]byte(body))
	return hex.EncodeToString(m.Sum(nil))
}

func (s *Service) open(h *model.Hook) ([]byte, error) {
	if h.Secret == nil {
		return nil, nil
	}
	return s.Ring.Open(purpose(h.ID), h.Secret)
}

// Ping sends a hook an event of type ping, whatever it asks for.
func (s *Service) Ping(ctx context.Context, viewer *model.Viewer, p webhookdb.Place, h *model.Hook) error {
	id, err := db.NewEventID()
	if err != nil {
		return err
	}
	e := &model.Event{EventID: id, Type: "ping", Source: "webhooks", Time: time.Now().UTC(), ActorID: viewer.ID(),
		Data: []byte(fmt.Sprintf(`{"hookId":%d,"zen":%q}`, h.ID, zen))}
	switch p.Kind {
	case db.RepoKind:
		e.RepoID = p.ID
	case db.AccountKind:
		e.AccountID = p.ID
	}
	sub, err := s.subjectOf(ctx, e)
	if err != nil {
		return err
	}
	msg := &message{event: "ping"}
	if h.Format == model.HookGitHub {
		msg, err = s.githubPing(ctx, sub, h, p)
	} else {
		msg.body, err = bodyOf(e, sub)
	}
	if err != nil {
		return err
	}
	return s.begin(ctx, p, []*model.Delivery{s.delivery(h, e.EventID, e.RepoID, msg)}, map[int64]*model.Hook{h.ID: h})
}

// Redeliver sends what was delivered once more, under the hook's address and
// secret of now.
func (s *Service) Redeliver(ctx context.Context, p webhookdb.Place, h *model.Hook, old *model.Delivery) error {
	dl := &model.Delivery{HookID: h.ID, EventID: old.EventID, Again: true, GUID: old.GUID, Event: old.Event, Action: old.Action,
		RepoID: old.RepoID, Request: model.HookRequest{URL: h.URL, Body: old.Request.Body, Headers: map[string]string{}}}
	for k, v := range old.Request.Headers {
		dl.Request.Headers[k] = v
	}
	s.signHeaders(h, dl)
	return s.begin(ctx, p, []*model.Delivery{dl}, map[int64]*model.Hook{h.ID: h})
}
