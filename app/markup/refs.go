package markup

import (
	"html"
	"net/url"
	"strconv"
	"strings"

	nethtml "golang.org/x/net/html"
)

// Ref is a numbered thread of a repository: #12 or owner/repo#12. Owner and
// Repo are in lower case, and empty where the text stands in no repository.
type Ref struct {
	Owner, Repo string
	Number      int64
}

// Commit is the beginning of a commit's id in a repository, all in lower case.
type Commit struct {
	Owner, Repo string
	ID          string
}

// A candidate is a piece of text that may be a reference: look-ups tell.
type candidate struct {
	person string // lower case; "org/team" for a team
	thread Ref
	commit Commit
	show   string // the text of the link
	tail   string // appended to the link's address, such as #comment-1
	asText string // HTML where nothing is found
	closes bool   // a closing keyword stands before it
}

// mark stands around a candidate's number in the finished HTML. Texts cannot
// hold it: clean removes it.
const mark = "\x00"

// text replaces what in the text node n may be references by marks.
func (t *tree) text(n *nethtml.Node) {
	spans := scan(n.Data, t.o)
	if len(spans) == 0 {
		return
	}
	at := 0
	put := func(s string) {
		if s != "" {
			n.Parent.InsertBefore(&nethtml.Node{Type: nethtml.TextNode, Data: s}, n)
		}
	}
	for _, s := range spans {
		put(n.Data[at:s.start])
		s.candidate.show = n.Data[s.start:s.end]
		s.candidate.asText = html.EscapeString(s.candidate.show)
		if s.candidate.commit.ID != "" {
			s.candidate.show = shortCommit(s.candidate.show)
		}
		before := n.Data[at:s.start]
		if s.start == 0 {
			before = textBefore(n)
		}
		s.candidate.closes = saysClosing(before)
		n.Parent.InsertBefore(t.mark(s.candidate), n)
		at = s.end
	}
	put(n.Data[at:])
	n.Parent.RemoveChild(n)
}

func (t *tree) mark(c candidate) *nethtml.Node {
	t.found = append(t.found, c)
	return &nethtml.Node{Type: nethtml.RawNode, Data: mark + strconv.Itoa(len(t.found)-1) + mark}
}

// shortCommit cuts the id at the end of text to 7 digits.
func shortCommit(text string) string {
	at := strings.LastIndexByte(text, '@') + 1
	return text[:min(len(text), at+7)]
}

// siteLink replaces a link that is nothing but a full address within this
// instance by a mark, when the address is that of a thread or a commit.
func (t *tree) siteLink(n *nethtml.Node, in place) bool {
	href := attr(n, "href")
	text := n.FirstChild
	if in.code || t.r.site == "" || text == nil || text.NextSibling != nil || text.Type != nethtml.TextNode ||
		!t.inSite(href) || text.Data != href {
		return false
	}
	c, ok := siteAddress(strings.TrimPrefix(href, t.r.site), t.o)
	if !ok {
		return false
	}
	var b strings.Builder
	if nethtml.Render(&b, n) != nil {
		return false
	}
	c.asText = b.String()
	c.closes = saysClosing(textBefore(n))
	replace(n, t.mark(c))
	return true
}

// siteAddress takes the path of a page of this instance apart.
func siteAddress(address string, o Options) (candidate, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return candidate{}, false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) != 4 || u.RawQuery != "" || !isName(parts[0]) || !isName(parts[1]) {
		return candidate{}, false
	}
	owner, repo := strings.ToLower(parts[0]), strings.ToLower(parts[1])
	prefix := ""
	if owner != strings.ToLower(o.Owner) || repo != strings.ToLower(o.Repo) {
		prefix = parts[0] + "/" + parts[1]
	}
	c := candidate{tail: tail(&url.URL{Fragment: u.Fragment, RawFragment: u.RawFragment})}
	switch parts[2] {
	case "issues", "pull", "pulls", "discussions":
		n := number(parts[3])
		if n == 0 {
			return candidate{}, false
		}
		c.thread = Ref{owner, repo, n}
		c.show = prefix + "#" + parts[3]
		if c.tail != "" {
			c.show += " (comment)"
		}
	case "commit":
		if !isCommit(parts[3]) {
			return candidate{}, false
		}
		c.commit = Commit{owner, repo, parts[3]}
		c.show = parts[3][:7]
		if prefix != "" {
			c.show = prefix + "@" + c.show
		}
	default:
		return candidate{}, false
	}
	return c, true
}

// A span is a candidate within a text.
type span struct {
	start, end int
	candidate  candidate
}

// scan finds in s what may be references: @person, @org/team, #12, GH-12,
// owner/repo#12, ids of commits and owner/repo@id.
// https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
func scan(s string, o Options) []span {
	var spans []span
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case (c == '@' || c == '#') && startsWord(s, i):
			if sp, ok := scanSign(s, i, o); ok {
				spans = append(spans, sp)
				i = sp.end
				continue
			}
			i++
		case isNameByte(c) && startsWord(s, i):
			end := i
			for end < len(s) && (isNameByte(s[end]) || s[end] == '.') {
				end++
			}
			if sp, ok := scanWord(s, i, end, o); ok {
				spans = append(spans, sp)
				i = sp.end
				continue
			}
			i = end
		default:
			i++
		}
	}
	return spans
}

// startsWord says whether a reference may begin at i.
func startsWord(s string, i int) bool {
	if i == 0 {
		return true
	}
	c := s[i-1]
	return !isNameByte(c) && c < 0x80 && strings.IndexByte("/@#&=.`", c) < 0 ||
		c >= 0x80 && (strings.HasSuffix(s[:i], "\u00a0") || isWidePunct(s[:i]))
}

// isWidePunct says whether s ends with punctuation of East Asian text, which
// is written without spaces.
func isWidePunct(s string) bool {
	for _, p := range []string{"，", "。", "、", "（", "：", "；", "「", "—", "–", "“", "‘", "…"} {
		if strings.HasSuffix(s, p) {
			return true
		}
	}
	return false
}

// scanSign reads a reference that begins with @ or #.
func scanSign(s string, i int, o Options) (span, bool) {
	end := i + 1
	if s[i] == '#' {
		for end < len(s) && isDigit(s[end]) {
			end++
		}
		n := number(s[i+1 : end])
		if n == 0 || !endsWord(s, end) {
			return span{}, false
		}
		return span{i, end, candidate{thread: Ref{strings.ToLower(o.Owner), strings.ToLower(o.Repo), n}}}, true
	}
	end = nameEnd(s, end)
	name := s[i+1 : end]
	if !isName(name) || len(name) > 39 {
		return span{}, false
	}
	if end < len(s) && s[end] == '/' {
		if e := nameEnd(s, end+1); isName(s[end+1 : e]) {
			end = e
		}
	}
	if end < len(s) && (s[end] == '@' || s[end] == '/') {
		return span{}, false
	}
	return span{i, end, candidate{person: strings.ToLower(s[i+1 : end])}}, true
}

// scanWord reads a reference that begins with the word s[i:end]; the word may
// hold dots.
func scanWord(s string, i, end int, o Options) (span, bool) {
	word := s[i:end]
	if rest, ok := strings.CutPrefix(word, "GH-"); ok {
		digits := strings.TrimRight(rest, ".")
		if n := number(digits); n != 0 && endsWord(s, i+3+len(digits)) {
			return span{i, i + 3 + len(digits), candidate{thread: Ref{strings.ToLower(o.Owner), strings.ToLower(o.Repo), n}}}, true
		}
	}
	if end < len(s) && s[end] == '/' && isName(word) {
		return scanRepo(s, i, end)
	}
	id := word
	if dot := strings.IndexByte(word, '.'); dot >= 0 {
		id = word[:dot] // the end of a sentence, or a range
		if dot+1 < len(word) && word[dot+1] != '.' {
			return span{}, false
		}
	}
	if isCommit(id) && o.Repo != "" && endsWord(s, i+len(id)) && !strings.HasPrefix(s[i+len(id):], "/") {
		return span{i, i + len(id), candidate{commit: Commit{strings.ToLower(o.Owner), strings.ToLower(o.Repo), id}}}, true
	}
	return span{}, false
}

// scanRepo reads owner/repo#12 or owner/repo@id; the owner is s[i:slash].
func scanRepo(s string, i, slash int) (span, bool) {
	end := slash + 1
	for end < len(s) && (isNameByte(s[end]) || s[end] == '.') {
		end++
	}
	if end == len(s) || s[end] != '#' && s[end] != '@' || end-slash > 101 || slash-i > 39 {
		return span{}, false
	}
	repo := s[slash+1 : end]
	if repo == "" || repo == "." || repo == ".." {
		return span{}, false
	}
	owner, repo := strings.ToLower(s[i:slash]), strings.ToLower(repo)
	stop := end + 1
	for stop < len(s) && isNameByte(s[stop]) {
		stop++
	}
	rest := s[end+1 : stop]
	if s[end] == '#' {
		if n := number(rest); n != 0 {
			return span{i, stop, candidate{thread: Ref{owner, repo, n}}}, true
		}
		return span{}, false
	}
	if !isCommit(rest) {
		return span{}, false
	}
	return span{i, stop, candidate{commit: Commit{owner, repo, rest}}}, true
}

// nameEnd returns where the name that begins at i ends; a hyphen or an
// underscore at the end belongs to the sentence.
func nameEnd(s string, i int) int {
	end := i
	for end < len(s) && isNameByte(s[end]) {
		end++
	}
	for end > i && (s[end-1] == '-' || s[end-1] == '_') {
		end--
	}
	return end
}

// endsWord says whether a number or an id may end before i.
func endsWord(s string, i int) bool {
	return i >= len(s) || !isNameByte(s[i]) || s[i] == '-'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '-' || c == '_'
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) && s[i] != '.' {
			return false
		}
	}
	return s != "" && s[0] != '-' && s[0] != '.'
}

// isCommit says whether s may be the beginning of a commit's id, or all of it
// (40 digits, or 64 with SHA-256).
func isCommit(s string) bool {
	if len(s) < 7 || len(s) > 40 && len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if !isDigit(s[i]) && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return true
}

// number reads a positive number without leading zeros, or returns 0.
func number(s string) int64 {
	if s == "" || s[0] == '0' || len(s) > 10 {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0
	}
	return int64(n)
}
