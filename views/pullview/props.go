// Package pullview shows pull requests: the head with its tabs, the box that
// says what is missing for a merge, their commits and files, and the form that
// opens one. Conversations are package threadview's.
package pullview

import (
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/diffview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/part"
	"github.com/gitfor/gitfor/views/threadview"
	"github.com/gitfor/gitfor/views/ui"
)

func num(n int64) string { return strconv.FormatInt(n, 10) }

// HeadProps are the head of a pull request's pages.
type HeadProps struct {
	Base, Topic string
	Active      string // commits, files; "" is the conversation
	Owner, Name string
	Pull        *model.Pull
	Title       template.HTML
	Author      *model.Account
	CanEdit     bool
	// HeadHref is the page of the head's branch, "" when it is gone.
	HeadHref string
	// HeadName is the branch, with its repository where that is another.
	HeadName string
	// Editing shows the form for the title, with Value.
	Editing bool
	Value   string
	Version int
	Errors  ui.Errors
	// Stack are the open pull requests below and above this one, the lowest
	// first, itself included; nil when there is only one.
	Stack []StackEntry
	// Bases are branches that the base can be changed to.
	Bases []string
	// Round is the round that is shown where it is not the newest.
	Comments int
}

// StackEntry is a pull request in a stack.
type StackEntry struct {
	Number  int64
	Title   string
	Href    string
	Current bool
	State   ui.State
}

func (p HeadProps) state() ui.State {
	return part.PullState(p.Pull.Issue.State, p.Pull.Merged(), p.Pull.Issue.Draft)
}

// here is the live topic of who else looks at the pull request.
func (p HeadProps) here() string { return "here" + strings.TrimPrefix(p.Topic, "thread") }

func (p HeadProps) tabs() []ui.Tab {
	n := p.Pull.Number
	return []ui.Tab{
		{Key: "", Label: "Conversation", Icon: "message-square", Href: link.Pull(p.Owner, p.Name, n), Count: p.Comments},
		{Key: "commits", Label: "Commits", Icon: "git-commit-horizontal", Href: link.PullCommits(p.Owner, p.Name, n), Count: p.Pull.Commits},
		{Key: "files", Label: "Files", Icon: "file-diff", Href: link.PullFiles(p.Owner, p.Name, n), Count: p.Pull.ChangedFiles},
	}
}

// ShowProps are the conversation of a pull request.
type ShowProps struct {
	Head     HeadProps
	Timeline threadview.TimelineProps
	Merge    MergeProps
	Composer threadview.ComposerProps
	Sidebar  threadview.SidebarProps
}

// Need is a line of the merge box: something that is asked for.
type Need struct {
	Icon, Kind string // the icon, and the state whose colour it has
	Text, Who  string
	// Action is something that the viewer can do about it, or nil.
	Action templ.Component
	Items  []NeedItem
}

// NeedItem is a part of a need, such as a check.
type NeedItem struct {
	State       ui.State
	Title, Text string
	Href        string
	Required    bool
	Face        *model.Account
}

// MergeProps are the box at the end of the conversation.
type MergeProps struct {
	Base, Topic string
	Pull        *model.Pull
	Needs       []Need
	// Ready says that nothing is missing, Can that the viewer may merge.
	Ready, Can bool
	// Bypass offers to merge though something is missing.
	Bypass bool
	// Methods are those that are allowed; Method is the chosen one.
	Methods []Method
	Method  string
	Title   string
	Message string
	Errors  ui.Errors
	Closes  []*threadview.Ref

	MergedBy    *model.Account
	Owner, Name string
	// CanDelete and CanRestore are about the head's branch.
	CanDelete, CanRestore bool
	CanReady, CanDraft    bool
	CanUpdate             bool
	Behind                int
	DeleteAfter           bool
	CanRevert             bool
	// PickOnto are branches that the change can be picked onto.
	PickOnto []string
	// AutoMerge is the merge that waits, CanAuto that one may be asked for.
	AutoMerge   *model.AutoMerge
	AutoMergeBy *model.Account
	CanAuto     bool
	// Checkout are the commands by which the branch is tried out.
	Checkout string
}

// Method is a way to merge.
type Method struct {
	Key, Label, Verb, About, Href string
}

func (p MergeProps) verb() string {
	for _, m := range p.Methods {
		if m.Key == p.Method {
			return m.Verb
		}
	}
	return "Merge"
}

func (p MergeProps) about() string {
	for _, m := range p.Methods {
		if m.Key == p.Method {
			return m.About
		}
	}
	return ""
}

func (p MergeProps) tabs() []ui.Tab {
	var out []ui.Tab
	for _, m := range p.Methods {
		out = append(out, ui.Tab{Key: m.Key, Label: m.Label, Href: m.Href})
	}
	return out
}

// Commit is a commit of a pull request.
type Commit struct {
	OID, Short, Title, Body, Author string
	Account                         *model.Account
	When                            time.Time
	Href                            string
	Status                          *ui.State
	StatusTitle                     string
}

// CommitsProps are the commits of a pull request.
type CommitsProps struct {
	Head    HeadProps
	Commits []Commit
	More    int
	Rounds  []Round
}

// Round is a version of the head.
type Round struct {
	Number  int
	By      *model.Account
	At      time.Time
	Forced  bool
	Head    string
	Href    string // its files
	Compare string // what changed since the round before
}

// FilesProps are the files of a pull request.
type FilesProps struct {
	Head      HeadProps
	Diff      diffview.Props
	Unrelated bool
	// Comparing says what is shown when it is not the whole change.
	Comparing string
	// All is the address of the whole change.
	All string
	// Rounds are the versions of the branch, the newest first; Round is the
	// one that is shown, From the one that it is compared with.
	Rounds      []Round
	Round, From int
	// Since is the address of what changed since the viewer's last review, ""
	// when that is nothing.
	Since      string
	SinceRound int
	// Viewed of Total files were looked at.
	Viewed, Total int
	// Unresolved is how many conversations nobody has resolved.
	Unresolved int
	// Review is the form that gives a review, nil when the viewer may not.
	Review *ReviewProps
	// Threads is where the conversations come from when they have changed.
	Threads string
	// Elsewhere are conversations about files that are not shown.
	Elsewhere templ.Component
}

// ReviewProps are the form that submits a review.
type ReviewProps struct {
	Action   string
	Begun    bool // the viewer has a pending review
	Pending  int  // comments that are not submitted yet
	Own      bool // one's own pull request: comments only
	Counts   bool // the viewer's vote counts for rules
	Body     string
	Event    string
	Errors   ui.Errors
	SHA      string
	Context  string
	Mentions string
}

func (p ReviewProps) label() string {
	if p.Pending > 0 {
		return "Finish review"
	}
	return "Review changes"
}

// NewProps are the form that opens a pull request.
type NewProps struct {
	Owner, Name     string
	Base, Head      string
	HeadName        string
	Title, Body     string
	Draft           bool
	MaintainerEdits bool
	AskMaintainer   bool
	Exists          int64 // the pull request that proposes this already
	Errors          ui.Errors
	Key             string
	// State says whether it can be merged.
	Mergeable string
}
