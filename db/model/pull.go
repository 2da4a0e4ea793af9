package model

import (
	"time"

	"github.com/uptrace/bun"
)

// What is known about merging a pull request.
const (
	MergeClean     = "clean"
	MergeConflict  = "conflict"
	MergeUnrelated = "unrelated" // no common ancestor
	MergeGone      = "gone"      // the base or the head does not exist
)

// Ways to merge.
const (
	MethodMerge  = "merge"
	MethodSquash = "squash"
	MethodRebase = "rebase"
	// MethodFastForward moves the base to the head as it is.
	MethodFastForward = "fast-forward"
	// MethodPushed is that of a pull request whose commits were pushed to the
	// base.
	MethodPushed = "pushed"
)

// MergeMethods are those that people choose from.
func MergeMethods() []string {
	return []string{MethodMerge, MethodSquash, MethodRebase, MethodFastForward}
}

// Pull is what a pull request has beyond its thread.
type Pull struct {
	bun.BaseModel `bun:"table:?scope.pulls,alias:p"`

	Number       int64    `bun:"number,pk"`
	BaseRef      string   `bun:"base_ref"` // short names, as HeadRef
	BaseSHA      string   `bun:"base_sha"`
	HeadRepo     int64    `bun:"head_repo"`
	HeadRef      string   `bun:"head_ref"`
	HeadSHA      string   `bun:"head_sha"`
	HeadLabel    string   `bun:"head_label"`
	MergeBase    string   `bun:"merge_base"`
	Mergeable    string   `bun:"mergeable"`
	Conflicts    []string `bun:"conflicts,array"`
	Commits      int      `bun:"commits"`
	Additions    int      `bun:"additions"`
	Deletions    int      `bun:"deletions"`
	ChangedFiles int      `bun:"changed_files"`
	Rounds       []Round  `bun:"rounds,type:jsonb"`
	ReviewerIDs  []int64  `bun:"reviewer_ids,array"`
	TeamIDs      []int64  `bun:"team_ids,array"`
	// MaintainerEdits says that who may push to the base repository may push
	// to the head's branch too.
	MaintainerEdits bool       `bun:"maintainer_edits"`
	AutoMerge       *AutoMerge `bun:"auto_merge,type:jsonb"`
	Merging         *Merging   `bun:"merging,type:jsonb"`
	MergeSHA        string     `bun:"merge_sha"`
	MergeMethod     string     `bun:"merge_method"`
	MergedBy        int64      `bun:"merged_by,nullzero"`
	MergedAt        *time.Time `bun:"merged_at"`
	UpdatedAt       time.Time  `bun:"updated_at"`

	// Issue is the thread.
	Issue *Issue `bun:"rel:belongs-to,join:number=number"`
}

// Merged says that the pull request was merged.
func (p *Pull) Merged() bool { return p.MergedAt != nil }

// Round is the number of the current round, from 1 on.
func (p *Pull) Round() int { return len(p.Rounds) }

// Round is a version of a pull request's head.
type Round struct {
	Head   string    `json:"head"`
	Base   string    `json:"base"` // the merge base at the time
	At     time.Time `json:"at"`
	By     int64     `json:"by"`
	Forced bool      `json:"forced,omitempty"`
}

// Merging is a merge that was decided and whose refs may have moved.
type Merging struct {
	SHA    string    `json:"sha"` // what the base becomes
	Head   string    `json:"head"`
	Base   string    `json:"base"`
	Method string    `json:"method"`
	By     int64     `json:"by"`
	At     time.Time `json:"at"`
}

// AutoMerge is a merge that waits for what is missing.
type AutoMerge struct {
	Method  string    `json:"method"`
	Title   string    `json:"title,omitempty"`
	Message string    `json:"message,omitempty"`
	By      int64     `json:"by"`
	At      time.Time `json:"at"`
}

// Kinds of timeline items that only pull requests have, by GitHub's names
// where it has one.
const (
	ItemMerged          = "merged"
	ItemPushedCommits   = "pushed"
	ItemForcePushed     = "head_ref_force_pushed"
	ItemHeadDeleted     = "head_ref_deleted"
	ItemHeadRestored    = "head_ref_restored"
	ItemBaseChanged     = "base_ref_changed"
	ItemBaseRetargeted  = "automatic_base_change_succeeded"
	ItemReady           = "ready_for_review"
	ItemDrafted         = "convert_to_draft"
	ItemReviewRequested = "review_requested"
	ItemReviewUnasked   = "review_request_removed"
	ItemReviewed        = "reviewed"
	ItemDismissed       = "review_dismissed"
	ItemAutoMergeOn     = "auto_merge_enabled"
	ItemAutoMergeOff    = "auto_merge_disabled"
)
