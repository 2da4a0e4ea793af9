package markup

import (
	"context"
	"fmt"
	"html"
	"html/template"
	"strings"
)

// Limits on how much one call of RenderAll looks up; the rest stays text.
const (
	maxPeople  = 500
	maxThreads = 500
	maxCommits = 200
)

// Link is where a reference leads.
type Link struct {
	Href  string
	Title string // shown when the pointer rests on the link
	Text  string // replaces the text as written, unless empty
	Class string // added to the link's class
	Hover string // address of a card to show on hover, or empty
}

// Lookup finds what references mean. Each func is called at most once for all
// texts that are rendered together, with what was found in them, each thing
// once; what its answer lacks stays text. A nil func finds nothing.
type Lookup struct {
	// People gets names of accounts, and of teams as "org/team", in lower case.
	People func(ctx context.Context, names []string) (map[string]Link, error)
	// Threads gets numbered threads.
	Threads func(ctx context.Context, refs []Ref) (map[Ref]Link, error)
	// Commits gets ids, 7 to 64 digits long. Most of them will be none.
	Commits func(ctx context.Context, ids []Commit) (map[Commit]Link, error)
}

// wanted is what a set of texts refers to.
type wanted struct {
	people  set[string]
	threads set[Ref]
	commits set[Commit]
}

// answers is what was found.
type answers struct {
	people  map[string]Link
	threads map[Ref]Link
	commits map[Commit]Link
}

func (w *wanted) add(found []candidate) {
	for _, c := range found {
		switch {
		case c.person != "":
			w.people.add(c.person, maxPeople)
		case c.thread.Number != 0:
			if c.thread.Repo != "" {
				w.threads.add(c.thread, maxThreads)
			}
		default:
			w.commits.add(c.commit, maxCommits)
		}
	}
}

func (w *wanted) look(ctx context.Context, l Lookup) (a answers, err error) {
	if l.People != nil && len(w.people.list) > 0 {
		if a.people, err = l.People(ctx, w.people.list); err != nil {
			return a, fmt.Errorf("look up people: %w", err)
		}
	}
	if l.Threads != nil && len(w.threads.list) > 0 {
		if a.threads, err = l.Threads(ctx, w.threads.list); err != nil {
			return a, fmt.Errorf("look up references: %w", err)
		}
	}
	if l.Commits != nil && len(w.commits.list) > 0 {
		if a.commits, err = l.Commits(ctx, w.commits.list); err != nil {
			return a, fmt.Errorf("look up commits: %w", err)
		}
	}
	return a, nil
}

// set is a list of different things in the order of their coming.
type set[T comparable] struct {
	list []T
	has  map[T]bool
}

func (s *set[T]) add(v T, limit int) {
	if s.has[v] || len(s.list) >= limit {
		return
	}
	if s.has == nil {
		s.has = map[T]bool{}
	}
	s.has[v] = true
	s.list = append(s.list, v)
}

// compiled is a text rendered but for its references: pieces of HTML with a
// candidate between each two.
type compiled struct {
	pieces     []string
	order      []int // candidates by number, one less than pieces
	candidates []candidate
	headings   []Heading
	plain      bool
}

// size is about how much memory c takes, in bytes.
func (c *compiled) size() int64 {
	n := 200
	for _, p := range c.pieces {
		n += len(p) + 16
	}
	for _, f := range c.candidates {
		n += len(f.asText) + len(f.show) + len(f.tail) + 160
	}
	for _, h := range c.headings {
		n += len(h.ID) + len(h.Text) + 48
	}
	return int64(n)
}

// html puts the links that were found into the text.
func (c *compiled) html(a answers) template.HTML {
	if len(c.pieces) == 1 {
		return template.HTML(c.pieces[0]) //nolint:gosec // sanitised by compile
	}
	var b strings.Builder
	for i, piece := range c.pieces {
		b.WriteString(piece)
		if i < len(c.order) {
			c.candidates[c.order[i]].write(&b, a)
		}
	}
	return template.HTML(b.String()) //nolint:gosec // sanitised by compile
}

func (c *candidate) write(b *strings.Builder, a answers) {
	var (
		link  Link
		ok    bool
		class string
	)
	switch {
	case c.person != "":
		link, ok = a.people[c.person]
		class = "mention"
	case c.thread.Number != 0:
		link, ok = a.threads[c.thread]
		class = "reference"
	default:
		link, ok = a.commits[c.commit]
		class = "commit-reference"
	}
	if !ok || link.Href == "" {
		b.WriteString(c.asText)
		return
	}
	if link.Class != "" {
		class += " " + link.Class
	}
	text := link.Text
	if text == "" {
		text = c.show
	}
	b.WriteString(`<a class="` + html.EscapeString(class) + `" href="` + html.EscapeString(link.Href+c.tail) + `"`)
	if link.Title != "" {
		b.WriteString(` title="` + html.EscapeString(link.Title) + `"`)
	}
	if link.Hover != "" {
		b.WriteString(` data-hover="` + html.EscapeString(link.Hover) + `"`)
	}
	b.WriteString(">" + html.EscapeString(text) + "</a>")
}
