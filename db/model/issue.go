package model

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// Kinds of numbered threads.
const (
	KindIssue      = "issue"
	KindPull       = "pull"
	KindDiscussion = "discussion"
)

// States of a thread, and the reasons for which an issue is closed.
const (
	StateOpen   = "open"
	StateClosed = "closed"

	ReasonCompleted  = "completed"
	ReasonNotPlanned = "not_planned"
	ReasonDuplicate  = "duplicate"
	ReasonReopened   = "reopened"
	// ReasonMerged is why a pull request that was merged is closed.
	ReasonMerged = "merged"
)

// Issue is the first post and the state of a numbered thread: an issue, a
// pull request or a discussion, in its repository's scope.
type Issue struct {
	bun.BaseModel `bun:"table:?scope.issues,alias:i"`

	Number      int64   `bun:"number,pk"`
	ID          int64   `bun:"id"`
	Kind        string  `bun:"kind"`
	Title       string  `bun:"title"`
	Body        string  `bun:"body"`
	State       string  `bun:"state"`
	StateReason string  `bun:"state_reason"`
	AuthorID    int64   `bun:"author_id"`
	LabelIDs    []int64 `bun:"label_ids,array"`
	AssigneeIDs []int64 `bun:"assignee_ids,array"`
	MilestoneID int64   `bun:"milestone_id,nullzero"`
	Type        string  `bun:"issue_type"`
	Parent      int64   `bun:"parent,nullzero"`
	Children    []int64 `bun:"children,array"`
	BlockedBy   []int64 `bun:"blocked_by,array"`
	Blocking    []int64 `bun:"blocking,array"`
	DuplicateOf int64   `bun:"duplicate_of,nullzero"`
	// Refs are the threads of the same repository that the body names.
	Refs      []int64    `bun:"refs,array"`
	Tasks     int        `bun:"tasks"`
	TasksDone int        `bun:"tasks_done"`
	Comments  int        `bun:"comments"`
	Reactions []Reaction `bun:"reactions,type:jsonb"`
	// Locked is the reason for which only writers may comment, LockedNoReason
	// where none was given, "" when everybody may.
	Locked       string `bun:"locked"`
	Confidential bool   `bun:"confidential"`
	// Draft is a pull request that is not ready for review.
	Draft    bool       `bun:"draft"`
	PinnedAt *time.Time `bun:"pinned_at"`
	// Version grows with each edit of title or body.
	Version   int        `bun:"version"`
	ClosedBy  int64      `bun:"closed_by,nullzero"`
	ClosedAt  *time.Time `bun:"closed_at"`
	EditedAt  *time.Time `bun:"edited_at"`
	CreatedAt time.Time  `bun:"created_at"`
	UpdatedAt time.Time  `bun:"updated_at"`
}

// LockedNoReason is the value of Locked where no reason was given.
const LockedNoReason = "yes"

// IsPull says that the thread is a pull request's.
func (i *Issue) IsPull() bool { return i.Kind == KindPull }

// Open says that the thread is open.
func (i *Issue) Open() bool { return i.State == StateOpen }

// LockReason is the reason of the lock, "" where none was given.
func (i *Issue) LockReason() string {
	if i.Locked == LockedNoReason {
		return ""
	}
	return i.Locked
}

// VisibleTo says who may see the thread among those who may read the
// repository: everyone, unless it is confidential.
func (i *Issue) VisibleTo(accountID int64, role Role) bool {
	return !i.Confidential || role.AtLeast(RoleTriage) ||
		accountID != 0 && (accountID == i.AuthorID || slices.Contains(i.AssigneeIDs, accountID))
}

// Reaction is one person's reaction to a post.
type Reaction struct {
	ID        int64     `json:"id"`
	By        int64     `json:"by"`
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"at"`
}

// Reactions lists the reactions there are, in the order in which they are
// shown (https://docs.github.com/rest/reactions).
func Reactions() []string {
	return []string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"}
}

// IssueRecord is a satellite of issues that needs no table of its own.
type IssueRecord struct {
	bun.BaseModel `bun:"table:?scope.issue_records,alias:ir"`

	Kind      string          `bun:"kind,pk"`
	Key       string          `bun:"key,pk"`
	ID        int64           `bun:"id"`
	Data      json.RawMessage `bun:"data,type:jsonb"`
	CreatedAt time.Time       `bun:"created_at"`
	UpdatedAt time.Time       `bun:"updated_at"`
}

// Kinds of issue records.
const (
	RecordLabel        = "label"
	RecordMilestone    = "milestone"
	RecordSubscription = "subscription"
	RecordEdit         = "edit"
	RecordDraft        = "draft"
	RecordView         = "view"
)

// Label is a repository's label. Labels named group/name exclude each other
// within their group.
type Label struct {
	ID          int64  `json:"-"`
	Name        string `json:"name"`
	Color       string `json:"color"`
	Description string `json:"description"`
	Default     bool   `json:"default"`
}

// Group is what stands before the last slash of the name; labels of one group
// exclude each other. "" is no group.
func (l *Label) Group() string {
	if at := strings.LastIndexByte(l.Name, '/'); at > 0 && at < len(l.Name)-1 {
		return Key(l.Name[:at])
	}
	return ""
}

// DefaultLabels are those that a repository starts with, the same as in the
// schema, for a repository that has no tables yet.
func DefaultLabels() []*Label {
	var out []*Label
	for i, l := range [][3]string{
		{"bug", "d73a4a", "Something does not work as it should"},
		{"documentation", "0075ca", "About the documentation"},
		{"duplicate", "cfd3d7", "Reported elsewhere already"},
		{"enhancement", "a2eeef", "Something new or better"},
		{"good first issue", "7057ff", "A good place to start"},
		{"help wanted", "008672", "Help from others is welcome"},
		{"invalid", "e4e669", "Not right as it is"},
		{"question", "d876e3", "More information is asked for"},
		{"wontfix", "ffffff", "This stays as it is"},
	} {
		out = append(out, &Label{ID: int64(i) + 1, Name: l[0], Color: l[1], Description: l[2], Default: true})
	}
	return out
}

// ReservedLabelIDs is the highest id that only default labels have.
const ReservedLabelIDs = 16

// Milestone is a repository's milestone. OpenIssues and ClosedIssues count
// issues and pull requests.
type Milestone struct {
	ID           int64      `json:"-"`
	Number       int64      `json:"number"`
	Title        string     `json:"title"`
	Description  string     `json:"description"`
	State        string     `json:"state"`
	DueOn        *time.Time `json:"due_on"`
	CreatorID    int64      `json:"creator"`
	OpenIssues   int        `json:"open_issues"`
	ClosedIssues int        `json:"closed_issues"`
	ClosedAt     *time.Time `json:"closed_at"`
	CreatedAt    time.Time  `json:"-"`
	UpdatedAt    time.Time  `json:"-"`
}

// Percent is how much of the milestone is closed, 0 to 100.
func (m *Milestone) Percent() int {
	if all := m.OpenIssues + m.ClosedIssues; all > 0 {
		return m.ClosedIssues * 100 / all
	}
	return 0
}

// Edit is one change of a text: what it was before.
type Edit struct {
	By        int64     `json:"by"`
	Version   int       `json:"version"` // that this text had
	Title     string    `json:"title,omitempty"`
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"-"`
}

// SavedView is a named query over a repository's issues.
type SavedView struct {
	ID    int64  `json:"-"`
	Name  string `json:"name"`
	Query string `json:"query"`
	By    int64  `json:"by"`
	// Shared views are shown to everyone.
	Shared bool `json:"shared"`
}
