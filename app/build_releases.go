package app

import (
	"context"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/releases"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/transport"
)

// buildReleases makes releases, which follow pushes of tags.
func (a *App) buildReleases() {
	a.Releases = releases.New(releases.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, Threads: a.Threads, URL: a.cfg.URL})
	a.Repos.Tabs = append(a.Repos.Tabs, "releases")
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
