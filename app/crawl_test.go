package app_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/gitfor/gitfor/app/apptest"
)

// crawler follows the links of one person's pages.
type crawler struct {
	t      *testing.T
	site   *apptest.Server
	name   string
	client *apptest.Client
	// queue holds addresses and seen how often each shape of one was asked.
	queue []string
	from  map[string]string
	seen  map[string]int
	forms map[string]form
	asked int
}

// form is a form as a browser sends it that nobody typed into.
type form struct {
	method, action, page string
	values               url.Values
}

// perShape is how many addresses that differ in numbers and hashes only are
// asked for, and crawlPages how many pages there are at most for one person.
const (
	perShape   = 2
	crawlPages = 600
)

var varies = regexp.MustCompile(`[0-9a-f]{40}|[0-9a-f]{7,12}\b|[0-9]+`)

// shape is an address without what varies: numbers, hashes, and the values of
// the query.
func shape(u *url.URL) string {
	keys := make([]string, 0, 4)
	for k := range u.Query() {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return varies.ReplaceAllString(u.Path, "#") + "?" + strings.Join(keys, "&")
}

func (c *crawler) add(page, href string) {
	base, _ := url.Parse(c.site.URL + page)
	u, err := base.Parse(href)
	if err != nil {
		c.t.Errorf("%s: %s has the link %q: %v", c.name, page, href, err)
		return
	}
	if u.Scheme+"://"+u.Host != c.site.URL || strings.HasPrefix(u.Path, "/-/static/") {
		return
	}
	key := shape(u)
	if c.seen[key] >= perShape {
		return
	}
	to := u.RequestURI()
	if _, is := c.from[to]; is {
		return
	}
	c.seen[key]++
	c.from[to] = page
	c.queue = append(c.queue, to)
}

// crawl asks for everything that can be reached from the start.
func (c *crawler) crawl(start ...string) {
	for _, page := range start {
		c.add("/", page)
	}
	for ; len(c.queue) > 0 && c.asked < crawlPages; c.asked++ {
		page := c.queue[0]
		c.queue = c.queue[1:]
		r := c.client.Do(http.MethodGet, page, nil)
		switch {
		case r.Status == http.StatusServiceUnavailable && c.client.Account == nil && r.Header.Get("Retry-After") != "":
			// Strangers share a budget of what is costly.
		case r.Status >= 500, r.Status == http.StatusNotFound, r.Status == http.StatusForbidden, r.Status == http.StatusBadRequest:
			c.t.Errorf("%s: %s, linked from %s, answers %d", c.name, page, c.from[page], r.Status)
		case r.Status >= 300 && r.Status < 400:
			c.add(page, r.Location())
		case strings.HasPrefix(r.Header.Get("Content-Type"), "text/html"):
			c.read(page, r.Doc())
		}
	}
}

func (c *crawler) read(page string, doc *goquery.Document) {
	doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
		c.add(page, a.AttrOr("href", ""))
	})
	doc.Find("img[src]").Each(func(_ int, a *goquery.Selection) { c.add(page, a.AttrOr("src", "")) })
	doc.Find("form").Each(func(_ int, f *goquery.Selection) {
		base, _ := url.Parse(c.site.URL + page)
		u, err := base.Parse(f.AttrOr("action", ""))
		if err != nil || u.Scheme+"://"+u.Host != c.site.URL {
			c.t.Errorf("%s: a form on %s goes to %q", c.name, page, f.AttrOr("action", ""))
			return
		}
		made := form{strings.ToUpper(f.AttrOr("method", "GET")), u.RequestURI(), page, filled(f)}
		names := make([]string, 0, len(made.values))
		for k := range made.values {
			names = append(names, k)
		}
		sort.Strings(names)
		c.forms[made.method+" "+shape(u)+" "+strings.Join(names, ",")] = made
	})
}

// filled are the values of a form's fields as the page has them.
func filled(f *goquery.Selection) url.Values {
	v := url.Values{}
	f.Find("input[name], textarea[name], select[name], button[name]").Each(func(_ int, field *goquery.Selection) {
		name := field.AttrOr("name", "")
		_, checked := field.Attr("checked")
		switch kind := field.AttrOr("type", ""); {
		case goquery.NodeName(field) == "textarea":
			v.Add(name, field.Text())
		case goquery.NodeName(field) == "select":
			if o := field.Find("option[selected]"); o.Length() > 0 {
				v.Add(name, o.First().AttrOr("value", o.First().Text()))
			} else if o := field.Find("option"); o.Length() > 0 {
				v.Add(name, o.First().AttrOr("value", o.First().Text()))
			}
		case (kind == "checkbox" || kind == "radio") && !checked, kind == "file":
		case goquery.NodeName(field) == "button" && v.Has(name):
		default:
			v.Add(name, field.AttrOr("value", ""))
		}
	})
	return v
}

// submit sends every form once, those that take away last.
func (c *crawler) submit() {
	keys := make([]string, 0, len(c.forms))
	for k := range c.forms {
		keys = append(keys, k)
	}
	takes := regexp.MustCompile(`delete|remove|transfer|archive|revoke|suspend|logout|leave|rename`)
	slices.SortFunc(keys, func(a, b string) int {
		if x, y := takes.MatchString(a), takes.MatchString(b); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	cookies := c.client.Jar.Cookies()
	for _, k := range keys {
		f := c.forms[k]
		var status int
		if f.method == http.MethodGet {
			path, _, _ := strings.Cut(f.action, "?")
			status = c.client.Get(path + "?" + f.values.Encode()).Status
		} else {
			status = c.client.PostForm(f.action, f.values).Status
		}
		if status >= 500 || status == http.StatusMethodNotAllowed {
			c.t.Errorf("%s: the form %s of %s answers %d", c.name, k, f.page, status)
		}
		for name, value := range cookies { // who signed out goes on
			c.client.Jar.Set(name, value)
		}
	}
}

// furnish makes a repository that has one of most things.
func furnish(t *testing.T, owner *apptest.Client) {
	t.Helper()
	ok := func(method, path string, in any) *apptest.Response {
		t.Helper()
		r := owner.API(method, path, in)
		if r.Status >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, r.Status, r.Body)
		}
		return r
	}
	type m = map[string]any
	ok("POST", "/user/repos", m{"name": "r", "description": "What is crawled", "auto_init": true})
	put := func(path, branch string) {
		ok("PUT", "/repos/owner/r/contents/"+path, m{"message": "add " + path + ", see #1", "content": "IyBIaQoK", "branch": branch})
	}
	put("docs/guide.md", "main")
	put("a b#c?.txt", "main")
	sha := ok("GET", "/repos/owner/r/commits/main", nil).JSON()["sha"].(string)
	ok("POST", "/repos/owner/r/git/refs", m{"ref": "refs/heads/topic/one", "sha": sha})
	guide := ok("GET", "/repos/owner/r/contents/docs/guide.md", nil).JSON()["sha"]
	ok("PUT", "/repos/owner/r/contents/docs/guide.md", m{"message": "change the guide", "content": "IyBIbwoK", "branch": "topic/one", "sha": guide})
	ok("POST", "/repos/owner/r/labels", m{"name": "good first: issue/é", "color": "ff0000"})
	ok("POST", "/repos/owner/r/milestones", m{"title": "First"})
	ok("POST", "/repos/owner/r/issues", m{"title": "An issue", "body": "By @owner, see #2 and " + sha, "labels": []string{"good first: issue/é"}, "milestone": 1, "assignees": []string{"owner"}})
	ok("POST", "/repos/owner/r/pulls", m{"title": "A change", "head": "topic/one", "base": "main", "body": "Fixes #1"})
	ok("POST", "/repos/owner/r/issues/1/comments", m{"body": "A comment, [guide](/owner/r/blob/main/docs/guide.md)"})
	ok("POST", "/repos/owner/r/releases", m{"tag_name": "v1.0", "name": "One", "body": "Notes"})
	ok("POST", "/user/repos", m{"name": "empty", "private": true})
}

// TestCrawl follows every link that anonymous, stranger and owner find, and
// submits every form as it stands: no link is dead, and no answer is a 5xx.
func TestCrawl(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	owner := s.User(t, "owner")
	furnish(t, owner)
	stranger := s.User(t, "stranger")
	var all []*crawler
	for _, p := range []struct {
		name   string
		client *apptest.Client
	}{{"anonymous", s.Anon()}, {"stranger", stranger}, {"owner", owner}} {
		c := &crawler{t: t, site: s, name: p.name, client: p.client, from: map[string]string{}, seen: map[string]int{}, forms: map[string]form{}}
		c.crawl("/", "/explore", "/owner", "/owner/r")
		all = append(all, c)
	}
	for _, c := range all {
		c.submit()
		t.Logf("%s: %d pages, %d forms", c.name, c.asked, len(c.forms))
		if c.asked < 100 || len(c.forms) < 10 {
			t.Errorf("%s found little: %d pages, %d forms", c.name, c.asked, len(c.forms))
		}
	}
}
