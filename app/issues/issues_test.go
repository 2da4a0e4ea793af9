package issues_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world is a repository of ada's with bob, who may only read it.
type world struct {
	d        *db.DB
	issues   *issues.Service
	threads  *threads.Service
	repo     *model.Repo
	ada, bob threads.Place
}

func newWorld(t *testing.T) *world {
	d := dbtest.Open(t)
	th := threads.New(d, markup.New(markup.Config{SiteURL: "http://localhost:3000"}))
	ada, bob := dbtest.User(t, d, "ada"), dbtest.User(t, d, "bob")
	repo := dbtest.Repo(t, d, ada, "engine", dbtest.RepoOpts{})
	return &world{d: d, threads: th, issues: issues.New(issues.Deps{DB: d, Threads: th}), repo: repo,
		ada: threads.Place{Viewer: &model.Viewer{Account: ada}, Repo: repo, Role: model.RoleAdmin},
		bob: threads.Place{Viewer: &model.Viewer{Account: bob}, Repo: repo, Role: model.RoleRead}}
}

func (w *world) open(t *testing.T, p threads.Place, in issues.CreateInput) *model.Issue {
	t.Helper()
	i, err := w.issues.Create(t.Context(), p, in)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// events are the types of the events that were published, in order.
func (w *world) events(t *testing.T) []string {
	t.Helper()
	var types []string
	err := w.d.Events().NewRaw("SELECT type FROM events.incoming ORDER BY id").Scan(t.Context(), &types)
	if err != nil {
		t.Fatal(err)
	}
	return types
}

func (w *world) data(t *testing.T, typ string) map[string]any {
	t.Helper()
	var raw string
	if err := w.d.Events().NewRaw("SELECT data::text FROM events.incoming WHERE type = ? ORDER BY id DESC LIMIT 1", typ).Scan(t.Context(), &raw); err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func ptr[T any](v T) *T { return &v }

func TestCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.open(t, w.ada, issues.CreateInput{Title: "  A\n title ", Body: "one\r\ntwo @bob and @org/team", Labels: []string{"BUG", "question"}, Assignees: []string{"ada"}})
	if i.Number != 1 || i.Title != "A title" || i.Body != "one\ntwo @bob and @org/team" || len(i.LabelIDs) != 2 || len(i.AssigneeIDs) != 1 {
		t.Errorf("created %+v", i)
	}
	if got := w.events(t); !slices.Equal(got, []string{"issue.opened"}) {
		t.Errorf("events %v", got)
	}
	if d := w.data(t, "issue.opened"); d["number"] != 1.0 || d["title"] != "A title" || len(d["mentions"].([]any)) != 2 || len(d["labels"].([]any)) != 2 {
		t.Errorf("data %v", d)
	}
	// Whoever has no right to set them has them dropped, not refused.
	i = w.open(t, w.bob, issues.CreateInput{Title: "x", Labels: []string{"bug"}, Assignees: []string{"bob"}, Milestone: 9})
	if len(i.LabelIDs)+len(i.AssigneeIDs) != 0 || i.MilestoneID != 0 || i.Number != 2 {
		t.Errorf("a reader's issue %+v", i)
	}
	counts, err := w.d.Repo(w.repo.ID).Counts(t.Context())
	if err != nil || counts["open_issues"] != 2 {
		t.Errorf("counts %v, %v", counts, err)
	}
}

func TestCreateOdd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		in    issues.CreateInput
		field string
	}{
		"empty title":    {issues.CreateInput{}, "title"},
		"blank title":    {issues.CreateInput{Title: " \t\n\u200b\u2060"}, "title"},
		"long title":     {issues.CreateInput{Title: strings.Repeat("ß", 257)}, "title"},
		"NUL in title":   {issues.CreateInput{Title: "a\x00b"}, "title"},
		"NUL in body":    {issues.CreateInput{Title: "a", Body: "\x00"}, "body"},
		"broken UTF-8":   {issues.CreateInput{Title: "a", Body: "\xff\xfe"}, "body"},
		"long body":      {issues.CreateInput{Title: "a", Body: strings.Repeat("𝄞", 65_537)}, "body"},
		"unknown label":  {issues.CreateInput{Title: "a", Labels: []string{"nope"}}, "labels"},
		"bad label":      {issues.CreateInput{Title: "a", Labels: []string{strings.Repeat("x", 51)}, MakeLabels: true}, "labels"},
		"unknown person": {issues.CreateInput{Title: "a", Assignees: []string{"nobody"}}, "assignees"},
		"stranger":       {issues.CreateInput{Title: "a", Assignees: []string{"bob"}}, "assignees"},
		"no milestone":   {issues.CreateInput{Title: "a", Milestone: 3}, "milestone"},
	} {
		_, err := w.issues.Create(t.Context(), w.ada, c.in)
		f := fault.From(err)
		if err == nil || f.Kind != fault.Invalid || f.Fields[c.field] == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Nothing was half done: the next number is the first.
	i := w.open(t, w.ada, issues.CreateInput{Title: strings.Repeat("ß", 256), Body: strings.Repeat("𝄞", 65_536)})
	if i.Number != 1 || len(w.events(t)) != 1 {
		t.Errorf("number %d, events %v", i.Number, w.events(t))
	}
	i = w.open(t, w.ada, issues.CreateInput{Title: `<script>alert(1)</script>`, Body: strings.Repeat("> - ", 5000) + "x",
		Labels: []string{"new one", "New One"}, MakeLabels: true})
	if i.Title != `<script>alert(1)</script>` || len(i.LabelIDs) != 1 {
		t.Errorf("odd issue %+v", i)
	}
	v, err := w.threads.Load(t.Context(), w.ada, i.Number, threaddb.Window{})
	if err != nil || v.HTML[0] == "" {
		t.Errorf("nested list: %v", err)
	}
}

func TestParallel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	seen := map[int64]bool{}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			i, err := w.issues.Create(t.Context(), w.bob, issues.CreateInput{Title: "x"})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || seen[i.Number] {
				t.Errorf("%v", err)
				return
			}
			seen[i.Number] = true
		})
	}
	wg.Wait()
	if len(seen) != 100 || !seen[1] || !seen[100] || len(w.events(t)) != 100 {
		t.Errorf("%d numbers, %d events", len(seen), len(w.events(t)))
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.open(t, w.bob, issues.CreateInput{Title: "old", Body: "first"})
	update := func(p threads.Place, c threads.Change) (*threads.Result, error) {
		return w.threads.Update(t.Context(), p, i.Number, c)
	}
	r, err := update(w.ada, threads.Change{Body: ptr("second"), Version: ptr(1)})
	if err != nil || r.Issue.Version != 2 {
		t.Fatal(err)
	}
	// Bob started from the first text: his title does no harm to the body,
	// but his body would.
	if r, err = update(w.bob, threads.Change{Title: ptr("new"), Body: ptr("first"), Version: ptr(1)}); err != nil || r.Issue.Body != "second" || r.Issue.Title != "new" {
		t.Fatalf("merged %+v, %v", r, err)
	}
	_, err = update(w.bob, threads.Change{Body: ptr("mine"), Version: ptr(1)})
	var conflict *threads.Conflict
	if !fault.Is(err, fault.Conflict) || !errors.As(err, &conflict) || conflict.Body != "second" || conflict.Version != 3 {
		t.Errorf("conflict: %v %+v", err, conflict)
	}
	if _, err = update(w.bob, threads.Change{Body: ptr("both"), Version: ptr(3)}); err != nil {
		t.Error(err)
	}
	edits, err := threaddb.Edits(t.Context(), w.d.Repo(w.repo.ID), 1, 0)
	if err != nil || len(edits) != 3 || edits[0].Body != "first" || edits[0].By != w.ada.Viewer.ID() {
		t.Errorf("history %+v, %v", edits, err)
	}
	stranger := w.bob
	stranger.Viewer = &model.Viewer{Account: dbtest.User(t, w.d, "eve")}
	if _, err = update(stranger, threads.Change{Title: ptr("hers")}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a stranger's edit: %v", err)
	}
	if _, err = update(w.bob, threads.Change{Title: ptr("new")}); err != nil {
		t.Error(err)
	}
	if got := w.events(t); !slices.Equal(got, []string{"issue.opened", "issue.edited", "issue.edited", "issue.edited"}) {
		t.Errorf("events %v", got)
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := w.open(t, w.ada, issues.CreateInput{Title: "x", Labels: []string{"bug"}})
	m, err := w.issues.CreateMilestone(t.Context(), w.ada, issues.MilestoneInput{Title: ptr("v1")})
	if err != nil || m.Number != 1 {
		t.Fatal(m, err)
	}
	for _, name := range []string{"kind/big", "kind/small"} {
		if _, err := w.issues.CreateLabel(t.Context(), w.ada, issues.LabelInput{Name: &name, Color: ptr("#AABBCC")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.issues.CreateLabel(t.Context(), w.ada, issues.LabelInput{Name: ptr("KIND/big")}); !fault.Is(err, fault.Invalid) {
		t.Errorf("same label: %v", err)
	}
	before := len(w.events(t))
	steps := []struct {
		c    threads.Change
		want []string
	}{
		{threads.Change{AddLabels: []string{"kind/big"}}, []string{"issue.labeled"}},
		{threads.Change{AddLabels: []string{"kind/small"}}, []string{"issue.unlabeled", "issue.labeled"}},
		{threads.Change{Labels: &[]string{"kind/small"}}, []string{"issue.unlabeled"}},
		{threads.Change{RemoveLabels: []string{"Kind/Small"}}, []string{"issue.unlabeled"}},
		{threads.Change{Assignees: &[]string{"ada"}}, []string{"issue.assigned"}},
		{threads.Change{RemoveAssignees: []string{"ada"}}, []string{"issue.unassigned"}},
		{threads.Change{Milestone: ptr(int64(1))}, []string{"issue.milestoned"}},
		{threads.Change{Milestone: ptr(int64(0))}, []string{"issue.demilestoned"}},
		{threads.Change{Lock: ptr(true), LockReason: "spam"}, []string{"issue.locked"}},
		{threads.Change{Lock: ptr(false)}, []string{"issue.unlocked"}},
		{threads.Change{Pin: ptr(true)}, []string{"issue.pinned"}},
		{threads.Change{Pin: ptr(false)}, []string{"issue.unpinned"}},
		{threads.Change{Pin: ptr(false)}, nil},
		{threads.Change{State: ptr("closed"), Reason: "not_planned", Comment: "no"}, []string{"comment.created", "issue.closed"}},
		{threads.Change{State: ptr("closed")}, nil},
		{threads.Change{State: ptr("open")}, []string{"issue.reopened"}},
	}
	for n, s := range steps {
		if _, err := w.threads.Update(t.Context(), w.ada, i.Number, s.c); err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
		all := w.events(t)
		if got := all[before:]; !slices.Equal(got, s.want) {
			t.Errorf("step %d: events %v, want %v", n, got, s.want)
		}
		before = len(all)
	}
	items, _, err := threaddb.Timeline(t.Context(), w.d.Repo(w.repo.ID), 1, threaddb.Window{})
	if err != nil || len(items) != 16 {
		t.Errorf("%d lines, %v", len(items), err)
	}
	if _, err := w.threads.Update(t.Context(), w.bob, 1, threads.Change{AddLabels: []string{"bug"}}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a reader's label: %v", err)
	}
}

func TestClosing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(t, w.bob, issues.CreateInput{Title: "x"})
	state := func(p threads.Place, s string) error {
		_, err := w.threads.Update(t.Context(), p, 1, threads.Change{State: &s})
		return err
	}
	if err := errors.Join(state(w.bob, "closed"), state(w.bob, "open"), state(w.ada, "closed")); err != nil {
		t.Error(err)
	}
	if err := state(w.bob, "open"); !fault.Is(err, fault.Forbidden) {
		t.Errorf("reopened what another closed: %v", err)
	}
	counts, err := w.d.Repo(w.repo.ID).Counts(t.Context())
	if err != nil || counts["open_issues"] != 0 || counts["closed_issues"] != 1 {
		t.Errorf("counts %v, %v", counts, err)
	}
	w.open(t, w.bob, issues.CreateInput{Title: "again"})
	r, err := w.threads.Update(t.Context(), w.ada, 2, threads.Change{State: ptr("closed"), DuplicateOf: 1})
	if err != nil || r.Issue.StateReason != "duplicate" || r.Issue.DuplicateOf != 1 {
		t.Errorf("duplicate %+v, %v", r, err)
	}
}

func TestComments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(t, w.ada, issues.CreateInput{Title: "x"})
	w.open(t, w.ada, issues.CreateInput{Title: "y", Body: "see #1, #1 and #99"})
	for _, body := range []string{"", " \n\t", strings.Repeat("x", 65_537), "\x00", "\xff"} {
		if _, err := w.threads.Comment(t.Context(), w.bob, 1, threads.CommentInput{Body: body}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%.9q: %v", body, err)
		}
	}
	r, err := w.threads.Comment(t.Context(), w.bob, 1, threads.CommentInput{Body: "- [ ] one\n- [ ] two"})
	if err != nil || r.Issue.Comments != 1 {
		t.Fatal(err)
	}
	id := r.Comment.ID
	if r, err = w.threads.Task(t.Context(), w.bob, 1, threads.TaskInput{Comment: id, Index: 1, Checked: true, Text: "two"}); err != nil || r.Comment.Body != "- [ ] one\n- [x] two" {
		t.Errorf("ticked %q, %v", r.Comment.Body, err)
	}
	if _, err = w.threads.Task(t.Context(), w.bob, 1, threads.TaskInput{Comment: id, Index: 1, Checked: true, Text: "three"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("ticked what is gone: %v", err)
	}
	if _, err = w.threads.EditComment(t.Context(), w.ada, id, threads.EditInput{Body: "x", Version: ptr(1)}); !fault.Is(err, fault.Conflict) {
		t.Errorf("wrote over another's: %v", err)
	}
	v, err := w.threads.Load(t.Context(), w.bob, 1, threaddb.Window{})
	if err != nil || len(v.Items) != 2 || v.Items[0].Kind != model.ItemCrossRef || v.Items[0].Data.Number != 2 {
		t.Fatalf("timeline %+v, %v", v, err)
	}
	if _, _, err = w.threads.React(t.Context(), w.bob, threads.Post{Number: 1, Comment: id}, "heart"); err != nil {
		t.Error(err)
	}
	if _, made, err := w.threads.React(t.Context(), w.bob, threads.Post{Number: 1, Comment: id}, "heart"); err != nil || made {
		t.Errorf("twice: %v, %v", made, err)
	}
	if _, _, err = w.threads.React(t.Context(), w.bob, threads.Post{Number: 1}, "banana"); !fault.Is(err, fault.Invalid) {
		t.Errorf("unknown reaction: %v", err)
	}
	if err = w.threads.Unreact(t.Context(), w.bob, threads.Post{Number: 1, Comment: id}, 0, "heart"); err != nil {
		t.Error(err)
	}
	if _, err = w.threads.Update(t.Context(), w.ada, 1, threads.Change{Lock: ptr(true)}); err != nil {
		t.Error(err)
	}
	if _, err = w.threads.Comment(t.Context(), w.bob, 1, threads.CommentInput{Body: "x"}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("comment on a locked one: %v", err)
	}
	if i, err := w.threads.DeleteComment(t.Context(), w.bob, id); err != nil || i.Comments != 0 {
		t.Errorf("deleted: %v", err)
	}
}

func TestConfidential(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(t, w.ada, issues.CreateInput{Title: "open"})
	w.open(t, w.ada, issues.CreateInput{Title: "hole", Body: "in #1", Confidential: true})
	if _, err := w.threads.Find(t.Context(), w.bob, 2); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("seen: %v", err)
	}
	if _, err := w.threads.Comment(t.Context(), w.bob, 2, threads.CommentInput{Body: "x"}); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("written to: %v", err)
	}
	for who, c := range map[string]struct {
		p    threads.Place
		want int
	}{"ada": {w.ada, 1}, "bob": {w.bob, 0}} {
		v, err := w.threads.Load(t.Context(), c.p, 1, threaddb.Window{})
		if err != nil || len(v.Items) != c.want {
			t.Errorf("%s sees %d lines, %v", who, len(v.Items), err)
		}
	}
	v, err := w.threads.Load(t.Context(), w.ada, 2, threaddb.Window{})
	if err != nil || !strings.Contains(string(v.HTML[0]), `href="/ada/engine/issues/1"`) {
		t.Errorf("%s, %v", v.HTML[0], err)
	}
}

func TestReferElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.ada
	other.Repo = dbtest.Repo(t, w.d, w.ada.Viewer.Account, "mill", dbtest.RepoOpts{})
	secret := w.ada
	secret.Repo = dbtest.Repo(t, w.d, w.ada.Viewer.Account, "cellar", dbtest.RepoOpts{Private: true})
	w.open(t, w.ada, issues.CreateInput{Title: "x"})
	for _, p := range []threads.Place{other, secret} {
		w.open(t, p, issues.CreateInput{Title: "from there", Body: "ada/engine#1"})
		args := threads.ReferArgs{RepoID: p.Repo.ID, Number: 1, ActorID: w.ada.Viewer.ID(), Refs: []markup.Ref{{Owner: "ada", Repo: "engine", Number: 1}, {Owner: "no", Repo: "where", Number: 3}}}
		for range 2 {
			if err := w.threads.ReferNow(t.Context(), args); err != nil {
				t.Fatal(err)
			}
		}
	}
	for want, p := range map[int]threads.Place{2: w.ada, 1: w.bob} {
		v, err := w.threads.Load(t.Context(), p, 1, threaddb.Window{})
		if err != nil || len(v.Items) != want {
			t.Errorf("%d lines, want %d, %v", len(v.Items), want, err)
		}
	}
}

func TestRelations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.open(t, w.ada, issues.CreateInput{Title: "x"})
	}
	c := w.open(t, w.ada, issues.CreateInput{Title: "child", Parent: 1})
	add := func(parent, child int64) error {
		_, err := w.issues.AddSubIssue(t.Context(), w.ada, parent, child, false)
		return err
	}
	if err := add(1, 2); err != nil {
		t.Error(err)
	}
	if err := add(2, 3); err != nil {
		t.Error(err)
	}
	for _, bad := range [][2]int64{{3, 1}, {1, 1}, {3, 2}, {1, 2}} {
		if err := add(bad[0], bad[1]); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if err := w.issues.MoveSubIssue(t.Context(), w.ada, 1, 2, 0, c.Number); err != nil {
		t.Error(err)
	}
	up, err := threaddb.Find(t.Context(), w.d.Repo(w.repo.ID), 1)
	if err != nil || !slices.Equal(up.Children, []int64{2, 4}) {
		t.Errorf("children %v, %v", up.Children, err)
	}
	if _, err := w.issues.Block(t.Context(), w.ada, 1, 3, false); err != nil {
		t.Error(err)
	}
	if _, err := w.issues.Block(t.Context(), w.ada, 3, 1, false); !fault.Is(err, fault.Invalid) {
		t.Errorf("both wait: %v", err)
	}
	if _, err := w.issues.RemoveSubIssue(t.Context(), w.ada, 1, 2); err != nil {
		t.Error(err)
	}
}

// A transaction that ends half way leaves nothing.
func TestNothingHalfDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(t, w.ada, issues.CreateInput{Title: "x"})
	stop := errors.New("stop")
	err := w.d.InRepo(t.Context(), w.repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := w.threads.UpdateTx(ctx, tx, w.ada, 1, threads.Change{State: ptr("closed"), Comment: "bye"}); err != nil {
			return err
		}
		return stop
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	v, err := w.threads.Load(t.Context(), w.ada, 1, threaddb.Window{})
	if err != nil || !v.Issue.Open() || len(v.Items) != 0 || len(w.events(t)) != 1 || v.Facts.Counts["open_issues"] != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}
