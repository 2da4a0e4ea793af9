package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// alertTitles are the kinds of alerts and what stands above them.
// https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#alerts
func alertTitle(kind string) string {
	switch kind {
	case "note", "tip", "important", "warning", "caution":
		return strings.ToUpper(kind[:1]) + kind[1:]
	}
	return ""
}

// alertKind returns the kind of alert that a quote is, or "", and removes the
// line that says so. An alert inside another element is a plain quote.
func alertKind(q *ast.Blockquote, source []byte) string {
	if q.Parent() == nil || q.Parent().Kind() != ast.KindDocument {
		return ""
	}
	p, ok := q.FirstChild().(*ast.Paragraph)
	if !ok || p.Lines().Len() == 0 {
		return ""
	}
	line := p.Lines().At(0)
	mark := strings.TrimSpace(string(line.Value(source)))
	if len(mark) < 4 || !strings.HasPrefix(mark, "[!") || !strings.HasSuffix(mark, "]") {
		return ""
	}
	kind := strings.ToLower(mark[2 : len(mark)-1])
	if alertTitle(kind) == "" || p.Lines().Len() == 1 && p.NextSibling() == nil {
		return ""
	}
	var next ast.Node
	for c := p.FirstChild(); c != nil; c = next {
		next = c.NextSibling()
		t, isText := c.(*ast.Text)
		p.RemoveChild(p, c)
		if isText && (t.SoftLineBreak() || t.HardLineBreak()) {
			break
		}
	}
	if !p.HasChildren() {
		q.RemoveChild(q, p)
	}
	return kind
}
