package git

import (
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// ErrEncoding says that a text holds characters that the encoding of the file lacks.
var ErrEncoding = errors.New("text cannot be written in the encoding of the file")

const byteOrderMark = "\ufeff"

// EditableText is a file as people edit it: in UTF-8, with line feeds as line
// ends and without a byte order mark. ok is false for what is no text.
func EditableText(data string) (text string, ok bool) {
	if strings.IndexByte(data, 0) >= 0 {
		return "", false
	}
	var b strings.Builder
	for _, l := range splitLines(strings.TrimPrefix(data, byteOrderMark)) {
		b.WriteString(DecodeText(l.text))
		if l.end != "" {
			b.WriteByte('\n')
		}
	}
	return b.String(), true
}

// EditText is the file old with its text (see EditableText) replaced. Lines
// that are the same keep their bytes: line ends, encoding, what is not UTF-8.
// New lines end as most lines of the file do, and are in its encoding. Line
// ends in text may be of any kind. ErrEncoding when a character cannot be
// written.
func EditText(old, text string) (string, error) {
	mark := ""
	if rest, ok := strings.CutPrefix(old, byteOrderMark); ok {
		mark, old = byteOrderMark, rest
	}
	before, after := splitLines(old), splitLines(text)
	kept := matchLines(before, after)
	ending, plain := commonEnd(before), utf8.ValidString(old)
	var b strings.Builder
	b.WriteString(mark)
	for i, l := range after {
		if k := kept[i]; k >= 0 {
			b.WriteString(before[k].text)
			b.WriteString(endOf(l, before[k].end, ending))
			continue
		}
		raw, err := encodeLine(l.text, plain)
		if err != nil {
			return "", err
		}
		b.WriteString(raw)
		b.WriteString(endOf(l, "", ending))
	}
	return b.String(), nil
}

// endOf is how a line of the new text ends: as it did, or as most lines do.
func endOf(l textLine, was, usual string) string {
	switch {
	case l.end == "":
		return ""
	case was != "":
		return was
	}
	return usual
}

func encodeLine(s string, plain bool) (string, error) {
	if plain || ascii(s) {
		return s, nil
	}
	raw, err := charmap.Windows1252.NewEncoder().String(s)
	if err != nil {
		return "", ErrEncoding
	}
	return raw, nil
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// textLine is a line and what ends it: "\n", "\r\n", "\r", or nothing at the
// end of a file.
type textLine struct{ text, end string }

func splitLines(s string) []textLine {
	var lines []textLine
	for s != "" {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			return append(lines, textLine{s, ""})
		}
		end := s[i : i+1]
		if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
			end = s[i : i+2]
		}
		lines = append(lines, textLine{s[:i], end})
		s = s[i+len(end):]
	}
	return lines
}

// commonEnd is how most lines end.
func commonEnd(lines []textLine) string {
	counts := map[string]int{}
	best := "\n"
	for _, l := range lines {
		if l.end == "" {
			continue
		}
		if counts[l.end]++; counts[l.end] > counts[best] {
			best = l.end
		}
	}
	return best
}

// maxMatch bounds what matchLines compares line by line: its time and memory
// grow with the product.
const maxMatch = 4_000_000

// matchLines says for each new line which old one it is, -1 for none, in
// order.
func matchLines(before, after []textLine) []int {
	kept := make([]int, len(after))
	old := make([]string, len(before))
	for i, l := range before {
		old[i] = DecodeText(l.text)
	}
	start := 0
	for start < len(old) && start < len(after) && old[start] == after[start].text {
		kept[start] = start
		start++
	}
	a, b := len(old), len(after)
	for a > start && b > start && old[a-1] == after[b-1].text {
		a, b = a-1, b-1
		kept[b] = a
	}
	for i := start; i < b; i++ {
		kept[i] = -1
	}
	if (a-start)*(b-start) <= maxMatch {
		matchMiddle(old[start:a], after[start:b], kept[start:b], start)
	} else {
		matchGreedy(old[start:a], after[start:b], kept[start:b], start)
	}
	return kept
}

// matchMiddle finds the longest common subsequence.
func matchMiddle(old []string, after []textLine, kept []int, offset int) {
	width := len(after) + 1
	best := make([]int32, (len(old)+1)*width)
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if old[i] == after[j].text {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(old) && j < len(after); {
		switch {
		case old[i] == after[j].text:
			kept[j] = offset + i
			i, j = i+1, j+1
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}

// matchGreedy takes for each new line the next old one of the same text.
func matchGreedy(old []string, after []textLine, kept []int, offset int) {
	places := make(map[string][]int, len(old))
	for i, l := range old {
		places[l] = append(places[l], i)
	}
	from := 0
	for j, l := range after {
		list := places[l.text]
		for len(list) > 0 && list[0] < from {
			list = list[1:]
		}
		places[l.text] = list
		if len(list) > 0 {
			kept[j], from = offset+list[0], list[0]+1
		}
	}
}
