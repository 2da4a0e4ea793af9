package codes

import (
	"context"
	"errors"
	"time"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

const (
	// lastSoon is how long a page waits for the last commit of each entry;
	// where they take longer they come after the page, within lastTime.
	lastSoon = 4 * time.Millisecond
	lastTime = 20 * time.Second
)

// latest is the newest commit of the folder at p, or that of the revision
// where it takes too long to find.
func (s *Service) latest(c *web.Ctx, p *place) (*git.Commit, error) {
	defer c.Time("git")()
	if p.path != "" {
		ctx, cancel := context.WithTimeout(c.Context(), 10*lastSoon)
		defer cancel()
		if commit, err := p.git.LastCommit(ctx, p.rev.Commit, p.path); err == nil {
			return commit, nil
		}
	}
	return p.git.Commit(c.Context(), p.rev.Commit)
}

// lasts puts the last commit of each entry into the page when they are known,
// and else says where they come from.
func (s *Service) lasts(c *web.Ctx, p *place, props *codeview.FolderProps) {
	defer c.Time("git")()
	ctx, cancel := context.WithTimeout(c.Context(), lastSoon)
	defer cancel()
	found, err := p.git.LastCommits(ctx, p.rev.Commit, p.path)
	if err != nil {
		props.Folder.Later = link.Tree(p.repo.Owner.Name, p.repo.Name, p.ref(), p.path)
		s.findLasts(c.Background(), p)
		return
	}
	s.setLasts(p, &props.Folder, found)
}

// findLasts finds the last commits beside the page, so that they are known when
// they are asked for.
func (s *Service) findLasts(ctx context.Context, p *place) {
	select {
	case s.finding <- struct{}{}:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lastTime)
	go func() {
		defer cancel()
		defer func() { <-s.finding }()
		if _, err := p.git.LastCommits(ctx, p.rev.Commit, p.path); err != nil {
			s.Log.DebugContext(ctx, "last commits not found", "repo", p.repo.ID, "err", err)
		}
	}()
}

// setLasts fills in the last commits that were found.
func (s *Service) setLasts(p *place, f *codeview.Folder, found map[string]*git.Commit) {
	known := map[git.OID]*codeview.CommitLine{}
	for i := range f.Entries {
		commit := found[f.Entries[i].Key]
		if commit == nil {
			continue
		}
		l := known[commit.OID]
		if l == nil {
			made := line(p.repo, commit, nil)
			l, known[commit.OID] = &made, &made
		}
		f.Entries[i].Last = l
	}
}

// lastColumn is the list of entries with their last commits: what comes after
// the page.
func (s *Service) lastColumn(c *web.Ctx, p *place) error {
	rows, err := s.rows(c.Context(), p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), lastTime)
	defer cancel()
	stop := c.Time("git")
	found, err := p.git.LastCommits(ctx, p.rev.Commit, p.path)
	stop()
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return lost(err)
	}
	s.setLasts(p, &rows, found)
	return c.Render(web.Page{Body: codeview.Entries(rows, upOf(p))})
}

// upOf is the address of the folder above, "" at the root.
func upOf(p *place) string {
	if p.path == "" {
		return ""
	}
	return link.Tree(p.repo.Owner.Name, p.repo.Name, p.ref(), parent(p.path))
}
