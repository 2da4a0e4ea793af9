package git

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Display is name for people: bytes that are not UTF-8, and control and
// direction characters, which could deceive, are written as escapes.
func Display(name string) string {
	clean := true
	for _, r := range name {
		if r == utf8.RuneError || !displayable(r) {
			clean = false
			break
		}
	}
	if clean {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, name[i])
		case displayable(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += max(n, 1)
	}
	return b.String()
}

// displayable holds for what may be shown as it is. Joiners stay: emoji and
// several scripts need them.
func displayable(r rune) bool {
	switch {
	case r == ' ' || r == 0x200c || r == 0x200d:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return false
	}
	return !unicode.IsControl(r)
}

// quoteC writes s as git quotes paths: in double quotes with octal escapes.
func quoteC(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if c < 0x20 || c >= 0x7f {
				fmt.Fprintf(&b, `\%03o`, c)
			} else {
				b.WriteByte(c)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// unquoteC reads the string at the start of s that git quoted (see the
// core.quotePath setting) and is what follows it; ok is false when it is broken.
func unquoteC(s string) (value, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		c := s[i]
		if c == '"' {
			return b.String(), s[i+1:], true
		}
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		i++
		if i >= len(s) {
			return "", s, false
		}
		if j := strings.IndexByte(`abtnvfr"\`, s[i]); j >= 0 {
			b.WriteByte("\a\b\t\n\v\f\r\"\\"[j])
			continue
		}
		if i+3 > len(s) {
			return "", s, false
		}
		n, err := strconv.ParseUint(s[i:i+3], 8, 8)
		if err != nil {
			return "", s, false
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return "", s, false
}
