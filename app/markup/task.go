package markup

import (
	"errors"
	"strings"

	emojiast "github.com/yuin/goldmark-emoji/ast"
	"github.com/yuin/goldmark/ast"
)

// ErrTask says that a text has no such task: it was edited meanwhile.
var ErrTask = errors.New("the task list has changed")

// Task is an item of a task list.
type Task struct {
	Index   int // as in the data-task attribute of its checkbox
	Checked bool
	Text    string // the item's first paragraph without syntax
	mark    int    // offset of the character between the brackets
	line    string // the rest of the item's first line, as written
}

// TaskList returns the items of all task lists in text, in their order; none
// where the text is too long or too deeply nested to be rendered.
func TaskList(text string) (tasks []Task) {
	if len(text) > MaxDocument {
		return nil
	}
	defer func() {
		if recover() != nil { // a fault in a parser
			tasks = nil
		}
	}()
	source := []byte(text)
	doc, err := parseWatched(std().comment.Parser(), source)
	if err != nil {
		return nil
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*taskNode); ok && entering {
			line, _, _ := strings.Cut(text[t.mark+2:], "\n")
			tasks = append(tasks, Task{
				Index: len(tasks), Checked: t.checked, mark: t.mark,
				Text: oneLine(nodeText(t.Parent(), source)), line: oneLine(line),
			})
		}
		return ast.WalkContinue, nil
	})
	return tasks
}

// Toggle checks or unchecks one item of text's task lists and changes no other
// byte. With an expected text (of the item's first paragraph or line) it fails
// with ErrTask unless the item at index has it or exactly one other has.
func Toggle(text string, index int, checked bool, expected string) (string, error) {
	tasks := TaskList(text)
	at := -1
	if index >= 0 && index < len(tasks) {
		at = index
	}
	if want := oneLine(expected); want != "" && (at < 0 || !tasks[at].is(want)) {
		at = -1
		for i := range tasks {
			if !tasks[i].is(want) {
				continue
			}
			if at >= 0 {
				return "", ErrTask
			}
			at = i
		}
	}
	if at < 0 {
		return "", ErrTask
	}
	m := tasks[at].mark
	if m < 1 || m+1 >= len(text) || text[m-1] != '[' || text[m+1] != ']' {
		return "", ErrTask
	}
	if tasks[at].Checked == checked {
		return text, nil
	}
	c := " "
	if checked {
		c = "x"
	}
	return text[:m] + c + text[m+1:], nil
}

func (t *Task) is(text string) bool { return t.Text == text || t.line == text }

// nodeText is the text of a paragraph without syntax.
func nodeText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *emojiast.Emoji:
			if n.Value.IsUnicode() {
				b.WriteString(string(n.Value.Unicode))
			}
		case *mathNode:
			b.WriteString(n.tex)
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
