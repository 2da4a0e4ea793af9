package releases

import (
	"encoding/json"
	"errors"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Told is the release of an event as webhooks tell it in GitHub's format, with
// the actions that GitHub has for the event
// (https://docs.github.com/webhooks/webhook-events-and-payloads#release). Of a
// release that is gone it tells what the event knows.
func (s *Service) Told(c *web.Ctx, e *model.Event) (*Release, []string, error) {
	var data Event
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, nil, err
	}
	r, err := s.Find(c.Context(), c.Repo, model.RoleWrite, data.ID)
	if errors.Is(err, db.ErrNotFound) {
		r, err = &model.Release{ID: data.ID, Tag: data.Tag, Name: data.Name, Draft: data.Draft, Prerelease: data.Prerelease,
			CommitSHA: data.Commit, AuthorID: data.AuthorID, CreatedAt: e.Time, UpdatedAt: e.Time}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	list, err := s.wire(c, r)
	if err != nil {
		return nil, nil, err
	}
	actions := []string{e.Type[len("release."):]}
	if actions[0] == "published" {
		if data.Prerelease {
			actions = append(actions, "prereleased")
		} else {
			actions = append(actions, "released")
		}
	}
	return &list[0], actions, nil
}
