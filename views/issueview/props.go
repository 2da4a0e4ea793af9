// Package issueview shows the lists of issues and pull requests, one issue,
// and the pages of labels and milestones.
package issueview

import (
	"html/template"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/part"
	"github.com/gitfor/gitfor/views/threadview"
	"github.com/gitfor/gitfor/views/ui"
)

func num(n int64) string { return strconv.FormatInt(n, 10) }

// ListProps are a list of issues or pull requests.
type ListProps struct {
	Owner, Name  string
	Kind         string // model.KindIssue or model.KindPull
	Query        string
	State        string
	Open, Closed int
	Rows         []RowProps
	Pinned       []RowProps
	Menus        []MenuProps
	Views        []*model.SavedView
	Unknown      []string // values in the query that name nothing
	Page, Total  int
	PerPage      int
	Plain        bool // the query is the usual one
	CanCreate    bool
	CanTriage    bool
	SignedIn     bool
	Topic        string
	// For bulk edits.
	Labels               []*model.Label
	Milestones           []*model.Milestone
	Undo                 string // token of what can be undone, "" for nothing
	UndoText             string
	OpenHref, ClosedHref string
}

func (p ListProps) path() string {
	if p.Kind == model.KindPull {
		return link.Pulls(p.Owner, p.Name)
	}
	return link.Issues(p.Owner, p.Name)
}

func (p ListProps) here() string {
	return link.Q("q", p.Query).On(p.path())
}

func (p ListProps) noun() string {
	if p.Kind == model.KindPull {
		return "pull request"
	}
	return "issue"
}

func (p ListProps) heading() string {
	if p.Kind == model.KindPull {
		return "Pull requests"
	}
	return "Issues"
}

// MenuProps are a menu that narrows the list.
type MenuProps struct {
	Label   string
	Options []Option
}

// Option is a line of a menu.
type Option struct {
	Label, Hint, Href string
	Colour            string // of a label's spot
	Face              *model.Account
	Current           bool
}

// RowProps are a row of the list.
type RowProps struct {
	Issue     *model.Issue
	Href      string
	Title     template.HTML
	Author    *model.Account
	Labels    []*model.Label
	Assignees []*model.Account
	Milestone *model.Milestone
	Owner     string
	Repo      string
	Select    bool
}

func (p RowProps) state() ui.State { return StateOf(p.Issue) }

// StateOf is how a thread's state looks.
func StateOf(i *model.Issue) ui.State {
	if i.IsPull() {
		return part.PullState(i.State, i.StateReason == model.ReasonMerged, i.Draft)
	}
	return part.IssueState(i.State, i.StateReason)
}

func (p RowProps) when() (word string, at time.Time) {
	switch {
	case p.Issue.ClosedAt != nil && p.Issue.StateReason == model.ReasonMerged:
		return "merged", *p.Issue.ClosedAt
	case p.Issue.ClosedAt != nil:
		return "closed", *p.Issue.ClosedAt
	}
	return "opened", p.Issue.CreatedAt
}

// ShowProps are an issue's page.
type ShowProps struct {
	Head     HeadProps
	Timeline threadview.TimelineProps
	Composer threadview.ComposerProps
	Sidebar  threadview.SidebarProps
}

// HeadProps are the head of an issue's page.
type HeadProps struct {
	Base      string
	Topic     string
	Issue     *model.Issue
	Title     template.HTML
	Author    *model.Account
	CanEdit   bool
	CanCreate bool
	NewHref   string
	Editing   bool
	Value     string // of the title that is being edited
	Version   int
	Errors    ui.Errors
	Duplicate *threadview.Ref
	Parent    *threadview.Ref
}

// NewProps are the form of a new issue.
type NewProps struct {
	Owner, Name  string
	Title, Body  string
	Labels       []*model.Label
	Milestones   []*model.Milestone
	People       []*model.Account
	ChosenLabels map[string]bool
	ChosenPeople map[string]bool
	Milestone    int64
	Confidential bool
	Parent       int64
	CanTriage    bool
	Template     string
	Form         *FormProps
	Errors       ui.Errors
	Key          string
}

// FormProps are an issue form: a template with fields.
type FormProps struct {
	Fields []FormField
}

// FormField is a field of an issue form.
type FormField struct {
	Type, ID, Label, Description, Placeholder, Value string
	HTML                                             template.HTML // of a markdown field
	Options                                          []FormOption
	Multiple, Required                               bool
	Render                                           string
}

// FormOption is a choice of a field.
type FormOption struct {
	Label              string
	Required, Selected bool
}

// ChooseProps are the templates to choose from.
type ChooseProps struct {
	Owner, Name string
	Templates   []Template
	Contacts    []Contact
	Blank       bool
}

// Template is an issue template.
type Template struct {
	File, Name, About string
}

// Contact is a link to where else one may ask.
type Contact struct {
	Name, URL, About string
}

// LabelsProps are the page of labels.
type LabelsProps struct {
	Owner, Name string
	Labels      []LabelRow
	CanEdit     bool
	Query       string
	New         LabelForm
}

// LabelRow is a label with how much it is used.
type LabelRow struct {
	Label *model.Label
	Open  int
	Edit  *LabelForm // when it is being edited
}

// LabelForm is a label as it was typed.
type LabelForm struct {
	Open                     bool
	Name, Color, Description string
	Errors                   ui.Errors
}

// MilestonesProps are the page of milestones.
type MilestonesProps struct {
	Owner, Name  string
	State        string
	Open, Closed int
	Milestones   []MilestoneRow
	CanEdit      bool
}

// MilestoneRow is a milestone.
type MilestoneRow struct {
	Milestone *model.Milestone
	HTML      template.HTML
	Late      bool
}

// MilestoneProps are one milestone with its issues.
type MilestoneProps struct {
	Owner, Name string
	Row         MilestoneRow
	CanEdit     bool
	List        ListProps
}

// MilestoneForm is a milestone as it was typed.
type MilestoneForm struct {
	Owner, Name             string
	Number                  int64 // 0 for a new one
	Title, Due, Description string
	Errors                  ui.Errors
}

// AskProps are a page that asks before something is done.
type AskProps struct {
	Title, About string
	Back         string
	Danger       *ui.DangerProps
	Form         templ.Component
}

// TransferProps are the form that moves an issue.
type TransferProps struct {
	Base, Back string
	Title      string
	To         string
	Errors     ui.Errors
}
