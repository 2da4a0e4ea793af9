package app

import (
	"context"

	"github.com/gitfor/gitfor/app/alarms"
	"github.com/gitfor/gitfor/app/attachments"
	"github.com/gitfor/gitfor/app/drafts"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/releases"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/transport"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/app/webhooks"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// buildReleases makes releases, which follow pushes of tags.
func (a *App) buildReleases() {
	a.Releases = releases.New(releases.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, Threads: a.Threads, Blobs: a.Blobs, URL: a.cfg.URL})
	a.Alarms.Add(alarms.Task{Kind: db.RepoKind, Name: "releases.sweep", Run: a.Releases.Sweep})
	a.Repos.Tabs = append(a.Repos.Tabs, "releases", "activity")
	rules := a.Repos.Guard
	a.Repos.Guard = func(ctx context.Context, g *git.Repository, p *repos.Push) error {
		if err := rules(ctx, g, p); err != nil {
			return err
		}
		return a.Releases.Guard(ctx, g, p)
	}
	a.Events.Subscribe(events.Subscriber{Service: "work", Name: "releases.push", Types: []string{"git.push"}, Handle: a.Releases.OnPush})
}

// releaseTags keeps pushes of git's clients from the tags of immutable
// releases.
type releaseTags struct{ app *App }

// CheckPush refuses the commands that would move or delete such a tag.
func (r releaseTags) CheckPush(ctx context.Context, p *transport.Incoming) error {
	pending := p.Pending()
	moves := make([]git.RefUpdate, len(pending))
	for i, c := range pending {
		moves[i] = git.RefUpdate{Name: c.Ref, Old: c.Old, New: c.New}
	}
	why, err := r.app.Releases.Refuse(ctx, p.Target.ID, moves)
	if err != nil {
		return err
	}
	for i, w := range why {
		if w != "" {
			pending[i].Reject("%s", w)
		}
	}
	return nil
}

// tellReleases sets how webhooks tell of releases in GitHub's format.
func (a *App) tellReleases() {
	var types []string
	for _, p := range releases.Payloads() {
		types = append(types, p.EventType())
	}
	a.Webhooks.AddGitHub(func(_ context.Context, c *web.Ctx, e *model.Event, repo *model.Repo) ([]webhooks.GitHubEvent, error) {
		if repo == nil {
			return nil, nil
		}
		c.Repo = repo
		r, actions, err := a.Releases.Told(c, e)
		var out []webhooks.GitHubEvent
		for _, action := range actions {
			fields := map[string]any{"release": r}
			if action == "edited" {
				fields["changes"] = map[string]any{} // what it was before is not kept
			}
			out = append(out, webhooks.GitHubEvent{Name: "release", Action: action, Fields: fields})
		}
		return out, err
	}, types...)
}

// buildAttachments makes the files of texts.
func (a *App) buildAttachments() {
	a.Attachments = attachments.New(attachments.Deps{DB: a.DB, Gate: a.Gate, Threads: a.Threads, Blobs: a.Blobs})
	a.Alarms.Add(alarms.Task{Kind: db.RepoKind, Name: "attachments.sweep", Run: a.Attachments.Sweep})
}

// buildDrafts makes what people are writing and the replies that they keep.
func (a *App) buildDrafts() {
	a.Drafts = &drafts.Service{DB: a.DB, Gate: a.Gate, Shell: a.Settings.Shell}
	a.Settings.More = append(a.Settings.More, drafts.Tab())
}
