// Package threadview shows what issues, pull requests and discussions have in
// common: cards of posts, the lines between them, the composer and the facts
// at the side. Base is always the address of the thread's page.
package threadview

import (
	"html/template"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// CardProps are a post: the first one of a thread (ID 0) or a comment.
type CardProps struct {
	Base        string
	ID          int64
	Author      *model.Account
	Association string // GitHub's word for how the author stands to the repository
	Verb        string
	First       bool // by who opened the thread
	HTML        template.HTML
	Body        string // as written, for replying with a quote
	At          time.Time
	EditedAt    *time.Time
	Version     int
	Reactions   []model.Reaction
	Hidden      string // why it is folded away
	ViewerID    int64
	CanEdit     bool
	CanReact    bool
	CanHide     bool
	Context     string // owner/name, for previews
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

// element is the id of the card.
func (p CardProps) element() string {
	if p.ID == 0 {
		return "post"
	}
	return "comment-" + num(p.ID)
}

// part is the address of an action on the post.
func (p CardProps) part(name string) string {
	if p.ID == 0 {
		return p.Base + "/" + name
	}
	return p.Base + "/comments/" + num(p.ID) + "/" + name
}

func (p CardProps) name() string {
	if p.Author == nil {
		return "ghost"
	}
	return p.Author.Name
}

func (p CardProps) href() string {
	if p.Author == nil {
		return "#"
	}
	return link.Account(p.Author.Name)
}

func (p CardProps) note() string {
	switch p.Association {
	case "OWNER":
		return "Owner"
	case "MEMBER":
		return "Member"
	case "COLLABORATOR":
		return "Collaborator"
	}
	return ""
}

// reactor is who may react, for the row of reactions.
func (p CardProps) reactor() int64 {
	if !p.CanReact {
		return 0
	}
	return p.ViewerID
}

// LineProps are a line about what happened. Lines about labels that follow
// each other are one.
type LineProps struct {
	Kind           string
	ID             int64
	Actor          *model.Account
	At             time.Time
	Data           model.TimelineData
	Assignee       *model.Account
	Owner, Name    string // the repository
	Other          *Ref   // the thread that the line is about
	Added, Removed []model.LabelRef
	// Changed is the page of what a push changed, "" where there is none.
	Changed string
}

// Ref is another thread.
type Ref struct {
	Href, Title string
	Number      int64
	Place       string // owner/name, when it is in another repository
	State       ui.State
	Kind        string
}

// Entry is a card, a line, or something of its own such as a review.
type Entry struct {
	Card   *CardProps
	Line   *LineProps
	Custom templ.Component
}

// TimelineProps are a thread from its first post on.
type TimelineProps struct {
	Base    string
	Topic   string // live topic
	Entries []Entry
	// Hidden is how many entries are left out after the entry of index
	// HiddenAt.
	Hidden, HiddenAt int
}

// ComposerProps are the form at the foot of a thread.
type ComposerProps struct {
	Base      string
	Context   string
	Viewer    *model.Account // nil for strangers
	Login     string         // where strangers sign in
	Denied    string         // why the viewer may not comment; "" when they may
	Locked    bool
	Kind      string // "issue" or "pull request", as a word
	CanClose  bool
	CanReopen bool
	Open      bool
	Reasons   bool // closing has reasons
	Body      string
	Errors    ui.Errors
	Key       string
}

// EditProps are a post that is being edited.
type EditProps struct {
	Card     CardProps
	Body     string
	Version  int
	Errors   ui.Errors
	Conflict string // what the text is by now, when somebody else changed it
	Clash    bool
}

// SidebarProps are the facts of a thread.
type SidebarProps struct {
	Base, Owner, Name string
	Topic             string
	Kind              string // "issue" or "pull request"
	CanTriage         bool
	CanModerate       bool
	CanDelete         bool
	CanTransfer       bool
	Viewer            *model.Account
	Labels            []*model.Label
	AllLabels         []*model.Label
	Assignees         []*model.Account
	Candidates        []*model.Account
	Milestone         *model.Milestone
	Milestones        []*model.Milestone
	Participants      []*model.Account
	// Subscription is "", "subscribed" or "ignored".
	Subscription string
	Involved     bool // the viewer hears of it without asking
	Locked       bool
	Pinned       bool
	Confidential bool
	// First are facts before all others, Extra those after the common ones.
	First, Extra []Fact
	Errors       ui.Errors
}

// HistoryProps are the former texts of a post.
type HistoryProps struct {
	Back  string
	Edits []HistoryEdit
}

// HistoryEdit is one change of a text.
type HistoryEdit struct {
	By    *model.Account
	At    time.Time
	Lines []HistoryLine
	Title string // the former title, when it changed
}

// HistoryLine is a line of a change: Kind is "add", "del" or "".
type HistoryLine struct {
	Kind, Text string
}

func labelNames(labels []*model.Label) map[int64]bool {
	out := map[int64]bool{}
	for _, l := range labels {
		out[l.ID] = true
	}
	return out
}

func accountIDs(list []*model.Account) map[int64]bool {
	out := map[int64]bool{}
	for _, a := range list {
		out[a.ID] = true
	}
	return out
}

func milestoneNumber(m *model.Milestone) int64 {
	if m == nil {
		return 0
	}
	return m.Number
}
