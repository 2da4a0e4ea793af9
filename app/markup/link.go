package markup

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// addresses resolves the addresses in n's attributes.
func (t *tree) addresses(n *html.Node) {
	switch n.DataAtom {
	case atom.A:
		href := attr(n, "href")
		if href == "" {
			return
		}
		to, outside := t.link(href)
		setAttr(n, "href", to)
		if outside {
			setAttr(n, "rel", "nofollow noopener noreferrer")
		}
	case atom.Img, atom.Video, atom.Source:
		for _, key := range []string{"src", "poster"} {
			if v := attr(n, key); v != "" {
				setAttr(n, key, t.media(v))
			}
		}
		if v := attr(n, "srcset"); v != "" {
			setAttr(n, "srcset", t.srcset(v))
		}
	case atom.Blockquote, atom.Q, atom.Del, atom.Ins:
		if v := attr(n, "cite"); v != "" {
			to, _ := t.link(v)
			setAttr(n, "cite", to)
		}
	}
}

// link resolves the address of a link and says whether it leaves this site.
func (t *tree) link(href string) (to string, outside bool) {
	u, err := url.Parse(href)
	if err != nil {
		return "", false
	}
	if u.Scheme != "" || u.Host != "" {
		return href, (u.Host != "" || u.Scheme == "") && !t.inSite(href)
	}
	if u.Path == "" {
		if u.RawQuery == "" && u.Fragment != "" {
			return "#" + escapeFragment(t.prefix+strings.TrimPrefix(u.Fragment, idPrefix)), false
		}
		return href, false
	}
	p, ok := t.resolve(u.Path)
	if !ok {
		return href, false
	}
	f := t.o.Files
	switch {
	case p.base != nil:
		to = *p.base + "/" + escapePath(p.path)
	case p.folder && f.Folder != nil:
		to = f.Folder(p.path)
	case f.Page != nil:
		to = f.Page(p.path)
	default:
		return href, false
	}
	return to + tail(u), false
}

// media resolves the address of an image or a film.
func (t *tree) media(src string) string {
	u, err := url.Parse(src)
	if err != nil {
		return ""
	}
	if u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	if u.Scheme != "" || u.Host != "" {
		if t.inSite(src) {
			// The page of an image is meant as the image.
			rest := strings.TrimPrefix(src, t.r.site)
			if parts := strings.SplitN(rest, "/", 5); len(parts) == 5 && parts[3] == "blob" {
				parts[3] = "raw"
				return strings.Join(parts, "/")
			}
			return src
		}
		if t.r.config.Image != nil {
			return t.r.config.Image(src)
		}
		return src
	}
	p, ok := t.resolve(u.Path)
	switch {
	case u.Path == "" || !ok:
		return src
	case p.base != nil:
		return *p.base + "/" + escapePath(p.path) + tail(u)
	case t.o.Files.Raw == nil:
		return src
	}
	return t.o.Files.Raw(p.path) + tail(u)
}

// srcset resolves each address of a list of images; anything odd is dropped.
// https://html.spec.whatwg.org/multipage/images.html#srcset-attributes
func (t *tree) srcset(list string) string {
	var out []string
	for part := range strings.SplitSeq(list, ",") {
		f := strings.Fields(part)
		if len(f) == 0 || len(f) > 2 {
			continue
		}
		u, err := url.Parse(f[0])
		if err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		f[0] = t.media(f[0])
		out = append(out, strings.Join(f, " "))
	}
	return strings.Join(out, ", ")
}

// inSite says whether address is within this instance.
func (t *tree) inSite(address string) bool {
	return t.r.site != "" && (address == t.r.site || strings.HasPrefix(address, t.r.site+"/"))
}

// target is what a relative path leads to.
type target struct {
	path   string // below the top of the repository or, where there is one, below base
	folder bool
	base   *string // an address on this site
}

// resolve follows a path from the folder of the text. In a document a leading
// slash means the top of the repository; elsewhere it is this site's own
// address. Paths that climb one step too high end at the top, and from two
// steps on they go by the repository's address, because people write
// ../../issues in files for a page that lies at blob/<ref>/.
func (t *tree) resolve(p string) (target, bool) {
	abs := strings.HasPrefix(p, "/")
	if abs && t.o.Mode != Document {
		return target{}, false
	}
	folder := strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..") || p == "." || p == ".."
	full := p
	if !abs {
		full = t.o.Dir + "/" + p
	}
	var at []string
	climbed := 0
	for seg := range strings.SplitSeq(full, "/") {
		switch seg {
		case "", ".":
		case "..":
			if len(at) > 0 {
				at = at[:len(at)-1]
			} else {
				climbed++
			}
		default:
			at = append(at, seg)
		}
	}
	clean := strings.Join(at, "/")
	if climbed < 2 || abs || t.o.Files.Home == "" {
		return target{path: clean, folder: folder || clean == ""}, true
	}
	base := t.o.Files.Home
	for ; climbed > 2; climbed-- {
		base = base[:max(strings.LastIndexByte(base, '/'), 0)]
	}
	return target{path: clean, base: &base}, true
}

// tail is the query and the fragment of an address.
func tail(u *url.URL) string {
	s := ""
	if u.RawQuery != "" {
		s = "?" + u.RawQuery
	}
	if u.Fragment != "" {
		s += "#" + u.EscapedFragment()
	}
	return s
}

// escapePath percent-encodes each byte of a path but slashes and the
// unreserved ones (RFC 3986, section 2.3).
func escapePath(p string) string { return escape(p, "/") }

// escapeFragment percent-encodes an id for an address.
func escapeFragment(id string) string { return escape(id, ":") }

func escape(s, keep string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.IndexByte("-._~", c) >= 0 || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}
