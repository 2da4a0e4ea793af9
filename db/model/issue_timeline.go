package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Kinds of timeline items: a comment, or what happened, by the names that
// GitHub gives its issue events
// (https://docs.github.com/rest/using-the-rest-api/issue-event-types).
const (
	ItemComment       = "comment"
	ItemLabeled       = "labeled"
	ItemUnlabeled     = "unlabeled"
	ItemAssigned      = "assigned"
	ItemUnassigned    = "unassigned"
	ItemMilestoned    = "milestoned"
	ItemDemilestoned  = "demilestoned"
	ItemClosed        = "closed"
	ItemReopened      = "reopened"
	ItemRenamed       = "renamed"
	ItemLocked        = "locked"
	ItemUnlocked      = "unlocked"
	ItemPinned        = "pinned"
	ItemUnpinned      = "unpinned"
	ItemReferenced    = "referenced"       // by a commit
	ItemCrossRef      = "cross-referenced" // by another thread
	ItemTransferred   = "transferred"
	ItemDuplicate     = "marked_as_duplicate"
	ItemNotDuplicate  = "unmarked_as_duplicate"
	ItemParentAdded   = "parent_issue_added"
	ItemParentRemoved = "parent_issue_removed"
	ItemSubAdded      = "sub_issue_added"
	ItemSubRemoved    = "sub_issue_removed"
	ItemBlockedBy     = "blocked_by_added"
	ItemUnblocked     = "blocked_by_removed"
	ItemTyped         = "issue_type_changed"
	ItemConfidential  = "made_confidential"
	ItemPublic        = "made_public"
)

// TimelineItem is a comment or a line about what happened, in a thread.
type TimelineItem struct {
	bun.BaseModel `bun:"table:?scope.timeline,alias:t"`

	ID        int64        `bun:"id,pk"`
	Number    int64        `bun:"number"`
	Kind      string       `bun:"kind"`
	AuthorID  int64        `bun:"author_id"`
	Body      string       `bun:"body"`
	Data      TimelineData `bun:"data,type:jsonb"`
	Refs      []int64      `bun:"refs,array"`
	Reactions []Reaction   `bun:"reactions,type:jsonb"`
	Version   int          `bun:"version"`
	EditedAt  *time.Time   `bun:"edited_at"`
	CreatedAt time.Time    `bun:"created_at"`
	UpdatedAt time.Time    `bun:"updated_at"`
}

// IsComment says that the item is a comment.
func (t *TimelineItem) IsComment() bool { return t.Kind == ItemComment }

// TimelineData is what a line says beside who and when; each kind uses a few
// of the fields. Names are those of the time, for what is gone by now.
type TimelineData struct {
	Label     *LabelRef `json:"label,omitempty"`
	Assignee  int64     `json:"assignee,omitempty"`
	Milestone string    `json:"milestone,omitempty"`
	From      string    `json:"from,omitempty"`
	To        string    `json:"to,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Commit    string    `json:"commit,omitempty"`
	// Repo, Number and Title name another thread; Repo 0 is this repository.
	Repo         int64  `json:"repo,omitempty"`
	RepoName     string `json:"repo_name,omitempty"`
	Number       int64  `json:"number,omitempty"`
	ThreadKind   string `json:"thread_kind,omitempty"`
	Comment      int64  `json:"comment,omitempty"`
	Confidential bool   `json:"confidential,omitempty"`
	// Hidden is the reason for which a comment is folded away.
	Hidden string `json:"hidden,omitempty"`
	// Review and others that build on threads keep their own facts here.
	Review int64 `json:"review,omitempty"`
}

// LabelRef is a label as it was.
type LabelRef struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Color string `json:"color"`
}
