package events

import (
	"encoding/json"
	"time"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
)

// Actor is who caused an event.
type Actor struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

// Envelope is an event as the API shows it. Every key is there; what an event
// has not is null.
type Envelope struct {
	ID     string          `json:"id"`
	Seq    int64           `json:"seq"`
	Type   string          `json:"type"`
	Source string          `json:"source"`
	Time   string          `json:"time"`
	RepoID *int64          `json:"repoId"`
	Actor  *Actor          `json:"actor"`
	Data   json.RawMessage `json:"data"`
}

// EnvelopeOf is the event e by the account of its actor, nil for nobody.
func EnvelopeOf(e *model.Event, actor *model.Account) Envelope {
	env := Envelope{ID: e.EventID, Seq: e.Seq, Type: e.Type, Source: e.Source, Time: stamp(e.Time), Data: e.Data}
	if e.RepoID != 0 {
		env.RepoID = &e.RepoID
	}
	if e.ActorID != 0 {
		env.Actor = &Actor{ID: e.ActorID, Username: "ghost"}
		if actor != nil {
			env.Actor.Username = actor.Name
		}
	}
	return env
}

// stamp writes a time with the log's precision (RFC 3339).
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }

// cloudEvent is an event in the form of CloudEvents 1.0
// (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md). The
// extension attributes are seq, repoid, actorid and actor.
type cloudEvent struct {
	SpecVersion string          `json:"specversion"`
	ID          string          `json:"id"`
	Source      string          `json:"source"`
	Type        string          `json:"type"`
	Time        string          `json:"time"`
	ContentType string          `json:"datacontenttype"`
	Subject     string          `json:"subject,omitempty"`
	Seq         int64           `json:"seq"`
	RepoID      int64           `json:"repoid,omitempty"`
	ActorID     int64           `json:"actorid,omitempty"`
	Actor       string          `json:"actor,omitempty"`
	Data        json.RawMessage `json:"data"`
}

func cloudEventOf(c *web.Ctx, env Envelope) cloudEvent {
	ce := cloudEvent{SpecVersion: "1.0", ID: env.ID, Source: c.URL("/#" + env.Source), Type: env.Type, Time: env.Time,
		ContentType: "application/json", Seq: env.Seq, Data: env.Data}
	if c.Repo != nil {
		ce.Subject = c.Repo.FullName()
	}
	if env.RepoID != nil {
		ce.RepoID = *env.RepoID
	}
	if env.Actor != nil {
		ce.ActorID, ce.Actor = env.Actor.ID, env.Actor.Username
	}
	return ce
}
