package webhooks

import (
	"context"
	"encoding/json"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// githubPulls sets the payloads of pull requests. What GitHub calls by another
// name, or tells with the action closed, is mapped.
func (s *Service) githubPulls() {
	actions := map[string]string{"merged": "closed", "synchronized": "synchronize", "base_changed": "edited"}
	for _, what := range []string{"opened", "edited", "closed", "reopened", "labeled", "unlabeled", "assigned", "unassigned",
		"milestoned", "demilestoned", "locked", "unlocked", "merged", "synchronized", "ready_for_review", "converted_to_draft",
		"base_changed", "review_requested", "review_request_removed", "auto_merge_enabled", "auto_merge_disabled"} {
		action := what
		if name, ok := actions[what]; ok {
			action = name
		}
		s.AddGitHub(func(ctx context.Context, c *web.Ctx, e *model.Event, repo *model.Repo) ([]GitHubEvent, error) {
			return gone(s.githubPull(ctx, c, e, repo, action))
		}, model.KindPull+"."+what)
	}
}

func (s *Service) githubPull(ctx context.Context, c *web.Ctx, e *model.Event, repo *model.Repo, action string) ([]GitHubEvent, error) {
	if repo == nil {
		return nil, nil
	}
	var data pulls.Event
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, err
	}
	c.Repo = repo
	pull, err := s.Pulls.Tell(c, data.Number)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{"number": data.Number, "pull_request": pull}
	switch {
	case action == "synchronize":
		fields["before"], fields["after"] = data.Before, data.HeadSHA
	case data.OldBase != "":
		fields["changes"] = map[string]any{"base": map[string]any{"ref": map[string]any{"from": data.OldBase}}}
	case action == "edited":
		fields["changes"] = changed(data.OldTitle, data.OldBody)
	case data.Label != nil || data.Milestone != nil:
		told, err := s.Issues.Tell(c, data.Number)
		if err != nil {
			return nil, err
		}
		if data.Label != nil {
			if l, ok := told.Label(data.Label.ID); ok {
				fields["label"] = l
			}
		} else if m, ok := told.Milestone(data.Milestone.ID); ok {
			fields["milestone"] = m
		}
	}
	for key, id := range map[string]int64{"assignee": data.AssigneeID, "requested_reviewer": data.ReviewerID} {
		if id == 0 {
			continue
		}
		people, err := accountdb.ByIDs(ctx, s.DB.Directory(), id)
		if err != nil {
			return nil, err
		}
		fields[key] = api.UserOf(c, people[id])
	}
	return []GitHubEvent{{Name: "pull_request", Action: action, Fields: fields}}, nil
}
