package app

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/app/codes"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/lfs"
	"github.com/gitfor/gitfor/app/transport"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// buildLFS makes large files, before git's clients are served.
func (a *App) buildLFS() {
	a.LFS = lfs.New(lfs.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, Ring: a.Ring, Blobs: a.Blobs, Log: a.log, URL: a.cfg.URL,
		Account: a.Auth.Active})
	a.Auth.SetScheme(lfs.Scheme, func(c *web.Ctx, value string) (*model.Viewer, error) {
		return a.LFS.Recognise(c.Context(), c.R.URL.Path, value)
	})
	a.Repos.Locks = a.LFS.CheckMove
	a.Repos.Sections = append(a.Repos.Sections, lfs.Section())
	a.Events.Subscribe(events.Subscriber{Service: "work", Name: "lfs.push", Types: []string{"git.push"}, Handle: a.LFS.OnPush})
}

// lockRules asks the locks of large files about the pushes of git's clients.
type lockRules struct{ files *lfs.Service }

// CheckPush refuses the commands that change what others have locked.
func (r lockRules) CheckPush(ctx context.Context, p *transport.Incoming) error {
	pending := p.Pending()
	moves := make([]git.RefUpdate, len(pending))
	for i, c := range pending {
		moves[i] = git.RefUpdate{Name: c.Ref, Old: c.Old, New: c.New}
	}
	why, err := r.files.Refuse(ctx, p.Repo, p.Target, p.Viewer.ID(), moves)
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

// largeFile is what a file in git stands for; nil when it stands for itself.
func (a *App) largeFile(ctx context.Context, viewer *model.Viewer, repo *model.Repo, data []byte) (*codes.LargeFile, error) {
	p, ok := lfs.ParsePointer(data)
	if !ok {
		return nil, nil //nolint:nilnil // an ordinary file
	}
	out := &codes.LargeFile{ID: p.OID, Size: p.Size}
	f, _, err := a.LFS.Open(ctx, viewer, repo, p.OID)
	if errors.Is(err, db.ErrNotFound) {
		return out, nil
	}
	out.Content = f
	return out, err
}

// lockedBy is who has locked a file, "" for nobody.
func (a *App) lockedBy(ctx context.Context, repo *model.Repo, path string) (string, error) {
	lock, err := a.LFS.LockOf(ctx, repo, path)
	if err != nil || lock == nil {
		return "", err
	}
	return lock.Owner, nil
}
