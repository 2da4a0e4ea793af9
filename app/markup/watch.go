package markup

import (
	"bytes"
	"errors"
	"time"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Limits on the work that one text may cause.
const (
	maxTime   = 3 * time.Second
	maxDepth  = 100       // of blocks within blocks
	maxCells  = 200_000   // of one table
	maxLines  = 20_000    // of one paragraph
	maxOutput = 8 << 20   // bytes of HTML
	maxExpand = 100 << 10 // bytes that reference links may add, or the text's own size
)

var (
	errTooSlow = errors.New("text takes too long to render")
	errTooDeep = errors.New("text is nested too deeply")
	errTooWide = errors.New("text has too large a table")
)

// stop is thrown through a parser that has no other way to end.
type stop struct{ err error }

// watchKey is where a parser's context holds its *watch.
var watchKey = parser.NewContextKey()

// watch stops the parsing of a text that takes too long: parsers of Markdown
// have cases in which their time grows with the square of the text. It does so
// as a parser that is tried at every block and at every sign of syntax, and
// never takes any.
type watch struct {
	until time.Time
	count int
}

func (w *watch) tick() {
	if w.count++; w.count%64 == 0 && time.Now().After(w.until) {
		panic(stop{errTooSlow})
	}
}

// parseWatched parses source under the limits above.
func parseWatched(p parser.Parser, source []byte) (doc ast.Node, err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case stop:
			doc, err = nil, v.err
		default:
			panic(v)
		}
	}()
	pc := parser.NewContext()
	pc.Set(watchKey, &watch{until: time.Now().Add(maxTime)})
	return p.Parse(text.NewReader(source), parser.WithContext(pc)), nil
}

// watchInline is tried at each sign that may begin an inline element.
type watchInline struct{}

func (watchInline) Trigger() []byte {
	return []byte{'[', ']', '!', '(', '<', '*', '_', '~', '`', '$', ':', ' '}
}

func (watchInline) Parse(_ ast.Node, _ text.Reader, pc parser.Context) ast.Node {
	if w, ok := pc.Get(watchKey).(*watch); ok {
		w.tick()
	}
	return nil
}

// watchBlock is tried at each place where a block may begin.
type watchBlock struct{}

// Trigger names each sign that begins a block; a parser without signs would be
// tried after those that have them, which is too late.
func (watchBlock) Trigger() []byte { return []byte(">-+*#`~<|$[=_0123456789") }

func (watchBlock) Open(parent ast.Node, _ text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if w, ok := pc.Get(watchKey).(*watch); ok {
		w.tick()
	}
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if depth++; depth > maxDepth {
			panic(stop{errTooDeep})
		}
	}
	return nil, parser.NoChildren
}

func (watchBlock) Continue(ast.Node, text.Reader, parser.Context) parser.State { return parser.Close }
func (watchBlock) Close(ast.Node, text.Reader, parser.Context)                 {}
func (watchBlock) CanInterruptParagraph() bool                                 { return true }
func (watchBlock) CanAcceptIndentedLine() bool                                 { return true }

// watchParagraph looks at paragraphs before they become lists of references,
// which takes the square of their lines, or tables, in which each short row
// gets all the columns of the head.
type watchParagraph struct{}

func (watchParagraph) Transform(p *ast.Paragraph, reader text.Reader, _ parser.Context) {
	lines := p.Lines()
	if lines.Len() > maxLines {
		panic(stop{errTooLong})
	}
	for i := range lines.Len() {
		line := lines.At(i)
		v := line.Value(reader.Source())
		if len(bytes.Trim(v, "|:- \t\r\n")) == 0 && bytes.Count(v, []byte("|"))*lines.Len() > maxCells {
			panic(stop{errTooWide})
		}
	}
}

// expansion bounds how much longer a text becomes by links whose long address
// is written once and used often.
type expansion struct{ left int }

// allow says whether a link to a reference may stay a link.
func (e *expansion) allow(ref *ast.ReferenceLink, destination, title []byte) bool {
	if ref == nil {
		return true
	}
	e.left -= len(destination) + len(title)
	return e.left >= 0
}
