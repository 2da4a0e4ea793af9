package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// subject is what an event is about, with names.
type subject struct {
	repo    *model.Repo
	account *model.Account // who owns it
	actor   *model.Account
}

// subjectOf looks up what an event names; what is gone is nil.
func (s *Service) subjectOf(ctx context.Context, e *model.Event) (subject, error) {
	var sub subject
	if e.RepoID != 0 {
		repo, err := repodb.ByIDAny(ctx, s.DB.Directory(), e.RepoID)
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return sub, err
		}
		if err == nil {
			sub.repo, sub.account = repo, repo.Owner
		}
	}
	var ids []int64
	for _, id := range []int64{e.ActorID, e.AccountID} {
		if id != 0 && (sub.account == nil || id != sub.account.ID) {
			ids = append(ids, id)
		}
	}
	people, err := accountdb.ByIDs(ctx, s.DB.Directory(), ids...)
	if err != nil {
		return sub, err
	}
	if sub.account == nil {
		sub.account = people[e.AccountID]
	}
	if sub.actor = people[e.ActorID]; sub.actor == nil && sub.account != nil && sub.account.ID == e.ActorID {
		sub.actor = sub.account
	}
	return sub, nil
}

// named is an account in a body.
type named struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

func namedOf(a *model.Account) *named {
	if a == nil {
		return nil
	}
	return &named{a.ID, a.Name}
}

// body is the document that gitfor posts.
type body struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	Time       string          `json:"time"`
	Workspace  *named          `json:"workspace"`
	Repository *bodyRepo       `json:"repository"`
	Actor      *named          `json:"actor"`
	Data       json.RawMessage `json:"data"`
}

type bodyRepo struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
}

func bodyOf(e *model.Event, sub subject) ([]byte, error) {
	data, err := snake(e.Data)
	if err != nil {
		return nil, err
	}
	b := body{ID: e.EventID, Type: e.Type, Time: e.Time.UTC().Format(time.RFC3339Nano), Workspace: namedOf(sub.account),
		Actor: namedOf(sub.actor), Data: data}
	if b.Actor == nil && e.ActorID != 0 {
		b.Actor = &named{e.ActorID, "ghost"}
	}
	if sub.repo != nil {
		b.Repository = &bodyRepo{sub.repo.ID, sub.repo.FullName()}
	}
	return encode(b)
}

// encode writes JSON as it is signed and sent: no HTML escapes, no line end.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// snake writes every key of a document in snake_case.
func snake(data []byte) ([]byte, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return encode(snakeKeys(v))
}

func snakeKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[snakeKey(k)] = snakeKeys(e)
		}
		return out
	case []any:
		for i := range v {
			v[i] = snakeKeys(v[i])
		}
	}
	return v
}

func snakeKey(k string) string {
	var b strings.Builder
	for i, r := range k {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
