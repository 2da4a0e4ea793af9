package releases

import (
	"encoding/xml"
	"time"

	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/releasedb"
	"github.com/gitfor/gitfor/views/link"
)

// atomFeed is a feed (RFC 4287).
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Link    atomLink `xml:"link"`
	Author  string   `xml:"author>name"`
	Content atomText `xml:"content"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// feed answers with the newest published releases as an Atom feed.
func (s *Service) feed(c *web.Ctx) error {
	list, _, err := releasedb.List(c.Context(), s.DB.Repo(c.Repo.ID), releasedb.Filter{Limit: 20})
	if err != nil {
		return err
	}
	texts, ids := make([]threads.Text, len(list)), make([]int64, len(list))
	for i, r := range list {
		texts[i], ids[i] = threads.Text{Body: r.Body, ID: "r" + num(r.ID)}, r.AuthorID
	}
	rendered, people, err := s.Threads.Render(c.Context(), place(c), texts, threads.Look{IDs: ids})
	if err != nil {
		return err
	}
	o, n := c.Repo.Owner.Name, c.Repo.Name
	here := c.URL(link.Releases(o, n))
	updated := c.Repo.CreatedAt
	f := atomFeed{ID: here, Title: "Releases of " + c.Repo.FullName(), Links: []atomLink{
		{"alternate", "text/html", here}, {"self", "application/atom+xml", here + ".atom"}}}
	for i, r := range list {
		at := c.URL(link.Release(o, n, r.Tag))
		author := "ghost"
		if a := people.Get(r.AuthorID); a != nil {
			author = a.Name
		}
		if r.UpdatedAt.After(updated) {
			updated = r.UpdatedAt
		}
		f.Entries = append(f.Entries, atomEntry{ID: "tag:" + c.Kit().Host() + ",2008:release/" + num(c.Repo.ID) + "/" + num(r.ID), Title: r.Title(),
			Updated: r.UpdatedAt.UTC().Format(time.RFC3339), Link: atomLink{"alternate", "text/html", at}, Author: author,
			Content: atomText{"html", string(rendered[i])}})
	}
	f.Updated = updated.UTC().Format(time.RFC3339)
	body, err := xml.Marshal(f)
	if err != nil {
		return err
	}
	c.W.Header().Set("Content-Type", "application/atom+xml; charset=utf-8")
	return c.Bytes(append([]byte(xml.Header), body...))
}
