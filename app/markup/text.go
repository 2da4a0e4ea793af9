package markup

import (
	"bytes"
	"html"
	"html/template"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark-emoji/definition"
	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// std is for the functions of this package that need no configuration. It is
// never changed.
var std = sync.OnceValue(func() *Renderer { return New(Config{CacheBytes: 1 << 20}) })

// emojis are GitHub's emoji by name. They are never changed.
var emojis = sync.OnceValue(func() definition.Emojis { return definition.Github() })

// Title renders the title of an issue or the like: text in one line, in which
// only `code` and :emoji: have a meaning.
func Title(s string) template.HTML {
	s = oneLine(clean(s))
	var b strings.Builder
	for s != "" {
		at := strings.IndexByte(s, '`')
		if at < 0 {
			break
		}
		ticks := at
		for ticks < len(s) && s[ticks] == '`' {
			ticks++
		}
		fence := s[at:ticks]
		end := closing(s[ticks:], fence)
		if end < 0 {
			b.WriteString(titleText(s[:ticks]))
			s = s[ticks:]
			continue
		}
		b.WriteString(titleText(s[:at]))
		code := s[ticks : ticks+end]
		if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' {
			code = code[1 : len(code)-1]
		}
		b.WriteString("<code>" + html.EscapeString(code) + "</code>")
		s = s[ticks+end+len(fence):]
	}
	b.WriteString(titleText(s))
	return template.HTML(b.String()) //nolint:gosec // escaped piece by piece
}

// closing returns where in s the first run of backticks as long as fence is.
func closing(s, fence string) int {
	for i := 0; i < len(s); {
		at := strings.Index(s[i:], fence)
		if at < 0 {
			return -1
		}
		at += i
		end := at + len(fence)
		for end < len(s) && s[end] == '`' {
			end++
		}
		if end-at == len(fence) {
			return at
		}
		i = end
	}
	return -1
}

// titleText escapes s and puts in emoji.
func titleText(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(s, ':')
		if at < 0 {
			break
		}
		end := strings.IndexByte(s[at+1:], ':')
		if end < 0 {
			break
		}
		b.WriteString(html.EscapeString(s[:at]))
		if e, ok := emojis().Get(s[at+1 : at+1+end]); ok && e.IsUnicode() {
			b.WriteString(string(e.Unicode))
			s = s[at+2+end:]
			continue
		}
		b.WriteByte(':')
		s = s[at+1:]
	}
	b.WriteString(html.EscapeString(s))
	return b.String()
}

// maxPreview is how many bytes of a text PlainText reads for a short preview.
const maxPreview = 16 << 10

// PlainText returns the text of Markdown in one line, at most n characters of
// it, for previews and mails; n of 0 means all.
func PlainText(text string, n int) (out string) {
	text = clean(text)
	if n > 0 && len(text) > maxPreview+8*n {
		text = strings.ToValidUTF8(text[:maxPreview+8*n], "")
	}
	defer func() {
		if recover() != nil { // a fault in a parser
			out = shorten(oneLine(text), n)
		}
	}()
	out, err := std().plainText(text)
	if err != nil {
		out = oneLine(text)
	}
	return shorten(out, n)
}

// shorten cuts s to n characters, at the end of a word if one is near.
func shorten(s string, n int) string {
	if n <= 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	at, count := 0, 0
	for i := range s {
		if count == n-1 {
			at = i
			break
		}
		count++
	}
	s = s[:at]
	if sp := strings.LastIndexByte(s, ' '); sp > len(s)*3/4 {
		s = s[:sp]
	}
	return strings.TrimRight(s, " ,.;:") + "…"
}

func (r *Renderer) plainText(text string) (string, error) {
	if len(text) > MaxDocument {
		return "", errTooLong
	}
	source := []byte(text)
	doc, err := parseWatched(r.document.Parser(), source)
	if err != nil {
		return "", err
	}
	s := newSlots(len(source))
	s.prepare(doc, source, false)
	var buf bytes.Buffer
	if err := r.document.Renderer().Render(&buf, source, doc); err != nil {
		return "", err
	}
	safe := capFormatting(r.policy.SanitizeBytes(buf.Bytes()))
	nodes, err := nethtml.ParseFragment(bytes.NewReader(safe), &nethtml.Node{Type: nethtml.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, n := range nodes {
		writeText(&b, n, s)
	}
	return oneLine(b.String()), nil
}

// writeText writes the text below n, with spaces between blocks.
func writeText(b *strings.Builder, n *nethtml.Node, s *slots) {
	switch n.Type {
	case nethtml.TextNode:
		b.WriteString(n.Data)
		return
	case nethtml.ElementNode:
	default:
		return
	}
	if sl, ok := s.find(attr(n, "class")); ok && sl.alert == "" {
		b.WriteString(sl.text)
		if n.DataAtom == atom.Div {
			b.WriteByte(' ')
		}
		return
	}
	switch n.DataAtom {
	case atom.Img:
		b.WriteString(attr(n, "alt"))
		return
	case atom.A, atom.B, atom.Code, atom.Del, atom.Em, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S,
		atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Tt, atom.U, atom.Var:
	default:
		b.WriteByte(' ')
		defer b.WriteByte(' ')
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		writeText(b, c, s)
	}
}
