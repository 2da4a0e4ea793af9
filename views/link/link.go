// Package link builds every address that gitfor's pages point to. Addresses
// are root-relative. Every byte outside RFC 3986's unreserved set is
// percent-encoded, so that branch names and paths of any bytes survive the
// round trip; the slashes between path segments stay.
package link

import (
	"net/url"
	"strconv"
	"strings"
)

const upperHex = "0123456789ABCDEF"

// unreserved reports whether RFC 3986 section 2.3 lets b stand unencoded.
func unreserved(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' ||
		b == '-' || b == '.' || b == '_' || b == '~'
}

// Segment encodes s as one path segment: slashes are encoded too.
func Segment(s string) string { return encode(s, false) }

// Path encodes s as a run of path segments: slashes are kept.
func Path(s string) string { return encode(s, true) }

func encode(s string, slash bool) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = unreserved(s[i]) || slash && s[i] == '/'
	}
	if plain {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 12)
	for i := 0; i < len(s); i++ {
		if c := s[i]; unreserved(c) || slash && c == '/' {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
	return b.String()
}

// Query is an ordered list of query parameters.
type Query []string

// Q starts a query from pairs of name and value. Pairs with an empty value
// are left out.
func Q(pairs ...string) Query { return Query(pairs) }

// With returns a copy of q in which name has value; an empty value removes it.
func (q Query) With(name, value string) Query {
	out := make(Query, 0, len(q)+2)
	for i := 0; i+1 < len(q); i += 2 {
		if q[i] != name {
			out = append(out, q[i], q[i+1])
		}
	}
	return append(out, name, value)
}

// On returns path followed by the query, if it has any pair.
func (q Query) On(path string) string {
	var b strings.Builder
	b.WriteString(path)
	sep := byte('?')
	for i := 0; i+1 < len(q); i += 2 {
		if q[i+1] == "" {
			continue
		}
		b.WriteByte(sep)
		b.WriteString(encode(q[i], false))
		b.WriteByte('=')
		b.WriteString(encode(q[i+1], false))
		sep = '&'
	}
	return b.String()
}

// Set returns the address raw (path and query) with the query parameter name
// set to value; an empty value removes it. A malformed raw is returned as it is.
func Set(raw, name, value string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	v := u.Query()
	v.Del(name)
	if value != "" {
		v.Set(name, value)
	}
	u.RawQuery = strings.ReplaceAll(v.Encode(), "+", "%20")
	return u.String()
}

// Page returns the address raw with its page parameter set to n; page 1 has none.
func Page(raw string, n int) string {
	if n <= 1 {
		return Set(raw, "page", "")
	}
	return Set(raw, "page", strconv.Itoa(n))
}

func num(n int64) string { return strconv.FormatInt(n, 10) }
