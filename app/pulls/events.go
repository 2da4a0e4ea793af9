package pulls

import (
	"context"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Event is the data of the events about pull requests that are not about
// their thread alone.
type Event struct {
	threads.Event

	Draft    bool   `json:"draft"`
	BaseRef  string `json:"baseRef"`
	BaseSHA  string `json:"baseSha"`
	HeadRef  string `json:"headRef"`
	HeadSHA  string `json:"headSha"`
	HeadRepo int64  `json:"headRepoId"`
	Merged   bool   `json:"merged"`
	// MergeSHA and Method are those of pull.merged.
	MergeSHA string `json:"mergeSha,omitempty"`
	Method   string `json:"method,omitempty"`
	// Before and Forced are those of pull.synchronized, OldBase that of a
	// changed base.
	Before  string `json:"before,omitempty"`
	Forced  bool   `json:"forced,omitempty"`
	OldBase string `json:"oldBaseRef,omitempty"`
	// ReviewerIDs are who shall review, ReviewerID the one that was asked or
	// no longer is, ReviewTeamID the team.
	ReviewerIDs  []int64 `json:"reviewerIds,omitempty"`
	ReviewerID   int64   `json:"reviewerId,omitempty"`
	ReviewTeamID int64   `json:"reviewTeamId,omitempty"`
}

// EventOf is an event about a pull request; what is the second half of its
// type.
func EventOf(p *model.Pull, what string) Event {
	return Event{Event: threads.EventOf(p.Issue, what), Draft: p.Issue.Draft, BaseRef: p.BaseRef, BaseSHA: p.BaseSHA,
		HeadRef: p.HeadRef, HeadSHA: p.HeadSHA, HeadRepo: p.HeadRepo, Merged: p.Merged(), MergeSHA: p.MergeSHA,
		ReviewerIDs: p.ReviewerIDs}
}

// Payloads are the events that pull requests publish.
func Payloads() []events.Payload {
	out := threads.Payloads(model.KindPull)
	for _, what := range []string{"opened", "merged", "synchronized", "ready_for_review", "converted_to_draft", "base_changed",
		"review_requested", "review_request_removed", "auto_merge_enabled", "auto_merge_disabled"} {
		out = append(out, Event{Event: threads.Event{Type: "pull." + what}})
	}
	return out
}

func emit(ctx context.Context, tx *db.RepoTx, p Place, e Event) error {
	return events.Emit(ctx, tx, events.About{Repo: p.Repo, Actor: p.Viewer}, e)
}
