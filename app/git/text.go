package git

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// decodeText is raw, which claims to be in the named encoding, as UTF-8 without
// zero bytes, so that databases and browsers take it. Bytes that are neither
// the claimed encoding nor UTF-8 are read as Windows-1252, as most old ones are.
func decodeText(raw, encoding string) string {
	if encoding != "" && !strings.EqualFold(encoding, "utf-8") && !strings.EqualFold(encoding, "utf8") {
		if e, err := htmlindex.Get(encoding); err == nil {
			if text, err := e.NewDecoder().String(raw); err == nil {
				return dropNUL(text)
			}
		}
	}
	if utf8.ValidString(raw) {
		return dropNUL(raw)
	}
	text, err := charmap.Windows1252.NewDecoder().String(raw)
	if err != nil {
		text = strings.ToValidUTF8(raw, "\ufffd")
	}
	return dropNUL(text)
}

func dropNUL(s string) string {
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\x00", "")
}

// DecodeText is raw bytes without a known encoding as UTF-8 for people.
func DecodeText(raw string) string { return decodeText(raw, "") }
