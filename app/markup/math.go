package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Node kinds of this package.
var (
	kindMath      = ast.NewNodeKind("Math")
	kindMathBlock = ast.NewNodeKind("MathBlock")
)

// mathNode is a formula inside a line.
type mathNode struct {
	ast.BaseInline
	tex     string
	display bool // $$…$$
}

func (n *mathNode) Kind() ast.NodeKind            { return kindMath }
func (n *mathNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// mathBlock is a formula that stands alone between lines of $$.
type mathBlock struct {
	ast.BaseBlock
	done bool
}

func (n *mathBlock) Kind() ast.NodeKind            { return kindMathBlock }
func (n *mathBlock) IsRaw() bool                   { return true }
func (n *mathBlock) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// mathParser reads $…$, $`…`$ and $$…$$ within a paragraph. As on GitHub a
// dollar opens a formula only when no word precedes it and no space follows,
// and closes one only when no space precedes it and no digit follows, so that
// prices stay prices.
// https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/writing-mathematical-expressions
type mathParser struct{}

func (mathParser) Trigger() []byte { return []byte{'$'} }

func (mathParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	if r := block.PrecendingCharacter(); r == '$' || r == '\\' || r >= 0x80 || r < 0x80 && util.IsAlphaNumeric(byte(r)) {
		return nil
	}
	line, _ := block.PeekLine()
	if bytes.HasPrefix(line, []byte("$`")) {
		end := bytes.Index(line[2:], []byte("`$"))
		if end <= 0 {
			return nil
		}
		block.Advance(end + 4)
		return &mathNode{tex: string(line[2 : 2+end])}
	}
	if bytes.HasPrefix(line, []byte("$$")) {
		end := bytes.Index(line[2:], []byte("$$"))
		if end <= 0 {
			return nil
		}
		block.Advance(end + 4)
		return &mathNode{tex: string(bytes.TrimSpace(line[2 : 2+end])), display: true}
	}
	if len(line) < 3 || util.IsSpace(line[1]) {
		return nil
	}
	for i := 2; i < len(line); i++ {
		switch {
		case line[i] == '\\':
			i++
		case line[i] == '$':
			if util.IsSpace(line[i-1]) || i+1 < len(line) && (util.IsAlphaNumeric(line[i+1]) || line[i+1] == '$') {
				return nil
			}
			tex := string(line[1:i])
			block.Advance(i + 1)
			return &mathNode{tex: tex}
		}
	}
	return nil
}

// mathBlockParser reads a formula that begins with $$ at the start of a line
// and ends with $$ at the end of the same or a later one.
type mathBlockParser struct{}

// mathLook is how many bytes ahead the end of a formula is looked for.
const mathLook = 8 << 10

func (mathBlockParser) Trigger() []byte { return []byte{'$'} }

func (mathBlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	pos := pc.BlockOffset()
	if pos < 0 || !bytes.HasPrefix(line[pos:], []byte("$$")) {
		return nil, parser.NoChildren
	}
	n := &mathBlock{}
	rest := line[pos+2:]
	start := segment.Start + pos + 2 - segment.Padding
	if body, ok := bytes.CutSuffix(bytes.TrimSpace(rest), []byte("$$")); ok && len(bytes.TrimSpace(body)) > 0 {
		if bytes.Contains(body, []byte("$$")) {
			return nil, parser.NoChildren // several formulas in a line of text
		}
		n.Lines().Append(text.NewSegment(start, start+bytes.LastIndex(rest, []byte("$$"))))
		n.done = true
		reader.AdvanceToEOL()
		return n, parser.NoChildren
	}
	if bytes.Contains(rest, []byte("$$")) || !mathEnds(reader.Source(), segment.Stop) {
		return nil, parser.NoChildren
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		n.Lines().Append(text.NewSegment(start, segment.Stop))
	}
	reader.AdvanceToEOL()
	return n, parser.NoChildren
}

func (mathBlockParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	n := node.(*mathBlock)
	if n.done {
		return parser.Close
	}
	line, segment := reader.PeekLine()
	if at := bytes.Index(line, []byte("$$")); at >= 0 {
		n.Lines().Append(text.NewSegment(segment.Start, segment.Start+at-segment.Padding))
		reader.AdvanceToEOL()
		return parser.Close
	}
	n.Lines().Append(segment)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (mathBlockParser) Close(ast.Node, text.Reader, parser.Context) {}
func (mathBlockParser) CanInterruptParagraph() bool                 { return true }
func (mathBlockParser) CanAcceptIndentedLine() bool                 { return false }

// mathEnds says whether the first $$ in source after from comes soon, at the
// end of a line and before an empty line.
func mathEnds(source []byte, from int) bool {
	ahead := source[min(from, len(source)):min(from+mathLook, len(source))]
	for line := range bytes.Lines(ahead) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return false
		}
		if at := bytes.Index(line, []byte("$$")); at >= 0 {
			return at == len(line)-2
		}
	}
	return false
}
