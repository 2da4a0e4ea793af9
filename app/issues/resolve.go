package issues

import (
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db/issuedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// resolver turns a query into a filter.
type resolver struct {
	p      threads.Place
	facts  *threaddb.Context
	people map[string]*model.Account
	now    time.Time
	in     []issuedb.Field // where words are looked for
	filter issuedb.Filter
	words  []string
	// unknown are values that name nothing, for a hint on the page.
	unknown []string
}

// names are the accounts that a query names, without @me.
func names(n Node) []string {
	var out []string
	for _, k := range n.Kids {
		out = append(out, names(k)...)
	}
	switch n.Key {
	case "author", "assignee", "commenter", "involves":
		for _, v := range strings.Split(n.Value, ",") {
			if v = account(v); v != "me" && v != "*" && v != "" {
				out = append(out, v)
			}
		}
	}
	return out
}

func account(v string) string { return strings.TrimPrefix(strings.TrimSpace(v), "@") }

// resolve fills the filter from the query's tree. The state and the order are
// those of the terms at its top.
func (r *resolver) resolve(n Node) {
	var kids []issuedb.Cond
	for _, k := range flat(n) {
		if k.Op == "" && k.Key == "in" && !k.Not {
			for _, v := range strings.Split(k.Value, ",") {
				switch strings.ToLower(v) {
				case "title":
					r.in = append(r.in, issuedb.Title)
				case "body":
					r.in = append(r.in, issuedb.Body)
				case "comments", "comment":
					r.in = append(r.in, issuedb.Comment)
				}
			}
		}
	}
	for _, k := range flat(n) {
		if r.top(k) {
			continue
		}
		kids = append(kids, r.cond(k))
	}
	r.filter.Where = issuedb.Cond{Kids: kids}
	r.filter.Relevance = strings.Join(r.words, " ")
}

// top takes the terms that are about the list and not about an issue.
func (r *resolver) top(k Node) bool {
	if k.Op != "" || k.Not {
		return false
	}
	v := strings.ToLower(k.Value)
	switch {
	case k.Key == "is" || k.Key == "state":
		if v == model.StateOpen || v == model.StateClosed {
			r.filter.State = v
			return true
		}
	case k.Key == "sort":
		r.filter.Ascending = strings.HasSuffix(v, "-asc")
		r.filter.Sort = strings.TrimSuffix(strings.TrimSuffix(v, "-asc"), "-desc")
		return true
	}
	return k.Key == "in" || k.Key == "repo" || k.Key == "archived"
}

func (r *resolver) cond(n Node) issuedb.Cond {
	c := issuedb.Cond{}
	switch {
	case n.Op != "":
		if n.Op == "or" {
			c.Field = issuedb.Any
		}
		for _, k := range n.Kids {
			c.Kids = append(c.Kids, r.cond(k))
		}
	case n.Key == "":
		c = r.text(n)
	default:
		c = r.term(n)
	}
	c.Not = c.Not != n.Not
	return c
}

// never matches nothing, for values that name nothing.
func (r *resolver) never(value string) issuedb.Cond {
	r.unknown = append(r.unknown, value)
	return issuedb.Cond{Field: issuedb.Any}
}

func (r *resolver) text(n Node) issuedb.Cond {
	if num, ok := strings.CutPrefix(n.Value, "#"); ok {
		if id, err := strconv.ParseInt(num, 10, 64); err == nil {
			return issuedb.Cond{Field: issuedb.Number, IDs: []int64{id}}
		}
	}
	words := strings.ReplaceAll(n.Value, `"`, " ")
	if n.Quoted {
		words = `"` + words + `"`
	}
	if strings.TrimSpace(words) == "" || words == `""` {
		return issuedb.Cond{}
	}
	if !n.Not {
		r.words = append(r.words, words)
	}
	if len(r.in) == 0 {
		return issuedb.Cond{Field: issuedb.Words, Text: words}
	}
	c := issuedb.Cond{Field: issuedb.Any}
	for _, f := range r.in {
		c.Kids = append(c.Kids, issuedb.Cond{Field: f, Text: words})
	}
	return c
}

func (r *resolver) term(n Node) issuedb.Cond {
	switch n.Key {
	case "is", "state":
		return r.is(strings.ToLower(n.Value), n.Value)
	case "no":
		return r.no(strings.ToLower(n.Value), n.Value)
	case "has":
		c := r.no(strings.ToLower(n.Value), n.Value)
		c.Not = len(c.Kids) == 0 && c.Field != issuedb.Any
		return c
	case "type":
		switch strings.ToLower(n.Value) {
		case "issue", "pr":
			return r.is(strings.ToLower(n.Value), n.Value)
		}
		return issuedb.Cond{Field: issuedb.Type, Text: n.Value}
	case "label":
		return r.label(n.Value)
	case "milestone":
		return r.milestone(n.Value)
	case "reason":
		return issuedb.Cond{Field: issuedb.Reason, Text: strings.ReplaceAll(strings.ToLower(n.Value), " ", "_")}
	case "mentions":
		name := account(n.Value)
		if name == "me" {
			name = r.p.Viewer.Name()
		}
		return issuedb.Cond{Field: issuedb.Mention, Text: name}
	case "linked":
		return issuedb.Cond{Field: issuedb.Linked}
	case "parent":
		num, err := strconv.ParseInt(strings.TrimPrefix(n.Value, "#"), 10, 64)
		if err != nil {
			return r.never(n.Value)
		}
		return issuedb.Cond{Field: issuedb.Parent, IDs: []int64{num}}
	case "author", "assignee", "commenter", "involves":
		return r.person(n.Key, n.Value)
	case "created", "updated", "closed":
		return r.when(n.Key, n.Value)
	case "comments", "reactions", "interactions":
		return r.amount(n.Key, n.Value)
	}
	return issuedb.Cond{}
}

func (r *resolver) is(v, given string) issuedb.Cond {
	switch v {
	case model.StateOpen, model.StateClosed:
		return issuedb.Cond{Field: issuedb.State, Text: v}
	case "issue":
		return issuedb.Cond{Field: issuedb.Kind, Text: model.KindIssue}
	case "pr", "pull-request":
		return issuedb.Cond{Field: issuedb.Kind, Text: model.KindPull}
	case "merged":
		return issuedb.Cond{Field: issuedb.Reason, Text: model.ReasonMerged}
	case "unmerged":
		return issuedb.Cond{Field: issuedb.Reason, Text: model.ReasonMerged, Not: true}
	case "draft":
		return issuedb.Cond{Field: issuedb.Draft}
	case "locked":
		return issuedb.Cond{Field: issuedb.Locked}
	case "unlocked":
		return issuedb.Cond{Field: issuedb.Locked, Not: true}
	case "pinned":
		return issuedb.Cond{Field: issuedb.Pinned}
	case "confidential":
		return issuedb.Cond{Field: issuedb.Confidential}
	case "blocked":
		return issuedb.Cond{Field: issuedb.Blocked}
	case "public", "private":
		return issuedb.Cond{Field: issuedb.All}
	}
	return r.never(given)
}

func (r *resolver) no(v, given string) issuedb.Cond {
	switch v {
	case "label", "labels":
		return issuedb.Cond{Field: issuedb.Label}
	case "assignee":
		return issuedb.Cond{Field: issuedb.Assignee}
	case "milestone":
		return issuedb.Cond{Field: issuedb.Milestone}
	case "type":
		return issuedb.Cond{Field: issuedb.Type}
	case "parent", "parent-issue":
		return issuedb.Cond{Field: issuedb.Parent, IDs: []int64{0}}
	}
	return r.never(given)
}

func (r *resolver) label(v string) issuedb.Cond {
	c := issuedb.Cond{Field: issuedb.Label}
	list := []string{v}
	if _, err := findLabel(r.facts.Labels, v); err != nil {
		list = strings.Split(v, ",")
	}
	for _, name := range list {
		if l, err := findLabel(r.facts.Labels, strings.TrimSpace(name)); err == nil {
			c.IDs = append(c.IDs, l.ID)
		} else {
			r.unknown = append(r.unknown, name)
		}
	}
	if len(c.IDs) == 0 {
		return issuedb.Cond{Field: issuedb.Any}
	}
	return c
}

func (r *resolver) milestone(v string) issuedb.Cond {
	c := issuedb.Cond{Field: issuedb.Milestone}
	for _, m := range r.facts.Milestones {
		if strings.EqualFold(m.Title, v) || v == "*" {
			c.IDs = append(c.IDs, m.ID)
		}
	}
	if len(c.IDs) == 0 {
		return r.never(v)
	}
	return c
}

func (r *resolver) person(key, v string) issuedb.Cond {
	if v == "*" && key == "assignee" {
		return issuedb.Cond{Field: issuedb.Assignee, Not: true}
	}
	var ids []int64
	var mentioned []issuedb.Cond
	for _, name := range strings.Split(v, ",") {
		name = account(name)
		id := int64(0)
		switch a := r.people[model.Key(name)]; {
		case name == "me":
			name, id = r.p.Viewer.Name(), r.p.Viewer.ID()
		case a != nil:
			id = a.ID
		}
		if id == 0 {
			r.unknown = append(r.unknown, name)
			continue
		}
		ids = append(ids, id)
		mentioned = append(mentioned, issuedb.Cond{Field: issuedb.Mention, Text: name})
	}
	switch {
	case len(ids) == 0:
		return issuedb.Cond{Field: issuedb.Any}
	case key == "author":
		return issuedb.Cond{Field: issuedb.Author, IDs: ids}
	case key == "assignee":
		return issuedb.Cond{Field: issuedb.Assignee, IDs: ids}
	case key == "commenter":
		return issuedb.Cond{Field: issuedb.Commenter, IDs: ids}
	}
	return issuedb.Cond{Field: issuedb.Any, Kids: append(mentioned, issuedb.Cond{Field: issuedb.Author, IDs: ids},
		issuedb.Cond{Field: issuedb.Assignee, IDs: ids}, issuedb.Cond{Field: issuedb.Commenter, IDs: ids})}
}

// bounds splits >=x, >x, <=x, <x, x..y and x.
func bounds(v string) (low, high string, lowOpen, highOpen bool) {
	switch {
	case strings.HasPrefix(v, ">="):
		return v[2:], "", false, false
	case strings.HasPrefix(v, ">"):
		return v[1:], "", true, false
	case strings.HasPrefix(v, "<="):
		return "", v[2:], false, false
	case strings.HasPrefix(v, "<"):
		return "", v[1:], false, true
	}
	if a, b, ok := strings.Cut(v, ".."); ok {
		return strings.TrimPrefix(a, "*"), strings.TrimPrefix(b, "*"), false, false
	}
	return v, v, false, false
}

func (r *resolver) when(key, v string) issuedb.Cond {
	c := issuedb.Cond{Field: map[string]issuedb.Field{"created": issuedb.Created, "updated": issuedb.Updated, "closed": issuedb.Closed}[key]}
	low, high, lowOpen, highOpen := bounds(v)
	// A day is a span: from its start, and to the start of the next.
	edge := func(s string, next bool) *time.Time {
		if s == "" {
			return nil
		}
		t, length, ok := r.date(s)
		if !ok {
			r.unknown = append(r.unknown, s)
			return nil
		}
		if next {
			t = t.Add(length)
		}
		return &t
	}
	c.From, c.To = edge(low, lowOpen), edge(high, !highOpen)
	if c.From == nil && c.To == nil {
		return issuedb.Cond{Field: issuedb.Any}
	}
	return c
}

// date reads a day, a time, or @today, @today-3d, and says how long it is.
func (r *resolver) date(s string) (time.Time, time.Duration, bool) {
	if rest, ok := strings.CutPrefix(strings.ToLower(s), "@today"); ok {
		day := r.now.UTC().Truncate(24 * time.Hour)
		rest = strings.TrimSuffix(rest, "d")
		if rest == "" {
			return day, 24 * time.Hour, true
		}
		n, err := strconv.Atoi(rest)
		return day.AddDate(0, 0, n), 24 * time.Hour, err == nil && n > -100_000 && n < 100_000
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, 24 * time.Hour, true
	}
	t, err := time.Parse(time.RFC3339, s)
	return t, time.Second, err == nil
}

func (r *resolver) amount(key, v string) issuedb.Cond {
	c := issuedb.Cond{Field: issuedb.Comments}
	if key != "comments" {
		c.Field = issuedb.Reactions
	}
	low, high, lowOpen, highOpen := bounds(v)
	edge := func(s string, by int) *int {
		n, err := strconv.Atoi(s)
		if err != nil || n < -1_000_000 || n > 1_000_000_000 {
			if s != "" {
				r.unknown = append(r.unknown, s)
			}
			return nil
		}
		n += by
		return &n
	}
	one := func(open bool, n int) int {
		if open {
			return n
		}
		return 0
	}
	c.Min, c.Max = edge(low, one(lowOpen, 1)), edge(high, one(highOpen, -1))
	if c.Min == nil && c.Max == nil {
		return issuedb.Cond{Field: issuedb.Any}
	}
	return c
}
