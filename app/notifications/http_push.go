package notifications

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"

	"github.com/SherClockHolmes/webpush-go"
	"github.com/gitfor/gitfor/app/outbound"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
	"github.com/gitfor/gitfor/static"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/notificationview"
)

// pushClient lets the library call through the guard.
type pushClient struct{ out *outbound.Client }

// Do sends a request; of the answer 4 KB are read.
func (p pushClient) Do(req *http.Request) (*http.Response, error) {
	a, err := p.out.Do(req, outbound.Limits{Body: 4 << 10})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.Body))}, nil
}

// worker is the script that shows pushes. Browsers ask for it anew by its
// address, so this one never changes.
func (s *Service) worker(c *web.Ctx) error {
	r := c.R.Clone(c.Context())
	r.URL.Path = static.Prefix + "js/push-worker.js"
	static.Handler().ServeHTTP(c.W, r)
	return nil
}

// browserAdd takes what the browser's PushManager gave.
func (s *Service) browserAdd(c *web.Ctx) error {
	var sub webpush.Subscription
	if err := c.Decode(&sub); err != nil {
		return err
	}
	if err := s.AddBrowser(c.Context(), c.Viewer, sub, browserName(c.R.UserAgent())); err != nil {
		return err
	}
	return c.NoContent()
}

func (s *Service) browserRemove(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	if _, err := notificationdb.Browser(c.Context(), s.scope(c.Viewer.ID()), id); err != nil {
		return err
	}
	if err := s.DropBrowser(c.Context(), c.Viewer.ID(), id); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("notifications"), "No more pushes go to that browser.")
}

// browserTry sends a push that says that it works.
func (s *Service) browserTry(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	b, err := notificationdb.Browser(c.Context(), s.scope(c.Viewer.ID()), id)
	if err != nil {
		return err
	}
	said := "Sent to " + b.Name + "."
	err = s.push(c.Context(), c.Viewer.ID(), b, &pushed{Title: "It works", Body: "This browser shows what happens in gitfor.",
		URL: c.URL(link.Settings("notifications")), Tag: "try"})
	if err != nil {
		said = b.Name + " could not be reached: " + err.Error() + "."
	}
	return c.RedirectFlash(link.Settings("notifications"), said)
}

// browsers are the browsers as the page of settings shows them.
func (s *Service) browsers(c *web.Ctx) (p notificationview.BrowsersProps, err error) {
	list, err := notificationdb.Browsers(c.Context(), s.scope(c.Viewer.ID()))
	if err != nil {
		return p, err
	}
	keys, err := s.vapid(c.Context())
	if err != nil {
		return p, err
	}
	p.Key = keys.Public
	for _, b := range list {
		p.List = append(p.List, notificationview.Browser{ID: b.ID, Name: b.Name, At: b.CreatedAt, Here: bytes.Equal(b.Session, c.Viewer.SessionHash)})
	}
	return p, nil
}

// composePush is the push of an event for a person; nil when there is nothing
// to tell them any more.
func (s *Service) composePush(ctx context.Context, t *told, p *notificationdb.Person) (*pushed, error) {
	title := t.Title
	if t.Kind != model.KindRelease {
		i, err := s.subject(ctx, t, p)
		if errors.Is(err, db.ErrNotFound) || err == nil && i == nil {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		title = i.Title + " (#" + t.key + ")"
	}
	actors, err := accountdb.ByIDs(ctx, s.DB.Directory(), t.event.ActorID)
	if err != nil {
		return nil, err
	}
	who := "Somebody"
	if a := actors[t.event.ActorID]; a != nil {
		who = a.Shown()
	}
	n := &model.Notification{RepoID: t.repo.ID, Kind: t.Kind, Key: t.key, CommentID: t.CommentID}
	sum := sha256.Sum256([]byte(rootID(t.repo.ID, t.Kind, t.key)))
	return &pushed{Title: title, Body: who + " " + notificationview.Did(t.event.Type) + " in " + t.repo.FullName(), URL: s.Site + href(n, t.repo),
		Tag: base64.RawURLEncoding.EncodeToString(sum[:24])}, nil
}
