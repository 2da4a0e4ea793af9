package markup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// world knows people, threads and commits and counts how often it is asked.
type world struct {
	people, threads, commits int
	asked                    []string
}

func (w *world) lookup() Lookup {
	return Lookup{
		People: func(_ context.Context, names []string) (map[string]Link, error) {
			w.people++
			found := map[string]Link{}
			for _, n := range names {
				w.asked = append(w.asked, "@"+n)
				if n == "ann" || n == "acme/core" {
					found[n] = Link{Href: "/" + n, Hover: "/-/hover/" + n}
				}
			}
			return found, nil
		},
		Threads: func(_ context.Context, refs []Ref) (map[Ref]Link, error) {
			w.threads++
			found := map[Ref]Link{}
			for _, r := range refs {
				w.asked = append(w.asked, fmt.Sprintf("%s/%s#%d", r.Owner, r.Repo, r.Number))
				if r.Number < 100 {
					found[r] = Link{Href: fmt.Sprintf("/%s/%s/issues/%d", r.Owner, r.Repo, r.Number), Title: `A "title"`, Class: "open"}
				}
			}
			return found, nil
		},
		Commits: func(_ context.Context, ids []Commit) (map[Commit]Link, error) {
			w.commits++
			found := map[Commit]Link{}
			for _, c := range ids {
				w.asked = append(w.asked, c.Owner+"/"+c.Repo+"@"+c.ID)
				if strings.HasPrefix(c.ID, "abc") {
					found[c] = Link{Href: "/" + c.Owner + "/" + c.Repo + "/commit/" + c.ID}
				}
			}
			return found, nil
		},
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	const sha = "abc1234def5678abc1234def5678abc1234def56"
	o := Options{Mode: Comment, Owner: "O", Repo: "R"}
	thread := func(n, text string) string {
		return `<a class="reference open" href="/o/r/issues/` + n + `" title="A &#34;title&#34;">` + text + `</a>`
	}
	for in, want := range map[string]string{
		"#1":                                  thread("1", "#1"),
		"(#1), GH-2.":                         "(" + thread("1", "#1") + "), " + thread("2", "GH-2") + ".",
		"x#1 #1x #01 #0 &#35;1":               "x#1 #1x #01 #0 " + thread("1", "#1"),
		"#500":                                "#500",
		"Other/Repo#3":                        `<a class="reference open" href="/other/repo/issues/3" title="A &#34;title&#34;">Other/Repo#3</a>`,
		"@Ann, hi":                            `<a class="mention" href="/ann" data-hover="/-/hover/ann">@Ann</a>, hi`,
		"@acme/core":                          `<a class="mention" href="/acme/core" data-hover="/-/hover/acme/core">@acme/core</a>`,
		"x@ann @ann@x @bob @-ann":             "x@ann @ann@x @bob @-ann",
		"请看@ann，":                             "请看@ann，",
		"，@ann":                               `，<a class="mention" href="/ann" data-hover="/-/hover/ann">@ann</a>`,
		"`@ann #1`":                           "<code>@ann #1</code>",
		"[see @ann #1](https://e.com)":        `<a href="https://e.com" rel="nofollow noopener noreferrer">see @ann #1</a>`,
		"*@ann*":                              `<em><a class="mention" href="/ann" data-hover="/-/hover/ann">@ann</a></em>`,
		"in abc1234.":                         `in <a class="commit-reference" href="/o/r/commit/abc1234">abc1234</a>.`,
		sha:                                   `<a class="commit-reference" href="/o/r/commit/` + sha + `">abc1234</a>`,
		"a/b@abc12345":                        `<a class="commit-reference" href="/a/b/commit/abc12345">a/b@abc1234</a>`,
		"deadbeef abcdef abc1234g ABC1234":    "deadbeef abcdef abc1234g ABC1234",
		"http://forge.test/o/r/issues/1":      thread("1", "#1"),
		"http://forge.test/o/r/pull/2#c-3":    strings.Replace(thread("2", "#2 (comment)"), `2" t`, `2#c-3" t`, 1),
		"http://forge.test/x/y/issues/1":      `<a class="reference open" href="/x/y/issues/1" title="A &#34;title&#34;">x/y#1</a>`,
		"http://forge.test/o/r/issues/500":    `<a href="http://forge.test/o/r/issues/500">http://forge.test/o/r/issues/500</a>`,
		"http://forge.test/o/r/commit/" + sha: `<a class="commit-reference" href="/o/r/commit/` + sha + `">abc1234</a>`,
		"[t](http://forge.test/o/r/issues/1)": `<a href="http://forge.test/o/r/issues/1">t</a>`,
		"http://forge.test.evil/o/r/issues/1": `<a href="http://forge.test.evil/o/r/issues/1" rel="nofollow noopener noreferrer">http://forge.test.evil/o/r/issues/1</a>`,
		":tada:@ann":                          `🎉<a class="mention" href="/ann" data-hover="/-/hover/ann">@ann</a>`,
	} {
		w := &world{}
		out, err := New(Config{SiteURL: "http://forge.test/"}).Render(t.Context(), w.lookup(), in, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(out.HTML)), "<p>"), "</p>"); got != want {
			t.Errorf("%q\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestOneLookupForAllTexts(t *testing.T) {
	t.Parallel()
	w := &world{}
	r := New(Config{})
	var texts []Source
	for i := range 20 {
		texts = append(texts, Source{fmt.Sprintf("@ann @bob #1 #%d abc1234 a/b#7", i+1), Options{Mode: Comment, Owner: "o", Repo: "r"}})
	}
	for range 2 { // the second time from memory
		w.people, w.threads, w.commits, w.asked = 0, 0, 0, nil
		out, err := r.RenderAll(t.Context(), w.lookup(), texts)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) != 20 || !strings.Contains(string(out[19].HTML), ">#20</a>") {
			t.Errorf("got %d texts", len(out))
		}
		if w.people != 1 || w.threads != 1 || w.commits != 1 {
			t.Errorf("look-ups: %d of people, %d of threads, %d of commits", w.people, w.threads, w.commits)
		}
		if len(w.asked) != 2+21+1 {
			t.Errorf("asked %q", w.asked)
		}
		seen := slices.Clone(w.asked)
		slices.Sort(seen)
		if len(slices.Compact(seen)) != len(w.asked) {
			t.Errorf("asked twice: %q", w.asked)
		}
	}
}

func TestLookupFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("database is gone")
	look := Lookup{People: func(context.Context, []string) (map[string]Link, error) { return nil, broken }}
	if _, err := New(Config{}).Render(t.Context(), look, "@ann", Options{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestPlainMode(t *testing.T) {
	t.Parallel()
	w := &world{}
	in := "fix *this* <b> #1\n\nsee (http://forge.test/o/r/issues/2) or https://e.com/a_(b)., @ann\n# no heading"
	out, err := New(Config{SiteURL: "http://forge.test"}).Render(t.Context(), w.lookup(), in, Options{Mode: Plain, Owner: "o", Repo: "r"})
	if err != nil {
		t.Fatal(err)
	}
	want := `fix *this* &lt;b&gt; <a class="reference open" href="/o/r/issues/1" title="A &#34;title&#34;">#1</a>` + "\n\n" +
		`see (<a class="reference open" href="/o/r/issues/2" title="A &#34;title&#34;">#2</a>) or ` +
		`<a href="https://e.com/a_(b)" rel="nofollow noopener noreferrer">https://e.com/a_(b)</a>., ` +
		`<a class="mention" href="/ann" data-hover="/-/hover/ann">@ann</a>` + "\n# no heading"
	if string(out.HTML) != want {
		t.Errorf("got %s\nwant %s", out.HTML, want)
	}
}
