package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// githubThreads sets the payloads of issues and of comments on issues and
// pull requests. What is told of is read when it is told. A comment that is
// gone by then is told as its event has it; where the thread is, GitHub's
// payload could not be made and nothing is sent.
func (s *Service) githubThreads() {
	for _, action := range []string{"opened", "edited", "closed", "reopened", "labeled", "unlabeled", "assigned", "unassigned",
		"milestoned", "demilestoned", "locked", "unlocked", "pinned", "unpinned"} {
		s.AddGitHub(func(ctx context.Context, c *web.Ctx, e *model.Event, repo *model.Repo) ([]GitHubEvent, error) {
			return gone(s.githubIssue(ctx, c, e, repo, action))
		}, model.KindIssue+"."+action)
	}
	for _, action := range []string{"created", "edited", "deleted"} {
		s.AddGitHub(func(_ context.Context, c *web.Ctx, e *model.Event, repo *model.Repo) ([]GitHubEvent, error) {
			return gone(s.githubComment(c, e, repo, action))
		}, "comment."+action)
	}
	s.AddGitHub(s.githubStar, "star.created", "star.deleted")
}

// gone takes it for nothing to tell when a record is not there any more.
func gone(list []GitHubEvent, err error) ([]GitHubEvent, error) {
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	return list, err
}

func (s *Service) githubIssue(ctx context.Context, c *web.Ctx, e *model.Event, repo *model.Repo, action string) ([]GitHubEvent, error) {
	if repo == nil {
		return nil, nil
	}
	var data threads.Event
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, err
	}
	c.Repo = repo
	told, err := s.Issues.Tell(c, data.Number)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"issue": told.Issue()}
	if data.Label != nil {
		if l, ok := told.Label(data.Label.ID); ok {
			fields["label"] = l
		}
	}
	if data.Milestone != nil {
		if m, ok := told.Milestone(data.Milestone.ID); ok {
			fields["milestone"] = m
		}
	}
	if data.AssigneeID != 0 {
		people, err := accountdb.ByIDs(ctx, s.DB.Directory(), data.AssigneeID)
		if err != nil {
			return nil, err
		}
		fields["assignee"] = api.UserOf(c, people[data.AssigneeID])
	}
	if action == "edited" {
		fields["changes"] = changed(data.OldTitle, data.OldBody)
	}
	return []GitHubEvent{{Name: "issues", Action: action, Fields: fields}}, nil
}

func changed(title, body *string) map[string]any {
	out := map[string]any{}
	if title != nil {
		out["title"] = map[string]any{"from": *title}
	}
	if body != nil {
		out["body"] = map[string]any{"from": *body}
	}
	return out
}

func (s *Service) githubComment(c *web.Ctx, e *model.Event, repo *model.Repo, action string) ([]GitHubEvent, error) {
	if repo == nil {
		return nil, nil
	}
	var data threads.Event
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, err
	}
	if data.Kind != model.KindIssue && data.Kind != model.KindPull {
		return nil, nil
	}
	c.Repo = repo
	if data.Path != "" {
		return s.githubReviewComment(c, data, action)
	}
	told, err := s.Issues.Tell(c, data.Number)
	if err != nil {
		return nil, err
	}
	comment, err := told.Comment(c, data.CommentID)
	if errors.Is(err, db.ErrNotFound) && data.Path == "" {
		body := data.Body
		if body == nil {
			body = data.OldBody
		}
		if body == nil {
			body = new(string)
		}
		comment, err = told.Gone(c, data.CommentID, data.CommentAuthorID, *body, e.Time)
	}
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"issue": told.Issue(), "comment": comment}
	if action == "edited" {
		fields["changes"] = changed(nil, data.OldBody)
	}
	return []GitHubEvent{{Name: "issue_comment", Action: action, Fields: fields}}, nil
}

// githubStar tells a star twice, as GitHub does: as star and as watch, its
// older name.
func (s *Service) githubStar(_ context.Context, _ *web.Ctx, e *model.Event, _ *model.Repo) ([]GitHubEvent, error) {
	_, action, _ := strings.Cut(e.Type, ".")
	var at any
	list := []GitHubEvent{}
	if action == "created" {
		at = api.Time(e.Time)
		list = append(list, GitHubEvent{Name: "watch", Action: "started"})
	}
	return append([]GitHubEvent{{Name: "star", Action: action, Fields: map[string]any{"starred_at": at}}}, list...), nil
}
