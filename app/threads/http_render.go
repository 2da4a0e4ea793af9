package threads

import (
	"context"
	"html/template"

	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/link"
)

// Text is one of the texts of a page.
type Text struct {
	Body string
	// ID makes element ids unique on the page.
	ID string
	// Editable leaves the boxes of task lists enabled.
	Editable bool
}

// Look is what is known for rendering texts; what is missing is looked up.
type Look struct {
	// IDs are further accounts that the page shows.
	IDs []int64
	// Known are threads of the repository that were read already. When it is
	// nil they are looked up.
	Known map[int64]*model.Issue
}

// Render turns texts into HTML as the place's viewer may see them, and
// returns with them the people whom the page shows or its texts mention; it
// needs one query for people, one for threads unless they are known, and more
// only where a text names other repositories.
func (s *Service) Render(ctx context.Context, p Place, texts []Text, look Look) ([]template.HTML, *accountdb.People, error) {
	sources := make([]markup.Source, len(texts))
	var names []string
	for i, t := range texts {
		o := options(p.Repo, t.ID)
		o.Editable = t.Editable
		sources[i] = markup.Source{Text: t.Body, Options: o}
		names = append(names, s.text.Extract(t.Body, o).People...)
	}
	if len(names) > maxNames {
		names = names[:maxNames]
	}
	people, err := accountdb.PeopleOf(ctx, s.db.Directory(), p.Repo, look.IDs, names)
	if err != nil {
		return nil, nil, err
	}
	out, err := s.text.RenderAll(ctx, markup.Lookup{
		People: func(context.Context, []string) (map[string]markup.Link, error) { return mentionLinks(people), nil },
		Threads: func(ctx context.Context, refs []markup.Ref) (map[markup.Ref]markup.Link, error) {
			return s.threadLinks(ctx, p, refs, look.Known)
		},
	}, sources)
	if err != nil {
		return nil, nil, err
	}
	html := make([]template.HTML, len(out))
	for i, o := range out {
		html[i] = o.HTML
	}
	return html, people, nil
}

// maxNames bounds how many mentions of one page are looked up.
const maxNames = 500

func mentionLinks(people *accountdb.People) map[string]markup.Link {
	links := make(map[string]markup.Link, len(people.ByName))
	for key, a := range people.ByName {
		links[key] = markup.Link{Href: link.Account(a.Name), Title: a.DisplayName, Text: "@" + a.Name}
	}
	return links
}

// maxAway bounds how many other repositories the texts of a page reach.
const maxAway = 10

func (s *Service) threadLinks(ctx context.Context, p Place, refs []markup.Ref, known map[int64]*model.Issue) (map[markup.Ref]markup.Link, error) {
	byRepo := map[[2]string][]int64{}
	for _, r := range refs {
		key := [2]string{r.Owner, r.Repo}
		if isOwn(p.Repo, r) {
			key = [2]string{}
		}
		byRepo[key] = append(byRepo[key], r.Number)
	}
	found := map[[2]string]map[int64]*model.Issue{}
	places := map[[2]string]Place{{}: p}
	away := 0
	for key, numbers := range byRepo {
		at := p
		if key != [2]string{} {
			if away++; away > maxAway {
				continue
			}
			repo, role, err := repodb.Find(ctx, s.db.Directory(), key[0], key[1], p.Viewer.ID())
			if err = ignoreMissing(err); err != nil {
				return nil, err
			}
			if repo == nil || repo.ID == 0 || !p.Viewer.Reaches(repo.ID, repo.IsPrivate(), false) {
				continue
			}
			at = Place{p.Viewer, repo, role}
		} else if known != nil {
			found[key] = known
			continue
		}
		rows, err := threaddb.Known(ctx, s.db.Repo(at.Repo.ID), numbers)
		if err != nil {
			return nil, err
		}
		found[key], places[key] = rows, at
	}
	links := map[markup.Ref]markup.Link{}
	for _, r := range refs {
		key := [2]string{r.Owner, r.Repo}
		if isOwn(p.Repo, r) {
			key = [2]string{}
		}
		at := places[key]
		if i := found[key][r.Number]; i != nil && at.sees(i) {
			links[r] = markup.Link{Href: Href(at.Repo, i), Title: i.Title, Class: i.State}
		}
	}
	return links, nil
}

// Href is the address of a thread's page.
func Href(repo *model.Repo, i *model.Issue) string {
	switch i.Kind {
	case model.KindPull:
		return link.Pull(repo.Owner.Name, repo.Name, i.Number)
	case model.KindDiscussion:
		return link.Discussion(repo.Owner.Name, repo.Name, i.Number)
	}
	return link.Issue(repo.Owner.Name, repo.Name, i.Number)
}

// Preview renders a text that is being written.
func (s *Service) Preview(ctx context.Context, p Place, body string) (template.HTML, error) {
	html, _, err := s.Render(ctx, p, []Text{{Body: body, ID: "preview"}}, Look{})
	if err != nil {
		return "", err
	}
	return html[0], nil
}

// View is a thread as a page shows it.
type View struct {
	Issue *model.Issue
	Items []*model.TimelineItem
	// Hidden is how many items the window leaves out.
	Hidden int
	Facts  *threaddb.Context
	People *accountdb.People
	// HTML are the texts by item id, that of the first post by 0.
	HTML map[int64]template.HTML
}

// Load reads a thread as a page shows it, in four queries: the thread, its
// timeline, the facts around it, and the people.
func (s *Service) Load(ctx context.Context, p Place, number int64, w threaddb.Window) (*View, error) {
	i, err := s.Find(ctx, p, number)
	if err != nil {
		return nil, err
	}
	v := &View{Issue: i}
	return v, s.Fill(ctx, p, v, w)
}

// Fill is Load for a thread that was found already.
func (s *Service) Fill(ctx context.Context, p Place, v *View, w threaddb.Window) (err error) {
	repo, i := s.db.Repo(p.Repo.ID), v.Issue
	if s.Seen != nil && p.Viewer.SignedIn() && !p.Viewer.Token {
		s.Seen(ctx, p.Viewer, p.Repo, i)
	}
	if v.Items, v.Hidden, err = threaddb.Timeline(ctx, repo, i.Number, w); err != nil {
		return err
	}
	if v.Facts, err = threaddb.LoadContext(ctx, repo, i.Number, p.Viewer.ID()); err != nil {
		return err
	}
	if v.Items, err = s.showable(ctx, p, v); err != nil {
		return err
	}
	texts := []Text{{Body: i.Body, ID: "p", Editable: p.MayEdit(i.AuthorID)}}
	ids := append([]int64{p.Repo.OwnerID, i.AuthorID, i.ClosedBy}, i.AssigneeIDs...)
	at := []int64{0}
	addReactors(&ids, i.Reactions)
	for _, it := range v.Items {
		ids = append(ids, it.AuthorID, it.Data.Assignee)
		addReactors(&ids, it.Reactions)
		if it.Body != "" {
			texts = append(texts, Text{Body: it.Body, ID: "c" + num(it.ID), Editable: p.MayEdit(it.AuthorID)})
			at = append(at, it.ID)
		}
	}
	html, people, err := s.Render(ctx, p, texts, Look{IDs: ids, Known: v.Facts.Known})
	if err != nil {
		return err
	}
	v.People, v.HTML = people, map[int64]template.HTML{}
	for n, id := range at {
		v.HTML[id] = html[n]
	}
	return nil
}

// addReactors adds those whose names are shown when the pointer rests on a
// reaction: the first few.
func addReactors(ids *[]int64, list []model.Reaction) {
	for n, r := range list {
		if n == 10 {
			return
		}
		*ids = append(*ids, r.By)
	}
}

// showable leaves out the lines about threads that the viewer may not see.
func (s *Service) showable(ctx context.Context, p Place, v *View) ([]*model.TimelineItem, error) {
	var away []int64
	for _, it := range v.Items {
		if it.Data.Repo != 0 {
			away = append(away, it.Data.Repo)
		}
	}
	readable, err := repodb.ReadableIDs(ctx, s.db.Directory(), away, p.Viewer.ID())
	if err != nil {
		return nil, err
	}
	out := v.Items[:0:0]
	for _, it := range v.Items {
		switch {
		case it.Kind != model.ItemCrossRef:
		case it.Data.Repo != 0:
			if !readable[it.Data.Repo] || !p.Viewer.Reaches(it.Data.Repo, it.Data.Confidential, false) {
				continue
			}
		default:
			if other := v.Facts.Known[it.Data.Number]; other == nil || !p.sees(other) {
				continue
			}
		}
		out = append(out, it)
	}
	return out, nil
}

// Handle is the database of the place's repository.
func (s *Service) Handle(p Place) db.Repo { return s.db.Repo(p.Repo.ID) }

// PreviewBare renders a text that belongs to no repository.
func (s *Service) PreviewBare(ctx context.Context, body string) template.HTML {
	out, err := s.text.Render(ctx, markup.Lookup{}, body, markup.Options{Mode: markup.Comment, ID: "preview"})
	if err != nil {
		return ""
	}
	return out.HTML
}
