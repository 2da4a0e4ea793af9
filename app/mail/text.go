package mail

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// textOf reads a mail's HTML as text: paragraphs apart, lists with dashes,
// quotes with angle brackets, addresses of links behind their words. What has
// the attribute data-text="no" is for the eye only.
func textOf(page string) (string, error) {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return "", err
	}
	t := &textWriter{}
	t.walk(doc)
	return strings.TrimSpace(t.b.String()) + "\n", nil
}

// textWriter puts words into lines.
type textWriter struct {
	b strings.Builder
	// prefix begins each line, such as "> ".
	prefix string
	// breaks are the line ends that wait for the next word, space a blank.
	breaks int
	// gap begins the empty lines before it: what was quoted on both sides.
	gap     string
	space   bool
	started bool
	// fresh says that the line is empty already.
	fresh bool
	pre   bool
}

// end ends the line; with n = 2 the paragraph.
func (t *textWriter) end(n int) {
	if !t.fresh {
		if t.breaks == 0 || len(t.prefix) < len(t.gap) {
			t.gap = t.prefix
		}
		t.breaks, t.space = max(t.breaks, n), false
	}
}

func (t *textWriter) put(word string) {
	if word == "" {
		return
	}
	switch {
	case !t.started, t.fresh:
		t.b.WriteString(t.prefix)
	case t.breaks > 0:
		for range t.breaks - 1 {
			t.b.WriteString("\n" + strings.TrimRight(t.gap, " "))
		}
		t.b.WriteString("\n" + t.prefix)
	case t.space:
		t.b.WriteByte(' ')
	}
	t.started, t.fresh, t.breaks, t.space = true, false, 0, false
	t.b.WriteString(word)
}

func (t *textWriter) text(s string) {
	if t.pre {
		for i, line := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
			if i > 0 {
				t.end(1)
			}
			t.put(line)
		}
		return
	}
	if s != strings.TrimLeft(s, " \t\r\n") {
		t.space = true
	}
	for i, word := range strings.Fields(s) {
		if i > 0 {
			t.space = true
		}
		t.put(word)
	}
	if strings.TrimSpace(s) != "" && s != strings.TrimRight(s, " \t\r\n") {
		t.space = true
	}
}

func (t *textWriter) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		t.walk(c)
	}
}

func (t *textWriter) walk(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		t.text(n.Data)
		return
	case html.ElementNode:
		t.element(n)
		return
	case html.DocumentNode:
		t.children(n)
	default: // comments and the like say nothing
	}
}

func (t *textWriter) element(n *html.Node) {
	if attr(n, "data-text") == "no" {
		return
	}
	switch n.DataAtom {
	case atom.Head, atom.Style, atom.Script, atom.Title, atom.Svg:
	case atom.Br:
		t.end(t.breaks + 1)
	case atom.Hr:
		t.end(2)
		t.put("-- ")
		t.b.WriteByte('\n')
		t.fresh = true
	case atom.Img:
		t.put(attr(n, "alt"))
	case atom.A:
		t.link(n)
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Table, atom.Ul, atom.Ol, atom.Dl:
		t.block(n, 2, "")
	case atom.Blockquote:
		t.block(n, 2, "> ")
	case atom.Li:
		t.end(1)
		t.put("- ")
		t.space = false
		was := t.prefix
		t.prefix += "  "
		t.children(n)
		t.prefix = was
		t.end(1)
	case atom.Pre:
		t.pre = true
		t.block(n, 2, "    ")
		t.pre = false
	case atom.Div, atom.Tr, atom.Section, atom.Header, atom.Footer, atom.Main, atom.Article, atom.Dt, atom.Dd:
		t.block(n, 1, "")
	case atom.Td, atom.Th:
		t.children(n)
		t.space = true
	default:
		t.children(n)
	}
}

func (t *textWriter) block(n *html.Node, apart int, prefix string) {
	t.end(apart)
	was := t.prefix
	t.prefix += prefix
	t.children(n)
	t.prefix = was
	t.end(apart)
}

// link writes the words of a link and, where they are not the address itself,
// the address after them.
func (t *textWriter) link(n *html.Node) {
	before := t.b.Len()
	t.children(n)
	href, words := attr(n, "href"), strings.TrimSpace(t.b.String()[before:])
	switch {
	case href == "" || href == words || strings.TrimPrefix(href, "mailto:") == words:
	case words == "":
		t.put(href)
	case attr(n, "data-text") == "line":
		t.end(1)
		t.put(href)
	default:
		t.space = true
		t.put("<" + href + ">")
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
