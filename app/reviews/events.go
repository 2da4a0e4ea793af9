package reviews

import (
	"context"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Event is the data of the events about reviews and their conversations.
type Event struct {
	threads.Event

	ReviewID       int64 `json:"reviewId"`
	ReviewAuthorID int64 `json:"reviewAuthorId"`
	// ReviewState is approved, changes_requested, commented or dismissed.
	ReviewState string `json:"reviewState,omitempty"`
	HeadSHA     string `json:"headSha,omitempty"`
	// Comments is how many comments on changes came with it.
	Comments int `json:"comments,omitempty"`
	// ThreadID is the first comment of a conversation that was resolved or
	// opened again.
	ThreadID int64 `json:"threadId,omitempty"`
}

// Payloads are the events that reviews publish, beside those about comments.
func Payloads() []events.Payload {
	var out []events.Payload
	for _, what := range []string{"submitted", "edited", "dismissed", "thread_resolved", "thread_unresolved"} {
		out = append(out, Event{Event: threads.Event{Type: "review." + what}})
	}
	return out
}

func eventOf(pull *model.Pull, r *model.Review, what string) Event {
	e := Event{Event: threads.EventOf(pull.Issue, what), HeadSHA: pull.HeadSHA}
	e.Type = "review." + what
	if r != nil {
		e.ReviewID, e.ReviewAuthorID, e.ReviewState, e.HeadSHA = r.ID, r.AuthorID, r.State, r.SHA
	}
	return e
}

func emit(ctx context.Context, tx *db.RepoTx, p Place, e events.Payload) error {
	return events.Emit(ctx, tx, events.About{Repo: p.Repo, Actor: p.Viewer}, e)
}

// told publishes what happened to a comment on a change.
func (s *Service) told(ctx context.Context, tx *db.RepoTx, p Place, pull *model.Pull, c *model.ReviewComment, what string) error {
	e := threads.EventOf(pull.Issue, what)
	e.Type = "comment." + what
	e.CommentID, e.CommentAuthorID, e.Body, e.Mentions = c.ID, c.AuthorID, &c.Body, s.Threads.Mentions(p.Repo, c.Body)
	e.Review, e.Path, e.Line, e.Side = c.ReviewID, c.Path, c.Line, c.Side
	if !c.First() {
		e.ReplyTo = c.Thread
	}
	return emit(ctx, tx, p, e)
}
