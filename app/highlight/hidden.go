package highlight

import (
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A HiddenRange is a character that a reader does not see but a compiler or a
// model does, or that changes the order in which text is shown.
type HiddenRange struct {
	Start, End int // bytes of the line
	Rune       rune
	Bidi       bool   // changes the order of text (Trojan Source, CVE-2021-42574)
	Name       string // such as "right-to-left override"
}

// Hidden returns the hidden characters of a line: controls of direction, zero
// widths, fillers, tags, and control characters other than tabs. Accents,
// no-break spaces and joiners where a script or an emoji needs them are plain.
func Hidden(line string) []HiddenRange {
	if !hasHidden(line) {
		return nil
	}
	var list []HiddenRange
	prev := rune(-1)
	for i, r := range line {
		name, bidi := hiddenName(r)
		if name != "" && !needed(line, i, r, prev) {
			list = append(list, HiddenRange{Start: i, End: i + utf8.RuneLen(r), Rune: r, Bidi: bidi, Name: name})
		}
		if r != '\u200d' && r != '\ufe0f' {
			prev = r
		}
	}
	return list
}

// hasHidden is a quick test that is right for almost all lines.
func hasHidden(line string) bool {
	for i := 0; i < len(line); i++ {
		if c := line[i]; c < 0x20 && c != '\t' && c != '\n' || c == 0x7f || c >= 0x80 {
			for j, r := range line[i:] {
				if name, _ := hiddenName(r); name != "" && !needed(line, i+j, r, lastRune(line[:i+j])) {
					return true
				}
			}
			return false
		}
	}
	return false
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "\u200d\ufe0f"))
	return r
}

// hiddenName names a character that may be hidden.
// https://www.unicode.org/reports/tr36/ and https://trojansource.codes
func hiddenName(r rune) (name string, bidi bool) {
	switch r {
	case '\u202a':
		return "left-to-right embedding", true
	case '\u202b':
		return "right-to-left embedding", true
	case '\u202c':
		return "end of direction", true
	case '\u202d':
		return "left-to-right override", true
	case '\u202e':
		return "right-to-left override", true
	case '\u2066':
		return "left-to-right isolate", true
	case '\u2067':
		return "right-to-left isolate", true
	case '\u2068':
		return "first strong isolate", true
	case '\u2069':
		return "end of isolate", true
	case '\u200e', '\u200f', '\u061c':
		return "direction mark", true
	case '\u200b', '\ufeff', '\u2060', '\u180e':
		return "zero-width space", false
	case '\u200c':
		return "zero-width non-joiner", false
	case '\u200d':
		return "zero-width joiner", false
	case '\u00ad':
		return "soft hyphen", false
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\u17b4', '\u17b5':
		return "blank letter", false
	case '\u2061', '\u2062', '\u2063', '\u2064', '\u206a', '\u206b', '\u206c', '\u206d', '\u206e', '\u206f':
		return "invisible operator", false
	case '\u2028', '\u2029', '\u0085':
		return "line separator", false
	case 0x7f:
		return "delete", false
	}
	switch {
	case r < 0x20 && r != '\t' && r != '\n', 0x80 <= r && r < 0xa0:
		return "control character", false
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0100 <= r && r <= 0xe01ef:
		return "variation selector", false
	case 0xe0000 <= r && r <= 0xe007f:
		return "tag character", false
	}
	return "", false
}

// needed says whether the character r at line[i] has its lawful use there.
func needed(line string, i int, r, prev rune) bool {
	switch {
	case r == '\u200d', r == '\u200c':
		return prev > 0x7f && (unicode.IsLetter(prev) || unicode.IsMark(prev) || emojiLike(prev))
	case r == '\u200e' || r == '\u200f' || r == '\u061c':
		// Marks are common in text that runs from right to left.
		return unicode.Is(unicode.Arabic, prev) || unicode.Is(unicode.Hebrew, prev)
	case r == '\ufe0f' || r == '\ufe0e':
		return emojiLike(prev) || prev == '#' || prev == '*' || '0' <= prev && prev <= '9'
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0100 <= r && r <= 0xe01ef:
		return unicode.Is(unicode.Han, prev) || unicode.Is(unicode.Mongolian, prev) || unicode.Is(unicode.Phags_Pa, prev)
	case 0xe0020 <= r && r <= 0xe007f:
		// Flags of regions: a black flag, then tags.
		at := strings.LastIndex(line[:i], "\U0001F3F4")
		if at < 0 || i-at > 40 {
			return false
		}
		for _, c := range line[at+4 : i] {
			if c < 0xe0020 || c > 0xe007f {
				return false
			}
		}
		return true
	}
	return false
}

func emojiLike(r rune) bool {
	return r >= 0x2190 && unicode.IsSymbol(r) || r == 0xa9 || r == 0xae || r == 0x203c || r == 0x2049 ||
		r == 0x2122 || r == 0x2139 || r == 0x3030 || r == 0x303d || 0x1f000 <= r && r <= 0x1faff
}

// writeHidden shows a hidden character by its number; bdi keeps what it does
// to the direction of text within it.
func writeHidden(b *strings.Builder, char string, h HiddenRange) {
	if h.Rune < 0x20 || h.Rune == 0x7f || 0x80 <= h.Rune && h.Rune < 0xa0 {
		char = "" // not allowed in HTML
	}
	fmt.Fprintf(b, `<bdi class="hidden-char" data-char="U+%04X" title="%s">%s</bdi>`, h.Rune, html.EscapeString(h.Name), char)
}
