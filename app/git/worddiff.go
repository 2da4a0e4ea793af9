package git

import (
	"unicode"
	"unicode/utf8"
)

// Range is a part of a line, in bytes.
type Range struct {
	Start, End int
}

// maxWordTokens bounds what WordDiff compares: its time grows with the square.
const maxWordTokens = 400

// WordDiff is the parts of two versions of a line that differ. Both are empty
// when the lines are the same, or have so little in common that marks would
// not help.
func WordDiff(before, after string) (inBefore, inAfter []Range) {
	if before == after {
		return nil, nil
	}
	a, b := tokens(before), tokens(after)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	keepA, keepB := make([]bool, len(a)), make([]bool, len(b))
	for i := range a {
		keepA[i] = i < start || i >= endA
	}
	for i := range b {
		keepB[i] = i < start || i >= endB
	}
	if endA-start <= maxWordTokens && endB-start <= maxWordTokens {
		common(a[start:endA], b[start:endB], keepA[start:endA], keepB[start:endB])
	}
	if !alike(a, keepA, len(before)) && !alike(b, keepB, len(after)) {
		return nil, nil
	}
	return changed(a, keepA), changed(b, keepB)
}

// tokens splits a line into words, blanks and single other characters.
func tokens(s string) []string {
	var list []string
	for start := 0; start < len(s); {
		r, n := utf8.DecodeRuneInString(s[start:])
		kind := tokenKind(r)
		end := start + n
		for kind != 0 && end < len(s) {
			r, n := utf8.DecodeRuneInString(s[end:])
			if tokenKind(r) != kind {
				break
			}
			end += n
		}
		list = append(list, s[start:end])
		start = end
	}
	return list
}

func tokenKind(r rune) int {
	switch {
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return 1
	case unicode.IsSpace(r):
		return 2
	}
	return 0
}

// common marks the longest common subsequence of a and b.
func common(a, b []string, keepA, keepB []bool) {
	width := len(b) + 1
	longest := make([]uint16, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			keepA[i], keepB[j] = true, true
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}

// alike reports whether a third or more of the line stayed, blanks aside.
func alike(list []string, keep []bool, length int) bool {
	stayed := 0
	for i, token := range list {
		if r, _ := utf8.DecodeRuneInString(token); tokenKind(r) == 2 {
			length -= len(token)
		} else if keep[i] {
			stayed += len(token)
		}
	}
	return stayed*3 >= length && stayed > 0
}

// changed joins the tokens that did not stay, and blanks between them.
func changed(list []string, keep []bool) []Range {
	var ranges []Range
	at := 0
	for i, token := range list {
		end := at + len(token)
		if !keep[i] {
			if n := len(ranges); n > 0 && ranges[n-1].End == at {
				ranges[n-1].End = end
			} else {
				ranges = append(ranges, Range{at, end})
			}
		}
		at = end
	}
	return ranges
}

// MarkWords sets the marks of lines that were changed in place: the first
// deleted line of a run goes with the first added one after it, and so on.
func (h *Hunk) MarkWords() {
	for i := 0; i < len(h.Lines); {
		deleted := h.run(i, LineDeleted)
		added := h.run(i+deleted, LineAdded)
		for n := range min(deleted, added) {
			a, b := &h.Lines[i+n], &h.Lines[i+deleted+n]
			if !a.Cut && !b.Cut {
				a.Marks, b.Marks = WordDiff(a.Text, b.Text)
			}
		}
		i += max(1, deleted+added)
	}
}

// run is how many lines of this kind follow from i on.
func (h *Hunk) run(i int, kind LineKind) int {
	n := 0
	for i+n < len(h.Lines) && h.Lines[i+n].Kind == kind {
		n++
	}
	return n
}
