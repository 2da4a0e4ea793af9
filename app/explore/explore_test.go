package explore_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world is ann's public engine with an issue and a file, her private loom, and
// bob.
func world(t *testing.T) (s *apptest.Server, ann, bob *apptest.Client) {
	t.Helper()
	s = apptest.New(t)
	ann, bob = s.User(t, "ann"), s.User(t, "bob")
	ann.API("POST", "/user/repos", map[string]any{"name": "engine", "description": "Analytical wheels"}).Want(201)
	ann.API("POST", "/user/repos", map[string]any{"name": "loom", "private": true}).Want(201)
	ann.API("PUT", "/repos/ann/engine/contents/cmd/mill/wheel.go", map[string]any{"message": "wheel",
		"content": base64.StdEncoding.EncodeToString([]byte("package main\n"))}).Want(201)
	ann.API("PUT", "/repos/ann/engine/topics", map[string]any{"names": []string{"history"}}).OK()
	ann.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "Cards jam"}).Want(201)
	ann.API("POST", "/repos/ann/loom/issues", map[string]any{"title": "Thread breaks"}).Want(201)
	return s, ann, bob
}

// options are the addresses that the palette offers.
func options(c *apptest.Client, q, at string) []string {
	var out []string
	for _, n := range c.HTMX("/-/palette?q="+q+"&at="+at, "").OK().Find("[role=option]").EachIter() {
		out = append(out, n.AttrOr("href", ""))
	}
	return out
}

func has(list []string, want string) bool {
	for _, l := range list {
		if l == want {
			return true
		}
	}
	return false
}

func TestPalette(t *testing.T) {
	t.Parallel()
	s, ann, bob := world(t)
	for _, c := range []struct {
		who         *apptest.Client
		q, at, want string
	}{
		{ann, "", "/", "/ann/loom"},
		{ann, "", "/ann/engine", "/ann/engine/issues"},
		{ann, "engne", "/", "/ann/engine"}, {ann, "enigne", "/", "/ann/engine"},
		{ann, "%23" + "1", "/ann/engine/issues", "/ann/engine/issues/1"},
		{ann, "ann/loom%231", "/", "/ann/loom/issues/1"},
		{bob, "jam", "/ann/engine", "/ann/engine/issues/1"},
		{bob, "wheel", "/ann/engine/blob/main/README.md", "/ann/engine/blob/main/cmd/mill/wheel.go"},
		{bob, "passk", "/", "/settings/passkeys"},
		{bob, "notif", "/", "/settings/notifications"},
		{bob, "ann", "/", "/ann"},
		{bob, "nowhere", "/", "/explore?q=nowhere"},
		{s.Anon(), "engine", "/", "/ann/engine"},
	} {
		if got := options(c.who, c.q, c.at); !has(got, c.want) {
			t.Errorf("%q at %s offers %q, not %s", c.q, c.at, got, c.want)
		}
	}
	for _, c := range []struct {
		who        *apptest.Client
		q, at, not string
	}{
		{bob, "loom", "/", "/ann/loom"},
		{bob, "ann/loom%231", "/", "/ann/loom/issues/1"},
		{bob, "breaks", "/ann/loom", "/ann/loom/issues/1"},
		{s.Anon(), "passk", "/", "/settings/passkeys"},
		{bob, "backfills", "/", "/admin/backfills"},
	} {
		if got := options(c.who, c.q, c.at); has(got, c.not) {
			t.Errorf("%q at %s offers %s", c.q, c.at, c.not)
		}
	}
}

// TestFeed shows what followed people did, and nothing that is private.
func TestFeed(t *testing.T) {
	t.Parallel()
	s, ann, bob := world(t)
	cas := s.User(t, "cas")
	if n := cas.Get("/").OK().Find("#feed").Length(); n != 0 {
		t.Error("a feed of nobody")
	}
	cas.API("PUT", "/user/following/ann", nil).Want(204)
	cas.API("PUT", "/user/following/bob", nil).Want(204)
	bob.API("PUT", "/user/starred/ann/engine", nil).Want(204)
	ann.API("PUT", "/user/following/bob", nil).Want(204)
	text := strings.Join(strings.Fields(cas.Get("/").OK().Text("section[aria-labelledby=feed]")), " ")
	for _, want := range []string{"bob starred ann/engine", "ann made ann/engine", "ann followed bob"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "loom") {
		t.Error("what is private is in a feed")
	}
}

func TestExplore(t *testing.T) {
	t.Parallel()
	s, ann, bob := world(t)
	for q, want := range map[string]bool{
		"q=engine": true, "q=enigne": true, "q=wheels": true, "q=ann/eng": true, "q=topic:history": true, "q=topic:future": false,
		"q=owner:ann": true, "q=owner:bob": false, "q=language:cobol": false, "q=zzzzz": false, "sort=stars": true, "sort=name": true,
	} {
		page := s.Anon().Get("/explore?" + q).OK()
		if got := page.Find(`main a[href="/ann/engine"]`).Length() > 0; got != want {
			t.Errorf("%s: %v", q, got)
		}
		if page.Find(`main a[href="/ann/loom"]`).Length() > 0 {
			t.Errorf("%s shows what is private", q)
		}
	}
	if ann.Get("/explore?q=loom").OK().Find(`main a[href="/ann/loom"]`).Length() == 0 {
		t.Error("one's own private repository is not found")
	}
	if bob.Get("/explore?q=an&type=people").OK().Find(`main a[href="/ann"]`).Length() == 0 {
		t.Error("a person is not found by the beginning of the name")
	}
	if !strings.Contains(bob.Get("/explore?q=zzzzz&type=people").OK().Text("main"), "Nobody") {
		t.Error("nobody is not said")
	}
	// Characters that mean something to LIKE mean themselves.
	if bob.Get("/explore?q=%25%25%25").OK().Find(`main a[href="/ann/engine"]`).Length() > 0 {
		t.Error("a percent sign matches everything")
	}
}

func TestRobots(t *testing.T) {
	t.Parallel()
	s, _, _ := world(t)
	r := s.Anon().Get("/robots.txt").OK().Has("Disallow: /*/*/blame/").Has("Disallow: /api/")
	if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain") {
		t.Errorf("it is %s", got)
	}
}
