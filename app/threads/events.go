package threads

import (
	"context"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Event is the data of each event about a thread. Number to AssigneeIDs are
// always there; of the rest each type has its own.
type Event struct {
	// Type is the event's type: the thread's kind (comment for comments) and
	// what happened.
	Type string `json:"-"`

	Number       int64   `json:"number"`
	ID           int64   `json:"id"`
	Kind         string  `json:"kind"`
	Title        string  `json:"title"`
	State        string  `json:"state"`
	StateReason  string  `json:"stateReason,omitempty"`
	AuthorID     int64   `json:"authorId"`
	AssigneeIDs  []int64 `json:"assigneeIds"`
	Confidential bool    `json:"confidential,omitempty"`

	// Body and Mentions are those of the text that was written: on opened,
	// edited and comment.*. Mentions are names in lower case.
	Body      *string  `json:"body,omitempty"`
	Mentions  []string `json:"mentions,omitempty"`
	CommentID int64    `json:"commentId,omitempty"`
	// CommentAuthorID is who wrote the comment, on comment.*.
	CommentAuthorID int64 `json:"commentAuthorId,omitempty"`
	// Review is the review that a comment on a change belongs to, Path, Line
	// and Side what it is about, ReplyTo the comment that it answers. They are
	// set on comment.* of pull requests only.
	Review  int64  `json:"reviewId,omitempty"`
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
	Side    string `json:"side,omitempty"`
	ReplyTo int64  `json:"inReplyToId,omitempty"`
	// Labels are all labels, on opened; Label is the one that changed.
	Labels     []model.LabelRef `json:"labels,omitempty"`
	Label      *model.LabelRef  `json:"label,omitempty"`
	AssigneeID int64            `json:"assigneeId,omitempty"`
	Milestone  *MilestoneRef    `json:"milestone,omitempty"`
	// OldTitle and OldBody are what edited texts were before.
	OldTitle *string `json:"oldTitle,omitempty"`
	OldBody  *string `json:"oldBody,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	// Commit closed the thread.
	Commit string `json:"commit,omitempty"`
	// ToRepoID, ToRepo and ToNumber are where a thread was moved.
	ToRepoID int64  `json:"toRepoId,omitempty"`
	ToRepo   string `json:"toRepo,omitempty"`
	ToNumber int64  `json:"toNumber,omitempty"`
}

// MilestoneRef names a milestone.
type MilestoneRef struct {
	ID     int64  `json:"id"`
	Number int64  `json:"number"`
	Title  string `json:"title"`
}

// EventType is the event's type.
func (e Event) EventType() string { return e.Type }

// EventOf is an event about a thread, to which the caller adds what is
// particular. what is the second half of its type, such as "opened".
func EventOf(i *model.Issue, what string) Event {
	ids := i.AssigneeIDs
	if ids == nil {
		ids = []int64{}
	}
	return Event{Type: i.Kind + "." + what, Number: i.Number, ID: i.ID, Kind: i.Kind, Title: i.Title, State: i.State,
		StateReason: i.StateReason, AuthorID: i.AuthorID, AssigneeIDs: ids, Confidential: i.Confidential}
}

// Payloads are the events that threads of a kind publish.
func Payloads(kind string) []events.Payload {
	var out []events.Payload
	for _, what := range []string{"opened", "edited", "closed", "reopened", "labeled", "unlabeled", "assigned", "unassigned",
		"milestoned", "demilestoned", "locked", "unlocked", "pinned", "unpinned", "transferred", "deleted",
		"made_confidential", "made_public"} {
		out = append(out, Event{Type: kind + "." + what})
	}
	return out
}

// CommentPayloads are the events about comments.
func CommentPayloads() []events.Payload {
	return []events.Payload{Event{Type: "comment.created"}, Event{Type: "comment.edited"}, Event{Type: "comment.deleted"}}
}

func emit(ctx context.Context, tx *db.RepoTx, p Place, e Event) error {
	return events.Emit(ctx, tx, events.About{Repo: p.Repo, Actor: p.Viewer}, e)
}
