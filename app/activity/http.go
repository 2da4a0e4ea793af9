package activity

import (
	"encoding/xml"
	"errors"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/activityview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

const perPage = 30

// Routes mounts the page, the feed and the API.
func (s *Service) Routes(r *web.Router) {
	read := s.Gate.Repo(model.RoleRead)
	r.Get("/{owner}/{repo}/activity", read, s.page)
	r.Get("/{owner}/{repo}/activity.atom", read, s.feed)
	s.apiRoutes(r)
}

func (s *Service) asked(c *web.Ctx, types []string) asked {
	return asked{types: types, viewer: c.Viewer.ID(), role: c.Role}
}

// entries are events in words, with their actors.
func (s *Service) entries(c *web.Ctx, list []*model.Event) ([]activityview.Entry, error) {
	ids := make([]int64, 0, len(list))
	for _, e := range list {
		ids = append(ids, e.ActorID)
	}
	people, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
	if err != nil {
		return nil, err
	}
	out := make([]activityview.Entry, len(list))
	for i, e := range list {
		out[i] = entry(c.Repo, e, people[e.ActorID])
	}
	return out, nil
}

func (s *Service) page(c *web.Ctx) error {
	o, n := c.Repo.Owner.Name, c.Repo.Name
	k := find(c.Query("kind"))
	p := activityview.Props{Owner: o, Repo: n, Kind: k.key, Actor: c.Query("actor"), Path: c.R.URL.RequestURI(),
		Page: c.QueryInt("page", 1, 1, 1000), Live: "repo:" + num(c.Repo.ID)}
	for _, one := range kinds {
		p.Kinds = append(p.Kinds, ui.Tab{Key: one.key, Label: one.label, Href: link.Q("kind", one.key, "actor", p.Actor).On(link.Activity(o, n))})
	}
	a := s.asked(c, k.types)
	a.limit, a.offset = perPage+1, (p.Page-1)*perPage
	if p.Actor != "" {
		switch who, err := accountdb.ByName(c.Context(), s.DB.Directory(), p.Actor); {
		case errors.Is(err, db.ErrNotFound):
			p.ActorError = "Nobody has this name."
			a.actor = -1
		case err != nil:
			return err
		default:
			a.actor = who.ID
		}
	}
	list, err := s.list(c.Context(), c.Repo, a)
	if err != nil {
		return err
	}
	p.HasMore = len(list) > perPage
	if p.Entries, err = s.entries(c, list[:min(len(list), perPage)]); err != nil {
		return err
	}
	shell, err := s.Repos.Shell(c, "activity")
	if err != nil {
		return err
	}
	return c.Render(web.Page{Title: "Activity · " + c.Repo.FullName(), Shell: shell, Body: activityview.Activity(p),
		Parts: map[string]func() templ.Component{"activity": func() templ.Component { return activityview.Live(p) }}})
}

// atom is a feed (RFC 4287).
type atom struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Link    atomLink    `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID      string    `xml:"id"`
	Title   string    `xml:"title"`
	Updated string    `xml:"updated"`
	Author  string    `xml:"author>name"`
	Link    *atomLink `xml:"link,omitempty"`
}

func (s *Service) feed(c *web.Ctx) error {
	a := s.asked(c, kinds[0].types)
	a.limit = perPage
	list, err := s.list(c.Context(), c.Repo, a)
	if err != nil {
		return err
	}
	entries, err := s.entries(c, list)
	if err != nil {
		return err
	}
	here := c.URL(link.Activity(c.Repo.Owner.Name, c.Repo.Name))
	f := atom{ID: here, Title: "Activity of " + c.Repo.FullName(), Updated: c.Repo.CreatedAt.UTC().Format(time.RFC3339), Link: atomLink{here}}
	for i, e := range entries {
		one := atomEntry{ID: list[i].EventID, Title: e.Verb + " " + e.Subject, Updated: e.At.UTC().Format(time.RFC3339), Author: "gitfor"}
		if e.Actor != nil {
			one.Author = e.Actor.Name
			one.Title = e.Actor.Name + " " + one.Title
		}
		if e.Href != "" {
			one.Link = &atomLink{c.URL(e.Href)}
		}
		if i == 0 {
			f.Updated = one.Updated
		}
		f.Entries = append(f.Entries, one)
	}
	body, err := xml.Marshal(f)
	if err != nil {
		return err
	}
	c.W.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	return c.Bytes(append([]byte(xml.Header), body...))
}
