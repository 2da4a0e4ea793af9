package webhooks

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/webhookdb"
)

// zen is the sentence of a ping.
const zen = "Small steps, often."

// Hook is GitHub's webhook object
// (https://docs.github.com/rest/repos/webhooks#get-a-repository-webhook).
type Hook struct {
	Type          string        `json:"type"`
	ID            int64         `json:"id"`
	Name          string        `json:"name"`
	Active        bool          `json:"active"`
	Events        []string      `json:"events"`
	Config        Config        `json:"config"`
	UpdatedAt     string        `json:"updated_at"`
	CreatedAt     string        `json:"created_at"`
	URL           string        `json:"url"`
	TestURL       *string       `json:"test_url,omitempty"`
	PingURL       string        `json:"ping_url"`
	DeliveriesURL string        `json:"deliveries_url"`
	LastResponse  *LastResponse `json:"last_response,omitempty"`
}

// Config is where and how a hook delivers. insecure_ssl is always "0":
// certificates are checked.
type Config struct {
	Format      string `json:"format"`
	URL         string `json:"url"`
	ContentType string `json:"content_type"`
	InsecureSSL string `json:"insecure_ssl"`
	Secret      string `json:"secret,omitempty"`
}

// LastResponse is how the last attempt ended.
type LastResponse struct {
	Code    *int    `json:"code"`
	Status  string  `json:"status"`
	Message *string `json:"message"`
}

func configOf(h *model.Hook) Config {
	cfg := Config{Format: h.Format, URL: h.URL, ContentType: h.ContentType, InsecureSSL: "0"}
	if h.Secret != nil {
		cfg.Secret = "********"
	}
	return cfg
}

// hookOf is a hook as the API shows it; base is the API's path of its place.
func hookOf(c *web.Ctx, h *model.Hook, p webhookdb.Place, base string) Hook {
	u := c.URL(base + "/hooks/" + strconv.FormatInt(h.ID, 10))
	out := Hook{Type: "Global", ID: h.ID, Name: "web", Active: h.Active, Events: h.Events, Config: configOf(h),
		UpdatedAt: api.Time(h.UpdatedAt), CreatedAt: api.Time(h.CreatedAt), URL: u, PingURL: u + "/pings", DeliveriesURL: u + "/deliveries"}
	switch p.Kind {
	case db.RepoKind:
		out.Type = "Repository"
		test := u + "/tests"
		out.TestURL = &test
		out.LastResponse = &LastResponse{Status: "unused"}
		if h.Last != nil {
			out.LastResponse = lastOf(*h.Last)
		}
	case db.AccountKind:
		out.Type = "Organization"
	}
	return out
}

func lastOf(t model.HookTry) *LastResponse {
	status := statusText(t)
	l := &LastResponse{Status: "active", Message: &status}
	if t.Status != 0 {
		l.Code = &t.Status
	}
	if !t.OK() {
		l.Status = "misconfigured"
		if t.Status != 0 {
			l.Status = "failed"
		}
	}
	return l
}

// statusText says in a few words how an attempt ended.
func statusText(t model.HookTry) string {
	switch {
	case t.Error != "":
		return t.Error
	case t.OK():
		return "OK"
	case t.Status == 0:
		return "pending"
	}
	return http.StatusText(t.Status)
}

// Delivery is GitHub's webhook delivery, short
// (https://docs.github.com/rest/repos/webhooks#list-deliveries-for-a-repository-webhook).
type Delivery struct {
	ID             int64   `json:"id"`
	GUID           string  `json:"guid"`
	DeliveredAt    string  `json:"delivered_at"`
	Redelivery     bool    `json:"redelivery"`
	Duration       float64 `json:"duration"`
	Status         string  `json:"status"`
	StatusCode     int     `json:"status_code"`
	Event          string  `json:"event"`
	Action         *string `json:"action"`
	InstallationID *int64  `json:"installation_id"`
	RepositoryID   *int64  `json:"repository_id"`
	ThrottledAt    *string `json:"throttled_at"`
	// Of gitfor: the event's id, the state and every attempt.
	EventID  string    `json:"event_id"`
	State    string    `json:"state"`
	Attempt  int       `json:"attempt"`
	NextAt   *string   `json:"next_attempt_at"`
	Attempts []Attempt `json:"attempts"`
}

// Attempt is how one attempt ended.
type Attempt struct {
	At         string  `json:"at"`
	StatusCode int     `json:"status_code"`
	Status     string  `json:"status"`
	Duration   float64 `json:"duration"`
}

// FullDelivery is a delivery with what was sent and answered.
type FullDelivery struct {
	Delivery
	URL      string   `json:"url"`
	Request  exchange `json:"request"`
	Response exchange `json:"response"`
}

type exchange struct {
	Headers map[string]string `json:"headers"`
	Payload any               `json:"payload"`
}

func deliveryOf(dl *model.Delivery) Delivery {
	last := dl.LastTry()
	out := Delivery{ID: dl.ID, GUID: dl.GUID, DeliveredAt: api.Time(dl.CreatedAt), Redelivery: dl.Again,
		Duration: float64(last.Millis) / 1000, Status: statusText(last), StatusCode: last.Status, Event: dl.Event,
		EventID: eventID(dl), State: dl.State, Attempt: dl.Attempt, Attempts: make([]Attempt, len(dl.Attempts))}
	if !last.At.IsZero() {
		out.DeliveredAt = last.At.UTC().Format(time.RFC3339)
	}
	if dl.Action != "" {
		out.Action = &dl.Action
	}
	if dl.RepoID != 0 {
		out.RepositoryID = &dl.RepoID
	}
	if dl.NextAt != nil {
		next := api.Time(*dl.NextAt)
		out.NextAt = &next
	}
	for i, t := range dl.Attempts {
		out.Attempts[i] = Attempt{t.At.UTC().Format(time.RFC3339), t.Status, statusText(t), float64(t.Millis) / 1000}
	}
	return out
}
