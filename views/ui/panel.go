package ui

import (
	"regexp"
	"strconv"
	"strings"
)

// percent writes a share between 0 and 1 as an SVG length.
func percent(part float64) string {
	part = min(max(part, 0), 1)
	return strconv.FormatFloat(part*100, 'f', 2, 64) + "%"
}

func offset(slices []Slice, i int) float64 {
	var sum float64
	for _, s := range slices[:i] {
		sum += s.Part
	}
	return sum
}

// slug makes a text fit for an element's id.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return '-'
	}, s)
}

// quotePattern makes a text an exact pattern of an input. What QuoteMeta escapes
// is what HTML's v flag lets one escape; other characters stand for themselves.
func quotePattern(s string) string { return regexp.QuoteMeta(s) }
