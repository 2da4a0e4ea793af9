package git

import (
	"errors"
	"strings"
	"testing"
)

func TestEditText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, change, want string }{
		{"CRLF", "a\r\nb\r\nc\r\n", "a\nB\nc\nd\n", "a\r\nB\r\nc\r\nd\r\n"},
		{"LF from a form", "a\nb\n", "a\r\nB\r\n", "a\nB\n"},
		{"mixed", "a\r\nb\nc\r\nd\r\n", "a\nb\nC\nd\n", "a\r\nb\nC\r\nd\r\n"},
		{"lone carriage returns", "a\rb\rc\r", "a\nx\nc\n", "a\rx\rc\r"},
		{"no newline at the end stays", "a\nb", "A\nb", "A\nb"},
		{"newline added at the end", "a\r\nb", "a\nb\n", "a\r\nb\r\n"},
		{"newline taken from the end", "a\r\nb\r\n", "a\nb", "a\r\nb"},
		{"line after one without end", "a\r\nb", "a\nb\nc\n", "a\r\nb\r\nc\r\n"},
		{"Latin-1", "caf\xe9\nx\n", "café\nthé\n", "caf\xe9\nth\xe9\n"},
		{"byte order mark", "\ufeffa\r\n", "b\n", "\ufeffb\r\n"},
		{"a new file", "", "a\r\nb\r\n", "a\nb\n"},
		{"emptied", "a\r\n", "", ""},
		{"moved lines", "a\nb\r\nc\nd\n", "c\nb\nd\n", "c\nb\nd\n"},
		{"leading line feed", "\n\na\r\n", "\n\nb\n", "\n\nb\n"},
	} {
		got, err := EditText(c.old, c.change)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, want %q (%v)", c.name, got, c.want, err)
		}
		text, ok := EditableText(c.old)
		if !ok {
			t.Errorf("%s is no text", c.name)
		}
		if same, err := EditText(c.old, strings.ReplaceAll(text, "\n", "\r\n")); err != nil || same != c.old {
			t.Errorf("%s: unchanged it becomes %q (%v)", c.name, same, err)
		}
	}
	if _, err := EditText("\xe9\n", "日本\n"); !errors.Is(err, ErrEncoding) {
		t.Errorf("not in Latin-1: %v", err)
	}
	if _, ok := EditableText("a\x00"); ok {
		t.Error("a zero byte is text")
	}
	many := strings.Repeat("x\r\ny\n", 3000)
	text, _ := EditableText(many)
	if got, err := EditText(many, "new\n"+strings.Replace(text, "y\n", "", 1)+"end\n"); err != nil || len(got) < len(many) || !strings.HasPrefix(got, "new\n") && !strings.HasPrefix(got, "new\r\n") {
		t.Errorf("a large file: %d bytes, %v", len(got), err)
	}
}
