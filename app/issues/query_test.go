package issues_test

import (
	"testing"

	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db/model"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                               "",
		"is:open label:bug":              "is:open label:bug",
		`label:"good first issue" crash`: `label:"good first issue" crash`,
		`-label:bug NOT author:ada`:      "-label:bug -author:ada",
		"a OR b AND c":                   "(a OR (b c))",
		"(a OR b) c":                     "(a OR b) c",
		"NOT (a b)":                      "NOT (a b)",
		"http://x.y/z":                   `"http://x.y/z"`,
		"std::vector":                    `"std::vector"`,
		`"an \"odd\" one"`:               `"an \"odd\" one"`,
		"a) b":                           "a b",
		"((a":                            "a",
		"OR":                             "",
		"label:":                         `"label:"`,
		"- -x":                           `"-" -x`,
		`unclosed "quote here`:           `unclosed "quote here"`,
	} {
		got := issues.Parse(in).String()
		again := issues.Parse(got).String()
		if got != want || again != got {
			t.Errorf("%q: got %q, want %q; read again %q", in, got, want, again)
		}
	}
}

func TestParseAny(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-c:"()\\ -]|OR|AND|NOT|label:|is:){0,30}`).Draw(t, "query")
		once := issues.Parse(text).String()
		if twice := issues.Parse(once).String(); twice != once {
			t.Fatalf("%q: %q, then %q", text, once, twice)
		}
	})
}

func TestWith(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, key, value, want string }{
		{"is:open label:bug", "state", "closed", "is:closed label:bug"},
		{"is:open label:bug", "label", "", "is:open"},
		{"crash", "label", "good first issue", `crash label:"good first issue"`},
		{"no:label x", "label", "bug", "x label:bug"},
		{"-label:x", "label", "bug", "-label:x label:bug"},
		{"sort:updated-desc", "sort", "", ""},
	} {
		if got := issues.With(c.query, c.key, c.value); got != c.want {
			t.Errorf("%q with %s=%s: %q, want %q", c.query, c.key, c.value, got, c.want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(t, w.ada, issues.CreateInput{Title: "Crash", Labels: []string{"bug"}, Assignees: []string{"ada"}})
	w.open(t, w.bob, issues.CreateInput{Title: "Slow", Body: "when it rains"})
	w.open(t, w.ada, issues.CreateInput{Title: "Hidden", Confidential: true})
	if _, err := w.threads.Update(t.Context(), w.ada, 2, threads.Change{State: ptr("closed"), Reason: "not_planned", Comment: "cc @bob about zebras"}); err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string][3]int{ // how many are shown, open and closed
		"":                             {2, 1, 1},
		"is:open":                      {1, 1, 1},
		"is:closed":                    {1, 1, 1},
		"label:bug":                    {1, 1, 0},
		"label:bug,nope":               {1, 1, 0},
		"-label:bug":                   {1, 0, 1},
		"label:nope":                   {0, 0, 0},
		"no:label":                     {1, 0, 1},
		"has:label":                    {1, 1, 0},
		"author:@me":                   {1, 0, 1},
		"author:ada":                   {1, 1, 0},
		"author:nobody":                {0, 0, 0},
		"assignee:*":                   {1, 1, 0},
		"no:assignee":                  {1, 0, 1},
		"mentions:@me":                 {1, 0, 1},
		"involves:@me":                 {1, 0, 1},
		"commenter:ada":                {1, 0, 1},
		"reason:\"not planned\"":       {1, 0, 1},
		"zebra":                        {1, 0, 1},
		"zebra in:title":               {0, 0, 0},
		"rains OR crash":               {2, 1, 1},
		"rains crash":                  {0, 0, 0},
		"(rains OR crash) -author:ada": {1, 0, 1},
		"#1":                           {1, 1, 0},
		"comments:>0":                  {1, 0, 1},
		"comments:0..0":                {1, 1, 0},
		"created:@today":               {2, 1, 1},
		"created:<2020-01-01":          {0, 0, 0},
		"updated:>=@today-1d":          {2, 1, 1},
		"is:nonsense":                  {0, 0, 0},
		"is:pr":                        {0, 0, 0},
		"sort:comments-desc":           {2, 1, 1},
		"sort:reactions-+1":            {2, 1, 1},
		"' \\ & ! | <-> :*":            {0, 0, 0},
	} {
		r, err := w.issues.List(t.Context(), w.bob, issues.ListInput{Kind: model.KindIssue, Query: q, Limit: 25})
		if err != nil {
			t.Errorf("%q: %v", q, err)
			continue
		}
		if got := [3]int{len(r.Issues), r.Open, r.Closed}; got != want {
			t.Errorf("%q: got %v, want %v", q, got, want)
		}
	}
	r, err := w.issues.List(t.Context(), w.ada, issues.ListInput{Kind: model.KindIssue, Query: "is:open", Limit: 25})
	if err != nil || len(r.Issues) != 2 || r.Open != 2 {
		t.Errorf("ada sees %d of %d, %v", len(r.Issues), r.Open, err)
	}
}
