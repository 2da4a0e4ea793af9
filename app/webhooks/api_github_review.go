package webhooks

import (
	"context"
	"encoding/json"

	"github.com/gitfor/gitfor/app/reviews"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
)

// githubReviews sets the payloads of reviews and of their conversations.
func (s *Service) githubReviews() {
	for _, action := range []string{"submitted", "edited", "dismissed"} {
		s.AddGitHub(func(_ context.Context, c *web.Ctx, e *model.Event, repo *model.Repo) ([]GitHubEvent, error) {
			return gone(s.githubReview(c, e, repo, action))
		}, "review."+action)
	}
	for what, action := range map[string]string{"thread_resolved": "resolved", "thread_unresolved": "unresolved"} {
		s.AddGitHub(func(_ context.Context, c *web.Ctx, e *model.Event, repo *model.Repo) ([]GitHubEvent, error) {
			return gone(s.githubReviewThread(c, e, repo, action))
		}, "review."+what)
	}
}

func (s *Service) githubReview(c *web.Ctx, e *model.Event, repo *model.Repo, action string) ([]GitHubEvent, error) {
	if repo == nil {
		return nil, nil
	}
	var data reviews.Event
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, err
	}
	c.Repo = repo
	pull, err := s.Pulls.Tell(c, data.Number)
	if err != nil {
		return nil, err
	}
	review, err := s.Reviews.Tell(c, data.Number, data.ReviewID)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"pull_request": pull, "review": review}
	if action == "edited" {
		fields["changes"] = map[string]any{}
	}
	return []GitHubEvent{{Name: "pull_request_review", Action: action, Fields: fields}}, nil
}

func (s *Service) githubReviewThread(c *web.Ctx, e *model.Event, repo *model.Repo, action string) ([]GitHubEvent, error) {
	if repo == nil {
		return nil, nil
	}
	var data reviews.Event
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, err
	}
	c.Repo = repo
	pull, err := s.Pulls.Tell(c, data.Number)
	if err != nil {
		return nil, err
	}
	thread, err := s.Reviews.TellThread(c, data.ThreadID)
	if err != nil {
		return nil, err
	}
	return []GitHubEvent{{Name: "pull_request_review_thread", Action: action, Fields: map[string]any{"pull_request": pull, "thread": thread}}}, nil
}

func (s *Service) githubReviewComment(c *web.Ctx, data threads.Event, action string) ([]GitHubEvent, error) {
	pull, err := s.Pulls.Tell(c, data.Number)
	if err != nil {
		return nil, err
	}
	comment, err := s.Reviews.TellComment(c, data.CommentID)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"pull_request": pull, "comment": comment}
	if action == "edited" {
		fields["changes"] = changed(nil, data.OldBody)
	}
	return []GitHubEvent{{Name: "pull_request_review_comment", Action: action, Fields: fields}}, nil
}
