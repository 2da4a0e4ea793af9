package highlight

import (
	"html"
	"html/template"
	"strings"
	"unicode/utf8"
)

// Span is a range of bytes of a line's text.
type Span struct{ Start, End int }

// Mark puts <mark class="class"> around ranges of a line that this package
// made. Ranges are in order, apart, and count bytes of the line's text, as
// shown: with valid UTF-8. Marks are closed before and opened after each tag.
func Mark(line template.HTML, ranges []Span, class string) template.HTML {
	if len(ranges) == 0 {
		return line
	}
	var (
		b    strings.Builder
		s    = string(line)
		pos  int // in the text
		open bool
	)
	start := `<mark class="` + html.EscapeString(class) + `">`
	step := func(size int) { // before a piece of text of size bytes
		for len(ranges) > 0 && pos >= ranges[0].End {
			ranges = ranges[1:]
		}
		in := size > 0 && len(ranges) > 0 && pos >= ranges[0].Start
		if in != open {
			if open {
				b.WriteString("</mark>")
			} else {
				b.WriteString(start)
			}
			open = in
		}
		pos += size
	}
	for s != "" {
		switch s[0] {
		case '<':
			step(0)
			end := strings.IndexByte(s, '>') + 1
			if end == 0 {
				end = len(s)
			}
			b.WriteString(s[:end])
			s = s[end:]
		case '&':
			end := strings.IndexByte(s, ';') + 1
			if end == 0 {
				end = len(s)
			}
			step(len(html.UnescapeString(s[:end])))
			b.WriteString(s[:end])
			s = s[end:]
		default:
			_, size := utf8.DecodeRuneInString(s)
			step(size)
			b.WriteString(s[:size])
			s = s[size:]
		}
	}
	step(0)
	return template.HTML(b.String()) //nolint:gosec // line was safe, and tags were added around text only
}
