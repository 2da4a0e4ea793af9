// Package notificationview is the inbox, the settings of what people are told,
// and the mails that tell them.
package notificationview

import (
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/part"
	"github.com/gitfor/gitfor/views/ui"
)

// Counts are how many rows each view has.
type Counts struct{ Inbox, Turn, Unread, Saved, Snoozed, Done int }

// Row is a row of the inbox.
type Row struct {
	N       *model.Notification
	Repo    *model.Repo
	Actor   *model.Account
	Href    string
	Snoozed bool
}

// RepoCount is how many rows of the inbox a repository has.
type RepoCount struct {
	Repo *model.Repo
	N    int
}

// Props is what the inbox shows.
type Props struct {
	View, Repo, Reason, Kind, Query string
	// Here is the page's own address.
	Here   string
	Viewer int64
	Counts Counts
	Repos  []RepoCount
	// Turns wait for the person, the longest first; Rows are the rest.
	Turns, Rows     []Row
	MoreTurns, More bool
	Next            string
	Undo, UndoText  string
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

func (p *Props) heading() string {
	return map[string]string{"turn": "Your turn", "unread": "Unread", "saved": "Saved", "snoozed": "Snoozed", "done": "Done"}[p.View]
}

func (p *Props) filtered() bool {
	return p.Repo != "" || p.Reason != "" || p.Kind != "" || p.Query != ""
}

// empty is what a view says when nothing is in it.
func (p *Props) empty() (icon, sentence string) {
	switch {
	case p.filtered():
		return "search", "Nothing matches this."
	case p.View == "turn":
		return "party-popper", "Nobody waits for you."
	case p.View == "unread":
		return "check-check", "You have read everything."
	case p.View == "saved":
		return "bookmark", "Nothing is saved. Press s on a row to keep it here."
	case p.View == "snoozed":
		return "alarm-clock", "Nothing is snoozed."
	case p.View == "done":
		return "check-check", "Nothing is done yet."
	}
	return "party-popper", "Your inbox is empty."
}

// state is how the state of a row's subject looks.
func (r *Row) state() *ui.State {
	switch r.N.Kind {
	case model.KindIssue, model.KindDiscussion:
		s := part.IssueState(word(r.N.State == model.StateOpen, "open", "closed"), r.N.State)
		return &s
	case model.KindPull:
		s := part.PullState(word(r.N.State == model.StateOpen || r.N.State == "draft", "open", "closed"), r.N.State == "merged", r.N.State == "draft")
		return &s
	}
	return nil
}

func word(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func (r *Row) icon() string {
	if r.N.Kind == model.KindRelease {
		return "tag"
	}
	return "bell"
}

// Reason says in a word why somebody is told.
func Reason(reason string) string {
	if w := map[string]string{model.ToldReview: "Review asked", model.ToldMention: "Mentioned", model.ToldAssign: "Assigned",
		model.ToldTeam: "Team mentioned", model.ToldSecurity: "Security", model.ToldCI: "CI", model.ToldAuthor: "Author",
		model.ToldComment: "Took part", model.ToldManual: "Following", model.ToldState: "State changed", model.ToldSubscribed: "Watching"}[reason]; w != "" {
		return w
	}
	return reason
}

// Why says in a sentence why somebody is told.
func Why(reason, repo string) string {
	switch reason {
	case model.ToldReview:
		return "Your review was asked for."
	case model.ToldMention:
		return "You were mentioned."
	case model.ToldAssign:
		return "You are assigned."
	case model.ToldTeam:
		return "A team that you are in was mentioned."
	case model.ToldSecurity:
		return "It is about the security of " + repo + "."
	case model.ToldCI:
		return "A check of your commit ended."
	case model.ToldAuthor:
		return "You opened it."
	case model.ToldComment:
		return "You took part in it."
	case model.ToldManual:
		return "You follow it."
	case model.ToldState:
		return "It changed its state, and you took part in it."
	}
	return "You watch " + repo + "."
}

// Did says what an event's type means, with the actor before it.
func Did(what string) string {
	kind, verb, _ := strings.Cut(what, ".")
	switch {
	case kind == "comment":
		return "commented"
	case kind == "review" && verb == "dismissed":
		return "dismissed a review"
	case kind == "review":
		return "reviewed"
	case kind == "release":
		return "published"
	case kind == "status", kind == "check":
		return "reported a failing check of"
	case verb == "review_requested":
		return "asked for a review"
	case verb == "opened":
		return "opened"
	case verb == "ready_for_review":
		return "marked it as ready"
	case verb == "assigned":
		return "assigned it"
	}
	return strings.ReplaceAll(verb, "_", " ")
}

// OpenedBy is a line such as "#12 · 3 new".
func (r *Row) newsText() string {
	if r.N.Unread && r.N.News > 1 {
		return strconv.Itoa(r.N.News) + " new"
	}
	return ""
}

func (r *Row) ref() string {
	if _, err := strconv.Atoi(r.N.Key); err == nil {
		return "#" + r.N.Key
	}
	return r.N.Key
}

func snoozes() []struct{ Do, Label string } {
	return []struct{ Do, Label string }{{"snooze-3", "For three hours"}, {"snooze-24", "Until tomorrow"}, {"snooze-168", "For a week"}}
}

// ReasonRow is a row of the table of reasons and ways.
type ReasonRow struct {
	Reason, Label, Hint string
	Ways                model.Channels
}

// SettingsProps is what the settings page shows.
type SettingsProps struct {
	Set      model.NotifySettings
	Reasons  []ReasonRow
	Emails   []string
	TimeZone string
	Browsers BrowsersProps
	Errors   ui.Errors
}

// BrowsersProps are the browsers that take pushes, and the instance's public
// key for others that shall.
type BrowsersProps struct {
	Key  string
	List []Browser
}

// Browser is one of them; Here says that it is the one that looks.
type Browser struct {
	ID   int64
	Name string
	At   time.Time
	Here bool
}

// at is the address of what can be done with it.
func (b *Browser) at(what string) string {
	return link.Settings("notifications") + "/browsers/" + num(b.ID) + "/" + what
}

func hours() []ui.Option {
	out := make([]ui.Option, 24)
	for h := range out {
		t := time.Date(2000, 1, 1, h, 0, 0, 0, time.UTC).Format("15:04")
		out[h] = ui.Option{Value: strconv.Itoa(h), Label: t}
	}
	return out
}

func weekdays() []ui.Option {
	var out []ui.Option
	for _, d := range []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday} {
		out = append(out, ui.Option{Value: strconv.Itoa(int(d)), Label: d.String()})
	}
	return out
}

func (p *SettingsProps) addresses() []ui.Option {
	out := []ui.Option{{Value: "", Label: "Primary address"}}
	for _, e := range p.Emails {
		out = append(out, ui.Option{Value: e, Label: e})
	}
	return out
}

func (p *SettingsProps) zone() string {
	if p.TimeZone == "" {
		return "UTC"
	}
	return p.TimeZone
}

// UnsubscribeProps is what the page of one click shows.
type UnsubscribeProps struct {
	Token, Settings string
	// What is the thread's short name, "" where it may not be read.
	What   string
	Digest bool
	Done   bool
}
