package markup

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"html"
	"strconv"
	"strings"

	emojiast "github.com/yuin/goldmark-emoji/ast"
	"github.com/yuin/goldmark/ast"

	"github.com/gitfor/gitfor/app/highlight"
)

// A slot is HTML of this package's making that is put in after sanitising.
type slot struct {
	html  string // replaces the element, unless one of the others is set
	alert string // the element becomes an alert of this kind
	task  bool   // html is a checkbox: its list item is marked
	emoji string // the element is an emoji of this name
	text  string // what the slot stands for as plain text
}

// slots are the slots of one text.
type slots struct {
	nonce string
	list  []slot
	raw   bool // the text has HTML of the author's own
	tasks int
	links expansion
}

func newSlots(size int) *slots {
	var b [8]byte
	rand.Read(b[:])
	return &slots{nonce: "g" + hex.EncodeToString(b[:]) + "-", links: expansion{max(size, maxExpand)}}
}

// class adds a slot and returns its class.
func (s *slots) class(sl slot) string {
	s.list = append(s.list, sl)
	return s.nonce + strconv.Itoa(len(s.list)-1)
}

// find returns the slot with the given class.
func (s *slots) find(class string) (slot, bool) {
	num, ok := strings.CutPrefix(class, s.nonce)
	if !ok {
		return slot{}, false
	}
	i, err := strconv.Atoi(num)
	if err != nil || i < 0 || i >= len(s.list) {
		return slot{}, false
	}
	return s.list[i], true
}

func (s *slots) block(sl slot) *slotBlock {
	return &slotBlock{before: `<div class="` + s.class(sl) + `">`, after: "</div>\n"}
}

func (s *slots) inline(sl slot) *slotInline {
	return &slotInline{before: `<span class="` + s.class(sl) + `">`, after: "</span>"}
}

// prepare replaces the nodes below n that this package renders itself.
func (s *slots) prepare(n ast.Node, source []byte, editable bool) {
	var next ast.Node
	for c := n.FirstChild(); c != nil; c = next {
		next = c.NextSibling()
		switch c := c.(type) {
		case *ast.RawHTML, *ast.HTMLBlock:
			s.raw = true
		case *ast.Link:
			if !s.links.allow(c.Reference, c.Destination, c.Title) {
				c.Destination, c.Title = nil, nil // sanitising removes a link to nowhere
			}
		case *ast.Image:
			if !s.links.allow(c.Reference, c.Destination, c.Title) {
				c.Destination, c.Title = nil, nil
			}
		case *ast.FencedCodeBlock:
			n.ReplaceChild(n, c, s.block(codeSlot(string(c.Language(source)), lines(c, source))))
			continue
		case *ast.CodeBlock:
			n.ReplaceChild(n, c, s.block(codeSlot("", lines(c, source))))
			continue
		case *mathBlock:
			n.ReplaceChild(n, c, s.block(mathSlot(lines(c, source))))
			continue
		case *mathNode:
			class := "math math-inline"
			if c.display {
				class = "math math-display"
			}
			n.ReplaceChild(n, c, s.inline(slot{html: `<code class="` + class + `">` + html.EscapeString(c.tex) + `</code>`, text: c.tex}))
			continue
		case *taskNode:
			n.ReplaceChild(n, c, s.inline(slot{html: checkbox(s.tasks, c.checked, editable), task: true}))
			s.tasks++
			continue
		case *emojiast.Emoji:
			s.emoji(n, c)
			continue
		case *ast.Blockquote:
			if kind := alertKind(c, source); kind != "" {
				sb := &slotBlock{before: `<blockquote class="` + s.class(slot{alert: kind}) + `">` + "\n", after: "</blockquote>\n"}
				move(c, sb)
				n.ReplaceChild(n, c, sb)
				s.prepare(sb, source, editable)
				continue
			}
		}
		s.prepare(c, source, editable)
	}
}

// move makes the children of from those of to.
func move(from, to ast.Node) {
	var next ast.Node
	for c := from.FirstChild(); c != nil; c = next {
		next = c.NextSibling()
		to.AppendChild(to, c)
	}
}

func (s *slots) emoji(parent ast.Node, e *emojiast.Emoji) {
	if !e.Value.IsUnicode() {
		parent.ReplaceChild(parent, e, ast.NewString([]byte(":"+string(e.ShortName)+":")))
		return
	}
	char := string(e.Value.Unicode)
	in := s.inline(slot{emoji: string(e.ShortName), text: char})
	in.before += char
	parent.ReplaceChild(parent, e, in)
}

func lines(n ast.Node, source []byte) string {
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(source))
	}
	return b.String()
}

// codeSlot shows a block of code. Diagrams and formulas keep their source as
// the text, which a script replaces where it can.
func codeSlot(lang, code string) slot {
	switch strings.ToLower(lang) {
	case "mermaid":
		return slot{html: `<pre class="mermaid"><code>` + html.EscapeString(code) + `</code></pre>`, text: code}
	case "math":
		return mathSlot(code)
	}
	class := ""
	if lang != "" {
		class = ` class="language-` + html.EscapeString(lang) + `"`
	}
	return slot{
		html: `<div class="code-block"><pre class="chroma" tabindex="0"><code` + class + `>` + string(highlight.Snippet(lang, code)) + `</code></pre></div>`,
		text: code,
	}
}

func mathSlot(tex string) slot {
	return slot{html: `<pre class="math math-display"><code>` + html.EscapeString(strings.TrimSpace(tex)) + `</code></pre>`, text: tex}
}

func checkbox(index int, checked, editable bool) string {
	attrs := ""
	if checked {
		attrs += ` checked=""`
	}
	if !editable {
		attrs += ` disabled=""`
	}
	return fmt.Sprintf(`<input type="checkbox" class="task-list-item-checkbox" data-task="%d" aria-label="Done"%s/> `, index, attrs)
}
