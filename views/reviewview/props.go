// Package reviewview shows reviews of pull requests: the conversations about
// lines and files, the forms that write them, and reviews in the timeline.
package reviewview

import (
	"html/template"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/diffview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

func num(n int64) string { return strconv.FormatInt(n, 10) }

// CommentProps are a comment on a change.
type CommentProps struct {
	// Base is the address of the pull request.
	Base     string
	ID       int64
	Author   *model.Account
	HTML     template.HTML
	Body     string
	At       time.Time
	Edited   bool
	Pending  bool
	Version  int
	CanEdit  bool
	CanReact bool
	ViewerID int64
	// Note says how the author stands to the repository.
	Note      string
	Reactions []model.Reaction
	// Suggestion is the change that the comment proposes, nil for none.
	Suggestion *SuggestionProps
	// In is where it is shown: "files", or "" for the conversation.
	In string
}

// SuggestionProps are a change of lines that a comment proposes.
type SuggestionProps struct {
	Before, After []string
	// CanApply says that the viewer may commit it to the branch; Why says
	// what stands against it.
	CanApply bool
	Why      string
}

func (p CommentProps) element() string { return "discussion-" + num(p.ID) }

func (p CommentProps) part(name string) string {
	to := p.Base + "/review-comments/" + num(p.ID) + "/" + name
	if p.In != "" {
		to = link.Q("in", p.In).On(to)
	}
	return to
}

func (p CommentProps) name() string {
	if p.Author == nil {
		return "ghost"
	}
	return p.Author.Name
}

func (p CommentProps) reactor() int64 {
	if !p.CanReact {
		return 0
	}
	return p.ViewerID
}

// ThreadProps are a conversation about a line, lines or a file.
type ThreadProps struct {
	Base string
	// ID is that of its first comment.
	ID int64
	// In is where it is shown: "files", or "" for the conversation.
	In string
	// Path and Where say what it is about, such as "lines 3 to 5".
	Path, Where string
	// Href leads to the line among the changes, "" when it is not there.
	Href string
	// Outdated says that the line is no longer as it was; ThenHref leads to
	// the round in which it was.
	Outdated   bool
	ThenHref   string
	Round      int
	Resolved   bool
	ResolvedBy *model.Account
	// Excerpt is what it is about, as it was; nil where that stands above.
	Excerpt    []diffview.Line
	Comments   []CommentProps
	Viewer     *model.Account
	CanReply   bool
	CanResolve bool
	// Review says that the viewer has begun a review, which answers join.
	Review  bool
	Reply   string
	Errors  ui.Errors
	Key     string
	Context string
	// Pending says that it is in the viewer's pending review.
	Pending bool
	// Named shows what it is about though it stands among the changes.
	Named bool
	// Edit, when set, is the comment that is being edited, in place.
	Edit *EditProps
}

func (p ThreadProps) element() string { return "thread-" + num(p.ID) }

func (p ThreadProps) part(name string) string {
	to := p.Base + "/review-comments/" + num(p.ID) + "/" + name
	if p.In != "" {
		to = link.Q("in", p.In).On(to)
	}
	return to
}

func (p ThreadProps) swap(action string) templ.Attributes {
	return templ.Attributes{"hx-post": action, "hx-target": "#" + p.element(), "hx-swap": "outerHTML", "hx-sync": "this:drop"}
}

// EditProps are a comment's text in a form.
type EditProps struct {
	ID       int64
	Body     string
	Version  int
	Errors   ui.Errors
	Conflict string
	Clash    bool
}

// FormProps are the form for a new comment on a change.
type FormProps struct {
	Action           string
	ID               string // of the form's element
	Path, Side, SHA  string
	Line, StartLine  int
	Most             int // how many lines there are, 0 where not known
	Where            string
	Body             string
	Errors           ui.Errors
	Key              string
	Context          string
	Review           bool // the viewer has begun a review
	In               string
	Excerpt          []diffview.Line
	Back             string
	Draft            string
	SuggestionSource string
	Mentions         string
}

// ReviewProps are a review in the conversation.
type ReviewProps struct {
	Base      string
	ID        int64
	Author    *model.Account
	State     ui.State
	Verb      string
	At        time.Time
	HTML      template.HTML
	Edited    bool
	Threads   []ThreadProps
	Answers   []Answer
	Counts    bool // the vote counts for rules
	Votes     bool
	Stale     bool // of an earlier round
	Round     int
	RoundHref string
	Dismissal string
	CanEdit   bool
	Dismiss   bool // the viewer may dismiss it
	Note      string
}

// Answer is a comment in a conversation that another review began.
type Answer struct {
	Href, Path string
}

func (p ReviewProps) element() string { return "review-" + num(p.ID) }

func (p ReviewProps) part(name string) string {
	return p.Base + "/reviews/" + num(p.ID) + "/" + name
}

// plain says that the review is nothing but its comments.
func (p ReviewProps) plain() bool { return !p.Votes && p.HTML == "" }
