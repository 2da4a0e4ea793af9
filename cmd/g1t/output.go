package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// clean takes away what would steer a terminal: other people choose titles and
// bodies. Line ends and tabs stay.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r < ' ', r >= 0x7f && r < 0xa0, r == utf8.RuneError,
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // text that runs backwards
			return -1
		}
		return r
	}, s)
}

// cell is clean on one line, without tabs.
func cell(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

func (t *tool) style(code, s string) string {
	if !t.colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *tool) bold(s string) string  { return t.style("1", s) }
func (t *tool) muted(s string) string { return t.style("2", s) }

// state colours the state of an issue or pull request.
func (t *tool) state(s string) string {
	switch s {
	case "open":
		return t.style("32", s)
	case "merged":
		return t.style("35", s)
	case "closed":
		return t.style("31", s)
	}
	return t.muted(s)
}

func (t *tool) printf(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }

// note tells people something beside the output.
func (t *tool) note(format string, args ...any) { fmt.Fprintf(t.err, format+"\n", args...) }

// column is a column of a table; the one that Gives shrinks to the terminal.
type column struct {
	Head  string
	Gives bool
	Right bool
	Style func(string) string
}

// table writes rows: aligned under headings on a terminal, else separated by
// tabs and without headings.
func (t *tool) table(cols []column, rows [][]string) {
	for _, row := range rows {
		for i := range row {
			row[i] = cell(row[i])
		}
	}
	if !t.tty {
		for _, row := range rows {
			t.printf("%s\n", strings.Join(row, "\t"))
		}
		return
	}
	widths := make([]int, len(cols))
	for i, c := range cols {
		widths[i] = utf8.RuneCountInString(c.Head)
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	total := 2 * (len(cols) - 1)
	for _, w := range widths {
		total += w
	}
	for i, c := range cols {
		if c.Gives && total > t.width {
			widths[i] = max(12, widths[i]-(total-t.width))
		}
	}
	line := func(row []string, style func(i int, s string) string) {
		var b strings.Builder
		for i, s := range row {
			if i > 0 {
				b.WriteString("  ")
			}
			s = shorten(s, widths[i])
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s))
			switch {
			case cols[i].Right:
				b.WriteString(pad + style(i, s))
			case i == len(row)-1:
				b.WriteString(style(i, s))
			default:
				b.WriteString(style(i, s) + pad)
			}
		}
		t.printf("%s\n", b.String())
	}
	heads := make([]string, len(cols))
	for i, c := range cols {
		heads[i] = c.Head
	}
	line(heads, func(_ int, s string) string { return t.muted(s) })
	for _, row := range rows {
		line(row, func(i int, s string) string {
			if cols[i].Style != nil {
				return cols[i].Style(s)
			}
			return s
		})
	}
}

func shorten(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

// asJSON writes v, or of each object only the fields that --json names.
func (t *tool) asJSON(v json.RawMessage) error {
	var out any = v
	if t.json != "*" {
		var err error
		if out, err = pick(v, strings.Split(t.json, ",")); err != nil {
			return err
		}
	}
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	if t.tty {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(out)
}

func pick(v json.RawMessage, fields []string) (any, error) {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil {
		out := make([]any, len(list))
		for i, item := range list {
			var err error
			if out[i], err = pick(item, fields); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(v, &doc); err != nil {
		return nil, err
	}
	out := make(map[string]json.RawMessage, len(fields))
	for _, f := range fields {
		value, ok := doc[f]
		if !ok {
			return nil, usagef("there is no field %q", f)
		}
		out[f] = value
	}
	return out, nil
}

// ago is a time as people say it on a terminal, RFC 3339 in a pipe.
func (t *tool) ago(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	if !t.tty {
		return at.UTC().Format(time.RFC3339)
	}
	d := time.Since(at)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
	return at.Local().Format(time.DateOnly)
}

// text writes a body, indented on a terminal.
func (t *tool) text(w io.Writer, body string) {
	body = strings.TrimRight(clean(strings.ReplaceAll(body, "\r\n", "\n")), "\n")
	if body == "" {
		return
	}
	for line := range strings.SplitSeq(body, "\n") {
		if t.tty && line != "" {
			line = "  " + line
		}
		fmt.Fprintln(w, line)
	}
}
