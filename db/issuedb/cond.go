// Package issuedb holds the queries that are about issues and not about
// threads as such: lists by conditions, labels and milestones.
package issuedb

import (
	"strings"
	"time"

	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
)

// Field is what a condition is about.
type Field int

// The fields of conditions. What a condition holds beside its field is said
// at each.
const (
	All       Field = iota // Kids: all of them hold; none is true
	Any                    // Kids: one of them holds
	Kind                   // Text: model.KindIssue or KindPull
	State                  // Text: open or closed
	Reason                 // Text: state_reason
	Number                 // IDs
	Label                  // IDs: one of them is on it; none: no label
	Author                 // IDs
	Assignee               // IDs: one of them; none: nobody
	Milestone              // IDs; none: none
	Commenter              // IDs: one of them wrote a comment
	Mention                // Text: an account's name
	Type                   // Text: the issue's type; "" is none
	Words                  // Text: full text in title, body and comments
	Title                  // Text: full text in the title
	Body                   // Text: full text in the body
	Comment                // Text: full text in the comments
	Created                // From, To
	Updated                // From, To
	Closed                 // From, To
	Comments               // Min, Max
	Reactions              // Min, Max
	Locked
	Confidential
	Pinned
	Draft
	Linked // has a parent, children or a duplicate
	Blocked
	Parent // IDs: one of them is the parent
)

// Cond is a condition on threads.
type Cond struct {
	Field    Field
	Not      bool
	IDs      []int64
	Text     string
	From, To *time.Time
	Min, Max *int
	Kids     []Cond
}

// sql is a piece of SQL with its arguments.
type sql struct {
	text string
	args []any
}

func lit(text string, args ...any) sql { return sql{text, args} }

func (c Cond) sql() sql {
	s := c.plain()
	if c.Not {
		s.text = "NOT coalesce((" + s.text + "), false)"
	}
	return s
}

func (c Cond) plain() sql {
	switch c.Field {
	case All:
		return join(c.Kids, " AND ", "true")
	case Any:
		return join(c.Kids, " OR ", "false")
	case Kind:
		return lit("i.kind = ?", c.Text)
	case State:
		return lit("i.state = ?", c.Text)
	case Reason:
		return lit("i.state_reason = ?", c.Text)
	case Type:
		return lit("lower(i.issue_type) = lower(?)", c.Text)
	case Number:
		return in("i.number", c.IDs)
	case Author:
		return in("i.author_id", c.IDs)
	case Parent:
		return in("coalesce(i.parent, 0)", c.IDs)
	case Label:
		return set("i.label_ids", c.IDs)
	case Assignee:
		return set("i.assignee_ids", c.IDs)
	case Milestone:
		if len(c.IDs) == 0 {
			return lit("i.milestone_id IS NULL")
		}
		return in("coalesce(i.milestone_id, 0)", c.IDs)
	case Commenter:
		if len(c.IDs) == 0 {
			return lit("false")
		}
		return lit("EXISTS (SELECT 1 FROM ?scope.timeline t WHERE t.number = i.number AND t.kind = 'comment' AND t.author_id IN (?))", bun.List(c.IDs))
	case Mention:
		at := "(^|[^[:alnum:]_/-])@" + strings.ReplaceAll(c.Text, "-", `\-`) + "($|[^[:alnum:]_-])"
		return lit("(i.body ~* ? OR EXISTS (SELECT 1 FROM ?scope.timeline t WHERE t.number = i.number AND t.kind = 'comment' AND t.body ~* ?))", at, at)
	case Locked:
		return lit("i.locked <> ''")
	case Confidential:
		return lit("i.confidential")
	case Draft:
		return lit("i.draft")
	case Pinned:
		return lit("i.pinned_at IS NOT NULL")
	case Linked:
		return lit("(i.parent IS NOT NULL OR i.children <> '{}' OR i.duplicate_of IS NOT NULL)")
	case Blocked:
		return lit("i.blocked_by <> '{}'")
	}
	return c.measured()
}

func (c Cond) measured() sql {
	switch c.Field {
	case Created:
		return span("i.created_at", c.From, c.To)
	case Updated:
		return span("i.updated_at", c.From, c.To)
	case Closed:
		return span("i.closed_at", c.From, c.To)
	case Comments:
		return amount("i.comments", c.Min, c.Max)
	case Reactions:
		return amount("jsonb_array_length(i.reactions)", c.Min, c.Max)
	}
	return c.words()
}

const (
	inComments = "i.number IN (SELECT t.number FROM ?scope.timeline t WHERE t.kind = 'comment' AND to_tsvector('simple', left(t.body, 30000)) @@ to_tsquery('simple', ?))"
	inIssue    = "i.search @@ to_tsquery('simple', ?)"
)

func (c Cond) words() sql {
	q := tsquery(c.Text, "")
	if q == "" {
		return lit("true")
	}
	switch c.Field {
	case Title:
		return lit(inIssue, tsquery(c.Text, "A"))
	case Body:
		return lit(inIssue, tsquery(c.Text, "D"))
	case Comment:
		return lit(inComments, q)
	}
	return lit("("+inIssue+" OR "+inComments+")", q, q)
}

// tsquery is text as a tsquery in which all words must occur, the words of
// a quoted phrase one after the other; weight "" is any. No character of the
// text has a meaning of its own.
func tsquery(text, weight string) string {
	var parts []string
	for i, phrase := range strings.Split(text, `"`) {
		var words []string
		for _, w := range strings.Fields(phrase) {
			quoted := "'" + strings.NewReplacer("'", "''", `\`, `\\`, "\x00", "").Replace(w) + "'"
			switch {
			case i%2 == 0:
				quoted += ":*" + weight
			case weight != "":
				quoted += ":" + weight
			}
			words = append(words, quoted)
		}
		if len(words) == 0 {
			continue
		}
		op := " & "
		if i%2 == 1 {
			op = " <-> "
		}
		parts = append(parts, "("+strings.Join(words, op)+")")
	}
	return strings.Join(parts, " & ")
}

func join(kids []Cond, op, none string) sql {
	if len(kids) == 0 {
		return lit(none)
	}
	out := sql{}
	for i, k := range kids {
		s := k.sql()
		if i > 0 {
			out.text += op
		}
		out.text += "(" + s.text + ")"
		out.args = append(out.args, s.args...)
	}
	return out
}

func in(column string, ids []int64) sql {
	if len(ids) == 0 {
		return lit("false")
	}
	return lit(column+" IN (?)", bun.List(ids))
}

func set(column string, ids []int64) sql {
	if len(ids) == 0 {
		return lit(column + " = '{}'")
	}
	return lit(column+" && ARRAY[?]::bigint[]", bun.List(ids))
}

func span(column string, from, to *time.Time) sql {
	out := lit(column + " IS NOT NULL")
	if from != nil {
		out.text += " AND " + column + " >= ?"
		out.args = append(out.args, *from)
	}
	if to != nil {
		out.text += " AND " + column + " < ?"
		out.args = append(out.args, *to)
	}
	return out
}

func amount(column string, low, high *int) sql {
	out := lit("true")
	if low != nil {
		out.text += " AND " + column + " >= ?"
		out.args = append(out.args, *low)
	}
	if high != nil {
		out.text += " AND " + column + " <= ?"
		out.args = append(out.args, *high)
	}
	return out
}

// safeQuery makes s a value that bun writes as it is.
func (s sql) query() schema.QueryAppender { return bun.SafeQuery(s.text, s.args...) }

// visible is the condition that an account may see a thread.
func visible(accountID int64, role model.Role) Cond {
	if role.AtLeast(model.RoleTriage) {
		return Cond{}
	}
	none := Cond{Field: Confidential, Not: true}
	if accountID == 0 {
		return none
	}
	mine := []int64{accountID}
	return Cond{Field: Any, Kids: []Cond{none, {Field: Author, IDs: mine}, {Field: Assignee, IDs: mine}}}
}
