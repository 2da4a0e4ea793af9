package markup

import (
	"bytes"
	"regexp"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// newPolicy returns what of an author's HTML is kept: structure and text,
// no scripts, styles, forms or frames, no classes but those that the Markdown
// renderer itself writes, and only harmless kinds of addresses.
func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(
		"h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "div", "blockquote", "pre",
		"b", "i", "strong", "em", "u", "s", "strike", "del", "ins", "mark", "small", "sub", "sup", "tt",
		"code", "kbd", "samp", "var", "q", "cite", "dfn", "abbr", "time", "bdo", "wbr", "ruby", "rt", "rp",
		"ul", "ol", "li", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td",
		"details", "summary", "figure", "figcaption", "picture", "span",
	)
	p.AllowAttrs("title", "lang", "role", "aria-label", "aria-hidden", "aria-labelledby", "aria-describedby").Globally()
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`(?i)^(?:ltr|rtl|auto)$`)).Globally()
	p.AllowAttrs("align").Matching(regexp.MustCompile(`(?i)^(?:left|center|right|justify|top|middle|bottom)$`)).Globally()
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^(?:g[0-9a-f]{16}-\d{1,7}|footnotes|footnote-ref|footnote-backref)$`)).Globally()
	p.AllowAttrs("id").Matching(idForm).Globally()
	p.AllowAttrs("name").Matching(idForm).OnElements("a")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("cite").OnElements("blockquote", "q", "del", "ins")
	p.AllowAttrs("datetime").OnElements("time", "del", "ins")

	size := regexp.MustCompile(`^\d{1,5}(?:px|%)?$`)
	p.AllowAttrs("src").OnElements("img", "video", "source")
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("width", "height").Matching(size).OnElements("img", "video", "td", "th", "table", "source")
	p.AllowAttrs("hspace", "vspace", "border").Matching(size).OnElements("img", "table")
	p.AllowAttrs("srcset", "sizes", "media", "type").OnElements("source")
	p.AllowAttrs("srcset", "sizes").OnElements("img")
	p.AllowAttrs("poster").OnElements("video")
	p.AllowAttrs("controls", "muted", "loop").OnElements("video")

	number := regexp.MustCompile(`^-?\d{1,9}$`)
	p.AllowAttrs("start").Matching(number).OnElements("ol")
	p.AllowAttrs("value").Matching(number).OnElements("li")
	p.AllowAttrs("reversed").OnElements("ol")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^[1aAiI]$`)).OnElements("ol")
	p.AllowAttrs("colspan", "rowspan").Matching(regexp.MustCompile(`^\d{1,3}$`)).OnElements("td", "th")
	p.AllowAttrs("valign").Matching(regexp.MustCompile(`(?i)^(?:top|middle|bottom|baseline)$`)).OnElements("td", "th", "tr", "thead", "tbody", "tfoot")
	p.AllowAttrs("scope").Matching(regexp.MustCompile(`(?i)^(?:row|col|rowgroup|colgroup)$`)).OnElements("th")
	p.AllowAttrs("open").OnElements("details")

	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(true)
	p.AllowURLSchemes("http", "https", "mailto", "tel", "irc", "ircs", "xmpp", "ftp", "matrix")
	// Where such an element is left open, all that follows would be lost with
	// it; so its text stays.
	p.AllowElementsContent("noscript", "object", "frame", "frameset")
	return p
}

// filtered are tags after which a browser takes all for text until their end.
// https://github.github.com/gfm/#disallowed-raw-html-extension-
var filtered = regexp.MustCompile(`(?i)<(/?(?:title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext)(?:[\s/>]|$))`)

// filterTags makes text of such tags, so that one that somebody mentions does
// not swallow the rest of what they wrote.
func filterTags(raw []byte) []byte { return filtered.ReplaceAll(raw, []byte("&lt;$1")) }

// idForm is what an id may look like: it is put into addresses.
var idForm = regexp.MustCompile(`^[\p{L}\p{N}_.:-]{1,100}$`)

// maxFormatting is how many formatting elements may be open at once.
const maxFormatting = 24

// capFormatting drops start tags of formatting elements beyond maxFormatting
// open ones. HTML says that such elements, left open, are opened again in each
// block that follows; with many of them a small text becomes a huge tree.
// The count is never lower than an HTML parser's: an end tag counts only when
// no table begins or ends between it and its start tag.
// https://html.spec.whatwg.org/multipage/parsing.html#the-list-of-active-formatting-elements
func capFormatting(in []byte) []byte {
	type open struct {
		tag   atom.Atom
		table int
	}
	var (
		out    bytes.Buffer
		stack  []open
		tables int
	)
	z := html.NewTokenizer(bytes.NewReader(in))
	for {
		tt := z.Next()
		if tt == html.ErrorToken {
			return out.Bytes()
		}
		raw := bytes.Clone(z.Raw()) // TagName lowers the case in place
		if tt == html.StartTagToken || tt == html.EndTagToken || tt == html.SelfClosingTagToken {
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			switch {
			case tag == atom.Table || tag == atom.Td || tag == atom.Th || tag == atom.Caption:
				tables++
			case !formatting(tag):
			case tt == html.EndTagToken:
				for i := len(stack) - 1; i >= 0 && stack[i].table == tables; i-- {
					if stack[i].tag == tag {
						stack = append(stack[:i], stack[i+1:]...)
						break
					}
				}
			case len(stack) >= maxFormatting:
				continue
			default:
				stack = append(stack, open{tag, tables})
			}
		}
		out.Write(raw)
	}
}

func formatting(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S,
		atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}
