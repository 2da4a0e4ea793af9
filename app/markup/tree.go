package markup

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// idPrefix keeps ids of texts apart from those of the page around them.
const idPrefix = "user-content-"

// maxHeadings is how many headings of a document have a link to themselves.
const maxHeadings = 5000

// tree turns the parsed, sanitised HTML of one text into its final form.
type tree struct {
	r        *Renderer
	o        Options
	slots    *slots
	prefix   string // of ids
	used     map[string]int
	headings []Heading
	found    []candidate
}

// place says what a node is inside of.
type place struct {
	link, code bool
}

// compileHTML takes sanitised HTML apart and puts in slots, ids, addresses and
// marks for references.
func (r *Renderer) compileHTML(safe []byte, s *slots, o Options) (*compiled, error) {
	root := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	// The parser gives up on trees deeper than 512 elements.
	nodes, err := html.ParseFragment(bytes.NewReader(safe), root)
	if err != nil {
		return nil, fmt.Errorf("parse rendered HTML: %w", err)
	}
	for _, n := range nodes {
		root.AppendChild(n)
	}
	t := &tree{r: r, o: o, slots: s, prefix: idPrefix, used: map[string]int{}}
	if o.ID != "" {
		t.prefix += o.ID + "-"
	}
	t.children(root, place{})
	return t.finish(root)
}

func (t *tree) finish(root *html.Node) (*compiled, error) {
	var b strings.Builder
	for n := root.FirstChild; n != nil; n = n.NextSibling {
		if err := html.Render(&b, n); err != nil {
			return nil, fmt.Errorf("write rendered HTML: %w", err)
		}
	}
	if b.Len() > 2*maxOutput {
		return nil, errTooLong
	}
	c := &compiled{candidates: t.found, headings: t.headings}
	// Pieces between marks are HTML, and marks are candidates' numbers.
	for i, piece := range strings.Split(b.String(), mark) {
		if i%2 == 0 {
			c.pieces = append(c.pieces, piece)
			continue
		}
		num, err := strconv.Atoi(piece)
		if err != nil || num < 0 || num >= len(t.found) {
			return nil, fmt.Errorf("write rendered HTML: bad mark %q", piece)
		}
		c.order = append(c.order, num)
	}
	return c, nil
}

func (t *tree) children(n *html.Node, in place) {
	var next *html.Node
	for c := n.FirstChild; c != nil; c = next {
		next = c.NextSibling
		switch c.Type {
		case html.TextNode:
			if !in.link && !in.code {
				t.text(c)
			}
		case html.ElementNode:
			t.element(c, in)
		default:
			n.RemoveChild(c)
		}
	}
}

func (t *tree) element(n *html.Node, in place) {
	if class := attr(n, "class"); strings.HasPrefix(class, "g") {
		if t.fill(n, class, in) {
			return
		}
		removeAttr(n, "class")
	}
	t.ids(n)
	t.addresses(n)
	switch n.DataAtom {
	case atom.A:
		if t.siteLink(n, in) {
			return
		}
		in.link = true
	case atom.Code, atom.Pre, atom.Kbd, atom.Samp, atom.Tt, atom.Var:
		in.code = true
	case atom.Img:
		setAttr(n, "loading", "lazy")
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if t.o.Mode == Document && len(t.headings) < maxHeadings {
			t.heading(n, in)
			return
		}
	}
	t.children(n, in)
}

// fill puts the slot of the given class in place of n, or into it.
func (t *tree) fill(n *html.Node, class string, in place) bool {
	sl, ok := t.slots.find(class)
	if !ok {
		return false
	}
	switch {
	case sl.alert != "":
		removeAttr(n, "class")
		n.Data, n.DataAtom = "div", atom.Div
		setAttr(n, "class", "markdown-alert markdown-alert-"+sl.alert)
		t.children(n, in)
		title := &html.Node{Type: html.ElementNode, Data: "p", DataAtom: atom.P,
			Attr: []html.Attribute{{Key: "class", Val: "markdown-alert-title"}}}
		title.AppendChild(&html.Node{Type: html.TextNode, Data: alertTitle(sl.alert)})
		n.InsertBefore(title, n.FirstChild)
	case sl.emoji != "":
		replace(n, &html.Node{Type: html.TextNode, Data: sl.text})
	default:
		if sl.task {
			markTask(n)
		}
		replace(n, &html.Node{Type: html.RawNode, Data: sl.html})
	}
	return true
}

// markTask gives a checkbox's list item and list their classes.
func markTask(n *html.Node) {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom != atom.Li {
			continue
		}
		setAttr(p, "class", "task-list-item")
		if l := p.Parent; l != nil && (l.DataAtom == atom.Ul || l.DataAtom == atom.Ol) {
			setAttr(l, "class", "contains-task-list")
		}
		return
	}
}

// ids prefixes the ids of n, so that a text cannot name or replace parts of
// the page around it.
func (t *tree) ids(n *html.Node) {
	if name := attr(n, "name"); name != "" {
		if attr(n, "id") == "" {
			setAttr(n, "id", name)
		}
		removeAttr(n, "name")
	}
	if id := attr(n, "id"); id != "" {
		setAttr(n, "id", t.prefix+strings.TrimPrefix(id, idPrefix))
	}
	for _, key := range []string{"aria-labelledby", "aria-describedby"} {
		if v := attr(n, key); v != "" {
			ids := strings.Fields(v)
			for i := range ids {
				ids[i] = t.prefix + strings.TrimPrefix(ids[i], idPrefix)
			}
			setAttr(n, key, strings.Join(ids, " "))
		}
	}
}

// heading gives a heading of a document its id and a link to itself.
func (t *tree) heading(n *html.Node, in place) {
	text := strings.TrimSpace(t.plain(n, false))
	slug := slugify(t.plain(n, true))
	if count := t.used[slug]; count > 0 {
		t.used[slug]++
		slug += "-" + strconv.Itoa(count)
	}
	t.used[slug]++
	id := t.prefix + slug
	if attr(n, "id") == "" {
		setAttr(n, "id", id)
	} else {
		id = attr(n, "id")
	}
	t.headings = append(t.headings, Heading{Level: int(n.Data[1] - '0'), ID: id, Text: text})
	t.children(n, in)
	if in.link {
		return
	}
	a := &html.Node{Type: html.ElementNode, Data: "a", DataAtom: atom.A, Attr: []html.Attribute{
		{Key: "class", Val: "anchor"},
		{Key: "href", Val: "#" + escapeFragment(id)},
		{Key: "aria-label", Val: "Link to this heading"},
	}}
	a.AppendChild(&html.Node{Type: html.TextNode, Data: "#"})
	n.AppendChild(a)
}

// plain returns the text of n; with names, an emoji counts as its name, as it
// does in GitHub's anchors.
func (t *tree) plain(n *html.Node, names bool) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode:
			if sl, ok := t.slots.find(attr(n, "class")); ok && sl.alert == "" {
				if names && sl.emoji != "" {
					b.WriteString(sl.emoji)
				} else {
					b.WriteString(sl.text)
				}
				return
			}
			if n.DataAtom == atom.Img && !names {
				b.WriteString(attr(n, "alt"))
			}
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c)
			}
		}
	}
	walk(n)
	return b.String()
}

// slugify makes a heading's anchor as GitHub does: lower case, spaces as
// hyphens, no punctuation but hyphens and underscores.
func slugify(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(text))
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func setAttr(n *html.Node, key, val string) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			n.Attr[i].Val = val
			return
		}
	}
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: val})
}

func removeAttr(n *html.Node, key string) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			n.Attr = append(n.Attr[:i], n.Attr[i+1:]...)
			return
		}
	}
}

func replace(old, with *html.Node) {
	old.Parent.InsertBefore(with, old)
	old.Parent.RemoveChild(old)
}
