package issuedb_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/issuedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// add inserts issues and returns the repository's id.
func add(t *testing.T, d *db.DB, issues ...*model.Issue) int64 {
	t.Helper()
	repo := dbtest.Repo(t, d, dbtest.User(t, d, "ada"), "engine", dbtest.RepoOpts{})
	err := d.InRepo(t.Context(), repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		for _, i := range issues {
			id, err := tx.NextID(ctx)
			if err != nil {
				return err
			}
			i.ID, i.Number, i.Version = id, tx.NextNumber(), 1
			i.CreatedAt, i.UpdatedAt = tx.Now(), tx.Now().Add(time.Duration(i.Comments)*time.Minute)
			if i.Kind == "" {
				i.Kind = model.KindIssue
			}
			if i.State == "" {
				i.State = model.StateOpen
			}
			if err := threaddb.Insert(ctx, tx, i); err != nil {
				return err
			}
		}
		return threaddb.Append(ctx, tx, &model.TimelineItem{Number: 1, Kind: model.ItemComment, AuthorID: 9, Body: "seen on the Zephyr board by @bob-x"})
	})
	if err != nil {
		t.Fatal(err)
	}
	return repo.ID
}

func TestList(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	at := time.Now()
	id := add(t, d,
		&model.Issue{Title: "Crash on start", Body: "The 'quoted' panic: nil & | ! <-> :* \\", AuthorID: 1, LabelIDs: []int64{1, 4}, Comments: 3},
		&model.Issue{Title: "Slow list", Body: "reading @ada and @adam", AuthorID: 2, AssigneeIDs: []int64{1}, MilestoneID: 7},
		&model.Issue{Title: "Old one", State: model.StateClosed, StateReason: model.ReasonNotPlanned, ClosedAt: &at, AuthorID: 1, LabelIDs: []int64{2}},
		&model.Issue{Title: "Secret hole", AuthorID: 3, Confidential: true, Reactions: []model.Reaction{{ID: 5, By: 1, Content: "+1"}}},
		&model.Issue{Title: "A change", Kind: model.KindPull, AuthorID: 1},
	)
	type cond = issuedb.Cond
	kind := cond{Field: issuedb.Kind, Text: model.KindIssue}
	three := 3
	past := at.Add(-time.Hour)
	for name, c := range map[string]struct {
		f            issuedb.Filter
		numbers      []int64
		open, closed int
	}{
		"all":           {issuedb.Filter{}, []int64{5, 3, 2, 1}, 3, 1},
		"issues":        {issuedb.Filter{Where: kind}, []int64{3, 2, 1}, 2, 1},
		"open":          {issuedb.Filter{Where: kind, State: "open"}, []int64{2, 1}, 2, 1},
		"author sees":   {issuedb.Filter{Where: kind, State: "open", AccountID: 3}, []int64{4, 2, 1}, 3, 1},
		"triage sees":   {issuedb.Filter{Where: kind, Role: model.RoleTriage}, []int64{4, 3, 2, 1}, 3, 1},
		"label":         {issuedb.Filter{Where: cond{Field: issuedb.Label, IDs: []int64{4, 2}}}, []int64{3, 1}, 1, 1},
		"no label":      {issuedb.Filter{Where: cond{Field: issuedb.Label}}, []int64{5, 2}, 2, 0},
		"not label":     {issuedb.Filter{Where: cond{Field: issuedb.Label, IDs: []int64{1}, Not: true}}, []int64{5, 3, 2}, 2, 1},
		"assignee":      {issuedb.Filter{Where: cond{Field: issuedb.Assignee, IDs: []int64{1}}}, []int64{2}, 1, 0},
		"milestone":     {issuedb.Filter{Where: cond{Field: issuedb.Milestone, IDs: []int64{7}}}, []int64{2}, 1, 0},
		"no milestone":  {issuedb.Filter{Where: cond{Field: issuedb.Milestone}}, []int64{5, 3, 1}, 2, 1},
		"mention":       {issuedb.Filter{Where: cond{Field: issuedb.Mention, Text: "ada"}}, []int64{2}, 1, 0},
		"mention there": {issuedb.Filter{Where: cond{Field: issuedb.Mention, Text: "bob-x"}}, []int64{1}, 1, 0},
		"mention part":  {issuedb.Filter{Where: cond{Field: issuedb.Mention, Text: "bob"}}, nil, 0, 0},
		"word":          {issuedb.Filter{Where: cond{Field: issuedb.Words, Text: "PANI"}}, []int64{1}, 1, 0},
		"in comment":    {issuedb.Filter{Where: cond{Field: issuedb.Words, Text: "zephyr"}}, []int64{1}, 1, 0},
		"title only":    {issuedb.Filter{Where: cond{Field: issuedb.Title, Text: "panic"}}, nil, 0, 0},
		"title":         {issuedb.Filter{Where: cond{Field: issuedb.Title, Text: "crash"}}, []int64{1}, 1, 0},
		"phrase":        {issuedb.Filter{Where: cond{Field: issuedb.Words, Text: `"crash on"`}}, []int64{1}, 1, 0},
		"no phrase":     {issuedb.Filter{Where: cond{Field: issuedb.Words, Text: `"on crash"`}}, nil, 0, 0},
		"odd text":      {issuedb.Filter{Where: cond{Field: issuedb.Words, Text: `'quoted' & | ! \ nil`}}, []int64{1}, 1, 0},
		"commenter":     {issuedb.Filter{Where: cond{Field: issuedb.Commenter, IDs: []int64{9}}}, []int64{1}, 1, 0},
		"comments":      {issuedb.Filter{Where: cond{Field: issuedb.Comments, Min: &three}}, []int64{1}, 1, 0},
		"closed since":  {issuedb.Filter{Where: cond{Field: issuedb.Closed, From: &past}}, []int64{3}, 0, 1},
		"either":        {issuedb.Filter{Where: cond{Field: issuedb.Any, Kids: []cond{{Field: issuedb.Author, IDs: []int64{2}}, {Field: issuedb.Reason, Text: "not_planned"}}}}, []int64{3, 2}, 1, 1},
		"neither":       {issuedb.Filter{Where: cond{Field: issuedb.Any, Not: true, Kids: []cond{{Field: issuedb.Author, IDs: []int64{2}}, {Field: issuedb.Author, IDs: []int64{1}}}}}, nil, 0, 0},
		"by update":     {issuedb.Filter{Where: kind, Sort: "updated", State: "open"}, []int64{1, 2}, 2, 1},
		"oldest":        {issuedb.Filter{Where: kind, Ascending: true}, []int64{1, 2, 3}, 2, 1},
		"by reaction":   {issuedb.Filter{Where: kind, Sort: "reactions-+1", Role: model.RoleAdmin}, []int64{4, 3, 2, 1}, 3, 1},
		"past the end":  {issuedb.Filter{Where: kind, Offset: 30}, nil, 2, 1},
	} {
		c.f.Limit = 25
		page, err := issuedb.List(t.Context(), d.Repo(id), c.f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []int64
		for _, i := range page.Issues {
			got = append(got, i.Number)
		}
		if !slices.Equal(got, c.numbers) || page.Open != c.open || page.Closed != c.closed {
			t.Errorf("%s: got %v, %d open, %d closed; want %v, %d, %d", name, got, page.Open, page.Closed, c.numbers, c.open, c.closed)
		}
		if c.f.State == "" {
			continue
		}
		rows, err := issuedb.OpenList(t.Context(), d.Repo(id), c.f)
		if err != nil || len(rows) != len(got) {
			t.Errorf("%s without counting: %d rows, %v", name, len(rows), err)
		}
	}
}

// The labels in the schema are those that code shows before there is one.
func TestDefaultLabels(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	empty := dbtest.Repo(t, d, dbtest.User(t, d, "bob"), "empty", dbtest.RepoOpts{})
	id := add(t, d, &model.Issue{Title: "x", AuthorID: 1})
	show := func(repo int64) string {
		labels, err := issuedb.Labels(t.Context(), d.Repo(repo))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, l := range labels {
			fmt.Fprintf(&b, "%+v\n", *l)
		}
		return b.String()
	}
	if a, b := show(empty.ID), show(id); a != b || len(a) < 100 {
		t.Errorf("without tables:\n%s\nwith tables:\n%s", a, b)
	}
}

func TestLabelsAndMilestones(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	id := add(t, d, &model.Issue{Title: "x", AuthorID: 1, LabelIDs: []int64{1, 2}},
		&model.Issue{Title: "y", AuthorID: 1, State: model.StateClosed})
	m := &model.Milestone{Number: 1, Title: "v1", State: model.StateOpen}
	l := &model.Label{Name: "kind/bug", Color: "ff0000"}
	err := d.InRepo(t.Context(), id, func(ctx context.Context, tx *db.RepoTx) error {
		if err := threaddb.InsertLabel(ctx, tx, l); err != nil {
			return err
		}
		if err := issuedb.DeleteLabel(ctx, tx, model.DefaultLabels()[0]); err != nil {
			return err
		}
		if err := issuedb.SaveMilestone(ctx, tx, m); err != nil {
			return err
		}
		for n := int64(1); n <= 2; n++ {
			if err := threaddb.Update(ctx, tx, &model.Issue{Number: n, MilestoneID: m.ID}, "milestone_id"); err != nil {
				return err
			}
		}
		return threaddb.CountMilestones(ctx, tx, m.ID, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	issue, err := threaddb.Find(t.Context(), d.Repo(id), 1)
	if err != nil || !slices.Equal(issue.LabelIDs, []int64{2}) {
		t.Errorf("labels %v, %v", issue.LabelIDs, err)
	}
	c, err := threaddb.LoadContext(t.Context(), d.Repo(id), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if l.ID <= model.ReservedLabelIDs || len(c.Labels) != 9 {
		t.Errorf("id %d, %d labels", l.ID, len(c.Labels))
	}
	if len(c.Milestones) != 1 || c.Milestones[0].OpenIssues != 1 || c.Milestones[0].Percent() != 50 {
		t.Errorf("milestones %+v", c.Milestones)
	}
}
