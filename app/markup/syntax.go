package markup

import (
	"github.com/yuin/goldmark"
	emoji "github.com/yuin/goldmark-emoji"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// newMarkdown builds the Markdown of this package: CommonMark, GitHub's
// extensions, footnotes, emoji and formulas. The HTML that it writes is not
// safe: sanitize does that.
func newMarkdown(opts ...renderer.Option) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(
			extension.Linkify, extension.Strikethrough, emoji.Emoji, extension.Footnote,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		),
		goldmark.WithParserOptions(
			parser.WithBlockParsers(util.Prioritized(watchBlock{}, 1), util.Prioritized(mathBlockParser{}, 650)),
			parser.WithParagraphTransformers(util.Prioritized(watchParagraph{}, 1)),
			parser.WithInlineParsers(
				util.Prioritized(watchInline{}, -1),
				util.Prioritized(taskParser{}, 0),
				util.Prioritized(mathParser{}, 150),
			),
			parser.WithASTTransformers(util.Prioritized(breakTrimmer{}, 500)),
		),
		goldmark.WithRendererOptions(append(opts,
			html.WithUnsafe(),
			renderer.WithNodeRenderers(util.Prioritized(slotRenderer{}, 100)),
		)...),
	)
}

// breakTrimmer removes spaces before line breaks. goldmark does so itself, but
// not where its search for bare addresses has looked at them one by one.
// https://spec.commonmark.org/0.31.2/#hard-line-breaks
type breakTrimmer struct{}

func (breakTrimmer) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	source := reader.Source()
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		t, ok := n.(*ast.Text)
		if !ok || !entering || !t.HardLineBreak() && !t.SoftLineBreak() {
			return ast.WalkContinue, nil
		}
		for t != nil {
			t.Segment = t.Segment.TrimRightSpace(source)
			if !t.Segment.IsEmpty() {
				break
			}
			t, _ = t.PreviousSibling().(*ast.Text)
			if t != nil && (t.SoftLineBreak() || t.HardLineBreak()) {
				break
			}
		}
		return ast.WalkContinue, nil
	})
}

// kindTask is the kind of a task list item's checkbox.
var kindTask = ast.NewNodeKind("Task")

// taskNode is a checkbox at the start of a list item. goldmark's own does not
// say where in the source it stands.
type taskNode struct {
	ast.BaseInline
	mark    int // offset in the source of the character between the brackets
	checked bool
}

func (n *taskNode) Kind() ast.NodeKind            { return kindTask }
func (n *taskNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// taskParser reads "[ ] " and "[x] " at the start of a list item.
// https://github.github.com/gfm/#task-list-items-extension-
type taskParser struct{}

func (taskParser) Trigger() []byte { return []byte{'['} }

func (taskParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	item, ok := parent.Parent().(*ast.ListItem)
	if !ok || item.FirstChild() != parent || parent.HasChildren() {
		return nil
	}
	line, segment := block.PeekLine()
	if len(line) < 4 || line[2] != ']' || !util.IsSpace(line[3]) {
		return nil
	}
	if c := line[1]; c != ' ' && c != 'x' && c != 'X' {
		return nil
	}
	// Nothing but a checkbox is text, as on GitHub.
	if util.IsBlank(line[3:]) {
		return nil
	}
	n := &taskNode{mark: segment.Start + 1 - segment.Padding, checked: line[1] != ' '}
	block.Advance(4)
	return n
}

// Kinds of slots, by whether they stand in a line or between lines.
var (
	kindSlotBlock  = ast.NewNodeKind("SlotBlock")
	kindSlotInline = ast.NewNodeKind("SlotInline")
)

// A slot takes the place of a node whose HTML is made by this package. It is
// written as an element that survives sanitising and whose class holds a
// number that the text's author cannot guess; fill puts the HTML there.
type slotBlock struct {
	ast.BaseBlock
	before, after string
}

func (n *slotBlock) Kind() ast.NodeKind            { return kindSlotBlock }
func (n *slotBlock) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

type slotInline struct {
	ast.BaseInline
	before, after string
}

func (n *slotInline) Kind() ast.NodeKind            { return kindSlotInline }
func (n *slotInline) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// slotRenderer writes slots.
type slotRenderer struct{}

func (slotRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	write := func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
		var before, after string
		switch n := node.(type) {
		case *slotBlock:
			before, after = n.before, n.after
		case *slotInline:
			before, after = n.before, n.after
		}
		if entering {
			_, _ = w.WriteString(before)
		} else {
			_, _ = w.WriteString(after)
		}
		return ast.WalkContinue, nil
	}
	for _, kind := range []ast.NodeKind{kindSlotBlock, kindSlotInline} {
		reg.Register(kind, write)
	}
	reg.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			writeRaw(w, source, n.(*ast.RawHTML).Segments)
		}
		return ast.WalkSkipChildren, nil
	})
	reg.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		block := n.(*ast.HTMLBlock)
		if entering {
			writeRaw(w, source, block.Lines())
		} else if block.HasClosure() {
			_, _ = w.Write(filterTags(block.ClosureLine.Value(source)))
		}
		return ast.WalkContinue, nil
	})
	// Every node of these kinds is replaced by a slot before rendering.
	nothing := func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkSkipChildren, nil
	}
	for _, kind := range []ast.NodeKind{kindMath, kindMathBlock, kindTask, extast.KindTaskCheckBox} {
		reg.Register(kind, nothing)
	}
}

// writeRaw writes an author's HTML; a tag may go over several lines.
func writeRaw(w util.BufWriter, source []byte, lines *text.Segments) {
	var raw []byte
	for i := range lines.Len() {
		line := lines.At(i)
		raw = append(raw, line.Value(source)...)
	}
	_, _ = w.Write(filterTags(raw))
}
