package issues

import (
	"strings"
	"unicode"
)

// Node is a part of a query: a term, or several joined.
type Node struct {
	// Op is "and" or "or" for several Kids, "" for a term.
	Op   string
	Kids []Node
	Not  bool
	// Key and Value are those of a term such as label:bug; words of the
	// full-text search have no key. Quoted says that a word is a phrase.
	Key, Value string
	Quoted     bool
}

// maxTerms and maxNesting bound what a query costs.
const (
	maxTerms   = 60
	maxNesting = 20
)

// Parse reads a query: terms such as is:open, label:"good first issue" and
// -author:ada, words and "phrases" of the full-text search, joined by AND
// (also when nothing stands between them), OR and NOT, grouped by brackets.
// Every text is a query: what does not fit stands for itself.
func Parse(text string) Node {
	p := &parser{tokens: tokens(text)}
	all := Node{Op: "and", Kids: []Node{p.or(0)}}
	for p.at < len(p.tokens) {
		// A bracket that nothing opened.
		p.at++
		all.Kids = append(all.Kids, p.or(0))
	}
	if n, ok := tidy(all); ok {
		return Node{Op: "and", Kids: flat(n)}
	}
	return Node{Op: "and"}
}

// tidy drops what is empty and takes off brackets around one; false when
// nothing is left.
func tidy(n Node) (Node, bool) {
	if n.Op == "" {
		return n, true
	}
	var kids []Node
	for _, k := range n.Kids {
		if k, ok := tidy(k); ok {
			if k.Op == n.Op && !k.Not {
				kids = append(kids, k.Kids...)
			} else {
				kids = append(kids, k)
			}
		}
	}
	if len(kids) == 1 {
		k := kids[0]
		k.Not = k.Not != n.Not
		return k, true
	}
	n.Kids = kids
	return n, len(kids) > 0
}

func flat(n Node) []Node {
	if n.Op == "and" && !n.Not {
		return n.Kids
	}
	if n.Op != "" && len(n.Kids) == 0 {
		return nil
	}
	return []Node{n}
}

type token struct {
	text   string
	term   Node
	isTerm bool
}

type parser struct {
	tokens []token
	at     int
	terms  int
}

func (p *parser) peek(text string) bool {
	return p.at < len(p.tokens) && !p.tokens[p.at].isTerm && p.tokens[p.at].text == text
}

func (p *parser) or(depth int) Node {
	out := Node{Op: "or", Kids: []Node{p.and(depth)}}
	for p.peek("OR") {
		p.at++
		out.Kids = append(out.Kids, p.and(depth))
	}
	return out
}

func (p *parser) and(depth int) Node {
	out := Node{Op: "and"}
	for p.at < len(p.tokens) && !p.peek("OR") && !p.peek(")") {
		if p.peek("AND") {
			p.at++
			continue
		}
		n, ok := p.unary(depth)
		if !ok {
			continue
		}
		if p.terms++; p.terms <= maxTerms {
			out.Kids = append(out.Kids, n)
		}
	}
	return out
}

func (p *parser) unary(depth int) (Node, bool) {
	switch t := p.tokens[p.at]; {
	case t.isTerm:
		p.at++
		return t.term, true
	case t.text == "NOT":
		p.at++
		if p.at >= len(p.tokens) || p.peek(")") || p.peek("OR") {
			return Node{}, false
		}
		n, ok := p.unary(depth)
		n.Not = !n.Not
		return n, ok
	case t.text == "(" && depth < maxNesting:
		p.at++
		n := p.or(depth + 1)
		if p.peek(")") {
			p.at++
		}
		return n, true
	}
	p.at++
	return Node{}, false
}

// tokens cuts a query into terms, operators and brackets.
func tokens(text string) []token {
	var out []token
	rs := []rune(text)
	for i := 0; i < len(rs); {
		switch r := rs[i]; {
		case unicode.IsSpace(r):
			i++
		case r == '(' || r == ')':
			out = append(out, token{text: string(r)})
			i++
		default:
			var t token
			t, i = readTerm(rs, i)
			out = append(out, t)
		}
	}
	return out
}

// readTerm reads one term from i on: an optional -, an optional key and colon,
// and a value that may be quoted.
func readTerm(rs []rune, i int) (token, int) {
	n := Node{}
	start := i
	if rs[i] == '-' && i+1 < len(rs) && !unicode.IsSpace(rs[i+1]) {
		n.Not = true
		i++
	}
	var b strings.Builder
	for i < len(rs) && !unicode.IsSpace(rs[i]) && rs[i] != '(' && rs[i] != ')' {
		r := rs[i]
		i++
		switch {
		case r == '"':
			n.Quoted = true
			for i < len(rs) && rs[i] != '"' {
				if rs[i] == '\\' && i+1 < len(rs) && (rs[i+1] == '"' || rs[i+1] == '\\') {
					i++
				}
				b.WriteRune(rs[i])
				i++
			}
			i = min(i+1, len(rs))
		case r == ':' && n.Key == "" && !n.Quoted && isKey(b.String()) && i < len(rs) && !unicode.IsSpace(rs[i]):
			n.Key = strings.ToLower(b.String())
			b.Reset()
		default:
			b.WriteRune(r)
		}
	}
	n.Value = b.String()
	if whole := string(rs[start:i]); whole == "AND" || whole == "OR" || whole == "NOT" {
		return token{text: whole}, i
	}
	return token{term: n, isTerm: true}, i
}

// isKey says that a query can hold terms of this key; other words with a
// colon, such as http://x, are words.
func isKey(s string) bool {
	switch strings.ToLower(s) {
	case "is", "state", "type", "label", "author", "assignee", "mentions", "commenter", "involves", "milestone", "no",
		"reason", "created", "updated", "closed", "comments", "reactions", "in", "sort", "parent", "has", "linked",
		"interactions", "repo", "archived":
		return true
	}
	return false
}

// String writes a node as a query that reads back as the same.
func (n Node) String() string {
	var s string
	switch n.Op {
	case "and", "or":
		parts := make([]string, len(n.Kids))
		for i, k := range n.Kids {
			parts[i] = k.String()
			if k.Op != "" && !strings.HasPrefix(parts[i], "NOT ") {
				parts[i] = "(" + parts[i] + ")"
			}
		}
		s = strings.Join(parts, map[string]string{"and": " ", "or": " OR "}[n.Op])
		if n.Not {
			return "NOT (" + s + ")"
		}
		return s
	}
	s = Quote(n.Value, n.Quoted)
	if n.Key != "" {
		s = n.Key + ":" + s
	}
	if n.Not {
		s = "-" + s
	}
	return s
}

// Quote writes a value so that it is one term.
func Quote(value string, always bool) string {
	if !always && value != "" && !strings.ContainsAny(value, " \t\n\"():") && value != "AND" && value != "OR" && value != "NOT" && value[0] != '-' {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// With returns the query with its terms of key replaced by one of this value;
// "" takes them away. Terms inside of OR and brackets stay.
func With(query, key, value string) string {
	n := Parse(query)
	kids := make([]Node, 0, len(n.Kids)+1)
	for _, k := range flat(n) {
		if k.Op == "" && k.Key == key && !k.Not {
			continue
		}
		// is: says several things; only those of the same sort give way.
		if key == "state" && k.Op == "" && k.Key == "is" && (k.Value == "open" || k.Value == "closed") {
			continue
		}
		if !(k.Op == "" && k.Key == "no" && k.Value == key) {
			kids = append(kids, k)
		}
	}
	switch {
	case value == "":
	case key == "state":
		kids = append([]Node{{Key: "is", Value: value}}, kids...)
	case value == noValue:
		kids = append(kids, Node{Key: "no", Value: key})
	default:
		kids = append(kids, Node{Key: key, Value: value})
	}
	n, _ = tidy(Node{Op: "and", Kids: kids})
	return Node{Op: "and", Kids: flat(n)}.String()
}

// noValue stands for "none" where With takes a value.
const noValue = "\x00none"

// Get is the value of the query's first plain term of key, "" for none.
func Get(query, key string) string {
	for _, k := range flat(Parse(query)) {
		if k.Op == "" && k.Key == key && !k.Not {
			return k.Value
		}
	}
	return ""
}
