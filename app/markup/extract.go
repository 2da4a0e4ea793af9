package markup

import (
	"regexp"

	nethtml "golang.org/x/net/html"
)

// Found is what a text refers to, each thing once, in the order of the text.
// Nothing says yet that these people, threads and commits exist.
type Found struct {
	People  []string // lower case; teams as "org/team"
	Threads []Ref
	Commits []Commit
	Closes  []Ref // threads that the text says it closes; they are in Threads too
}

// Extract returns what text refers to when it is rendered with the same
// options. Code, links' texts and comments in HTML are no references.
func (r *Renderer) Extract(text string, o Options) Found {
	var (
		people  set[string]
		threads set[Ref]
		commits set[Commit]
		closes  set[Ref]
	)
	for _, c := range r.compiled(text, o).candidates {
		switch {
		case c.person != "":
			people.add(c.person, maxPeople)
		case c.thread.Number != 0:
			threads.add(c.thread, maxThreads)
			if c.closes {
				closes.add(c.thread, maxThreads)
			}
		default:
			commits.add(c.commit, maxCommits)
		}
	}
	return Found{people.list, threads.list, commits.list, closes.list}
}

// Mentions returns the names that a comment mentions, in lower case.
func Mentions(text string) []string {
	return std().Extract(text, Options{Mode: Comment}).People
}

// References returns the threads that a comment names; those of the comment's
// own repository have neither owner nor repository. Full addresses are found
// by Renderer.Extract only, which knows the instance's address.
func References(text string) []Ref {
	return std().Extract(text, Options{Mode: Comment}).Threads
}

// ClosingReferences returns the threads that a comment says it closes, as
// References does.
func ClosingReferences(text string) []Ref {
	return std().Extract(text, Options{Mode: Comment}).Closes
}

// closingWord is what before a reference says that it is closed.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
var closingWord = regexp.MustCompile(`(?i)(?:^|[^\pL\pN_-])(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):?[ \t\n\x{a0}]+$`)

// saysClosing looks at the end of the text before a reference.
func saysClosing(before string) bool {
	return closingWord.MatchString(before[max(0, len(before)-40):])
}

// textBefore is the text right before n.
func textBefore(n *nethtml.Node) string {
	if p := n.PrevSibling; p != nil && p.Type == nethtml.TextNode {
		return p.Data
	}
	return ""
}
