// Package auditview shows the audit log.
package auditview

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/db/model"
)

// Props is a page of the audit log.
type Props struct {
	Base, About, Query    string
	Entries               []*model.Audit
	Paged                 bool // not the first page
	Newest, Older, Export string
}

func (p Props) first() string {
	if p.Paged {
		return p.Newest
	}
	return ""
}

// change is one fact before and after; "" where it was not there.
type change struct{ Name, Before, After string }

func changes(e *model.Audit) []change {
	before, after := facts(e.Before), facts(e.After)
	var names []string
	for name := range before {
		names = append(names, name)
	}
	for name := range after {
		if _, both := before[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := make([]change, len(names))
	for i, name := range names {
		out[i] = change{strings.ReplaceAll(name, "_", " "), before[name], after[name]}
	}
	return out
}

func facts(raw json.RawMessage) map[string]string {
	var doc map[string]json.RawMessage
	if json.Unmarshal(raw, &doc) != nil {
		return nil
	}
	out := make(map[string]string, len(doc))
	for name, v := range doc {
		var s string
		var list []string
		switch {
		case json.Unmarshal(v, &s) == nil:
		case json.Unmarshal(v, &list) == nil:
			s = strings.Join(list, ", ")
		default:
			s = string(v)
		}
		if s == "" {
			s = "nothing"
		}
		out[name] = s
	}
	return out
}

func who(e *model.Audit) string {
	switch {
	case e.Actor != "":
		return e.Actor
	case e.ActorID != 0:
		return "account " + num(e.ActorID)
	case e.Remote != "":
		return "somebody"
	}
	return "the server"
}

func via(e *model.Audit) string {
	switch e.Via {
	case "token":
		return "by a token"
	case "ssh":
		return "by SSH"
	}
	return ""
}
