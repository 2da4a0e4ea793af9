package highlight

import (
	"bytes"
	"context"
	"encoding/binary"
	"html"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

// Limits. Longer files are shown without colours.
const (
	// MaxBytes of a file are coloured.
	MaxBytes = 512 << 10
	// MaxLine is how long a line may be, in bytes: longer ones are made by
	// programs, and some lexers take a time that grows with their square.
	MaxLine = 10_000
	// MaxTime is how long the colouring of one file may take.
	MaxTime = 4 * time.Second
)

// File is a source file for showing.
type File struct {
	// Lines holds the HTML of each line, without line breaks. Spans are closed
	// at the end of a line and opened again on the next.
	Lines []template.HTML
	// Language is the name of the file's language, or "" where unknown.
	Language string
	// Coloured is false where the file is too long, its language unknown, or
	// its colouring took too long.
	Coloured bool
	// Invalid says that the file is not UTF-8; what is no character is shown
	// as U+FFFD.
	Invalid bool
	// UTF16 says that the file is UTF-16, with a byte order mark.
	UTF16 bool
	// CRLF says that lines end with CR LF (all or most of them).
	CRLF bool
	// NoNewline says that the last line has no line break.
	NoNewline bool
	// Hidden are the indexes of lines with hidden characters.
	Hidden []int
}

// Bytes is about how much memory f takes.
func (f *File) Bytes() int64 {
	n := int64(128)
	for _, l := range f.Lines {
		n += int64(len(l)) + 16
	}
	return n + int64(8*len(f.Hidden))
}

// Lines colours a file whose language is told by its name and content. It
// always returns all lines; when ctx ends they have no colours.
func Lines(ctx context.Context, name string, src []byte) File {
	return lines(ctx, lexerFor(name, src), src, MaxTime)
}

// LinesIn colours a file in a language that is known, by its name or alias.
func LinesIn(ctx context.Context, language string, src []byte) File {
	return lines(ctx, lexerNamed(language), src, MaxTime)
}

func lines(ctx context.Context, lexer chroma.Lexer, src []byte, limit time.Duration) File {
	text, f := prepare(src)
	if lexer != nil {
		f.Language = LanguageNamed(lexer.Config().Name).Name
	}
	if text == "" {
		return f
	}
	long := len(text) > MaxBytes || longestLine(text) > MaxLine
	if lexer != nil && !long && lexer.Config().Name != "plaintext" {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		if out, ok := colour(ctx, lexer, text); ok {
			f.Lines, f.Coloured = out, true
		}
	}
	if !f.Coloured {
		for line := range strings.Lines(text) {
			f.Lines = append(f.Lines, plainLine(strings.TrimSuffix(line, "\n")))
		}
	}
	i := 0
	for line := range strings.Lines(text) {
		if hasHidden(line) {
			f.Hidden = append(f.Hidden, i)
		}
		i++
	}
	return f
}

// prepare makes valid UTF-8 with LF line ends of src. A byte order mark at the
// start is no part of the text.
func prepare(src []byte) (text string, f File) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if little := bytes.HasPrefix(src, []byte("\xff\xfe")); little || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		src, f.UTF16 = fromUTF16(src[2:], little), true
	}
	f.Invalid = !utf8.Valid(src)
	f.NoNewline = len(src) > 0 && src[len(src)-1] != '\n'
	crlf := bytes.Count(src, []byte("\r\n"))
	f.CRLF = crlf > 0 && crlf*2 >= bytes.Count(src, []byte("\n"))
	text = string(src)
	if f.Invalid {
		text = replaceInvalid(text)
	}
	if crlf > 0 {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	// A CR in the middle of a line would break it in HTML, and NUL is no
	// character there.
	if strings.ContainsAny(text, "\r\x00") {
		text = strings.NewReplacer("\r", "\u240d", "\x00", "\u2400").Replace(text)
	}
	return text, f
}

// fromUTF16 turns UTF-16 of either byte order into UTF-8. What is no character
// becomes U+FFFD.
func fromUTF16(src []byte, little bool) []byte {
	var order binary.ByteOrder = binary.BigEndian
	if little {
		order = binary.LittleEndian
	}
	units := make([]uint16, len(src)/2)
	for i := range units {
		units[i] = order.Uint16(src[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// replaceInvalid puts U+FFFD in place of each byte that is no UTF-8.
func replaceInvalid(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s { // broken bytes come as U+FFFD one by one
		b.WriteRune(r)
	}
	return b.String()
}

func longestLine(text string) int {
	longest := 0
	for line := range strings.Lines(text) {
		longest = max(longest, len(line))
	}
	return longest
}

// colour runs the lexer and cuts its tokens into lines; false where ctx ended
// or the lexer lost part of the text.
func colour(ctx context.Context, lexer chroma.Lexer, text string) (out []template.HTML, ok bool) {
	defer func() {
		if recover() != nil { // lexers are many and of mixed quality
			out, ok = nil, false
		}
	}()
	it, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil, false
	}
	w := lineWriter{lines: make([]template.HTML, 0, strings.Count(text, "\n")+1)}
	rest, n := text, 0
	for t := it(); t != chroma.EOF; t = it() {
		if n++; n%64 == 0 && ctx.Err() != nil {
			return nil, false
		}
		value := t.Value
		if !strings.HasPrefix(rest, value) {
			// Some lexers add a line break at the end.
			if value = strings.TrimSuffix(value, "\n"); value != rest {
				return nil, false
			}
		}
		rest = rest[len(value):]
		w.write(class(t.Type), value)
	}
	if rest != "" || ctx.Err() != nil {
		return nil, false
	}
	return w.finish(!strings.HasSuffix(text, "\n")), true
}

// class returns the short class name of a type of token, or "".
func class(t chroma.TokenType) string {
	for ; t > 0; t = t.Parent() {
		if c, ok := chroma.StandardTypes[t]; ok {
			switch c {
			case "w", "x", "n", "p", "nx", "err": // shown like plain text; many lexers err
				return ""
			}
			return c
		}
	}
	return ""
}

// Classes are the class names of tokens, for the stylesheet. Names, white
// space and punctuation have none. Hidden characters have hidden-char.
func Classes() []string {
	var list []string
	for t := range chroma.StandardTypes {
		if c := class(t); t > 0 && c != "" && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	slices.Sort(list)
	return list
}

// lineWriter gathers tokens into lines. Neighbours of one class share a span.
type lineWriter struct {
	lines []template.HTML
	line  strings.Builder
	class string // of the open span
}

func (w *lineWriter) write(class, value string) {
	for {
		part, rest, more := strings.Cut(value, "\n")
		if part != "" {
			if class != w.class {
				w.close()
				if class != "" {
					w.line.WriteString(`<span class="` + class + `">`)
				}
				w.class = class
			}
			writeText(&w.line, part)
		}
		if !more {
			return
		}
		w.end()
		value = rest
	}
}

func (w *lineWriter) close() {
	if w.class != "" {
		w.line.WriteString("</span>")
		w.class = ""
	}
}

func (w *lineWriter) end() {
	w.close()
	w.lines = append(w.lines, template.HTML(w.line.String())) //nolint:gosec // escaped by writeText
	w.line.Reset()
}

func (w *lineWriter) finish(open bool) []template.HTML {
	if open {
		w.end()
	}
	return w.lines
}

func plainLine(s string) template.HTML {
	var b strings.Builder
	writeText(&b, s)
	return template.HTML(b.String()) //nolint:gosec // escaped by writeText
}

// writeText escapes s and makes hidden characters visible.
func writeText(b *strings.Builder, s string) {
	at := 0
	for _, h := range Hidden(s) {
		b.WriteString(html.EscapeString(s[at:h.Start]))
		writeHidden(b, s[h.Start:h.End], h)
		at = h.End
	}
	b.WriteString(html.EscapeString(s[at:]))
}
