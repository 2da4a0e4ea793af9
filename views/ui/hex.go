package ui

import "strings"

// Hex is the colour #rrggbb for six hexadecimal digits with or without #, and
// a grey for anything else, so that it is always safe to put in an attribute.
func Hex(s string) string {
	s = strings.TrimPrefix(s, "#")
	if len(s) != 6 {
		return "#8a857d"
	}
	for i := range 6 {
		if c := s[i]; !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
			return "#8a857d"
		}
	}
	return "#" + strings.ToLower(s)
}
