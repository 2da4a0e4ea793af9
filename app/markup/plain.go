package markup

import (
	"crypto/sha256"
	"encoding/binary"
	"html"
	"regexp"
	"strings"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxPlain is how many bytes of a text are shown as plain text.
const maxPlain = 1 << 20

// plainText shows text as it is.
func plainText(text string) *compiled {
	cut := false
	if len(text) > maxPlain {
		text, cut = text[:maxPlain], true
		text = strings.ToValidUTF8(text, "") // a character cut in two
	}
	out := `<pre class="plain-text">` + html.EscapeString(text)
	if cut {
		out += "\n…"
	}
	return &compiled{pieces: []string{out + "</pre>"}, plain: true}
}

// webAddress finds addresses in text without syntax.
var webAddress = regexp.MustCompile(`\bhttps?://[^\s<>"'\x60]+`)

// compilePlain renders text without syntax: addresses and references only.
func (r *Renderer) compilePlain(text string, o Options) (*compiled, error) {
	if len(text) > MaxComment {
		return nil, errTooLong
	}
	root := &nethtml.Node{Type: nethtml.ElementNode, Data: "div", DataAtom: atom.Div}
	put := func(s string) *nethtml.Node { return &nethtml.Node{Type: nethtml.TextNode, Data: s} }
	at := 0
	for _, m := range webAddress.FindAllStringIndex(text, -1) {
		end := m[0] + len(trimAddress(text[m[0]:m[1]]))
		if m[0] > at {
			root.AppendChild(put(text[at:m[0]]))
		}
		a := &nethtml.Node{Type: nethtml.ElementNode, Data: "a", DataAtom: atom.A,
			Attr: []nethtml.Attribute{{Key: "href", Val: text[m[0]:end]}}}
		a.AppendChild(put(text[m[0]:end]))
		root.AppendChild(a)
		at = end
	}
	if at < len(text) {
		root.AppendChild(put(text[at:]))
	}
	t := &tree{r: r, o: o, slots: newSlots(0), prefix: idPrefix, used: map[string]int{}}
	t.children(root, place{})
	return t.finish(root)
}

// trimAddress takes off the punctuation of the sentence around an address.
func trimAddress(s string) string {
	for s != "" {
		switch c := s[len(s)-1]; {
		case strings.IndexByte(".,:;!?*_~", c) >= 0:
		case c == ')' && strings.Count(s, "(") < strings.Count(s, ")"):
		case c == ']' && strings.Count(s, "[") < strings.Count(s, "]"):
		default:
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// cacheKey identifies a text together with all that its compiled form depends
// on; false where that cannot be named.
func cacheKey(text string, o Options) (key [32]byte, ok bool) {
	f := o.Files
	if f.Key == "" && (f.Page != nil || f.Folder != nil || f.Raw != nil) {
		return key, false
	}
	h := sha256.New()
	var n [8]byte
	editable := "0"
	if o.Editable {
		editable = "1"
	}
	for _, s := range []string{string(rune('0' + o.Mode)), editable, o.Owner, o.Repo, o.Dir, o.ID, f.Home, f.Key, text} {
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	h.Sum(key[:0])
	return key, true
}
