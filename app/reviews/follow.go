package reviews

import (
	"context"
	"slices"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/protectdb"
	"github.com/gitfor/gitfor/db/reviewdb"
)

// Follow finds out where comments stand in the newest round of a pull
// request. It may be called at any time and again.
func (s *Service) Follow(ctx context.Context, p Place, g *git.Repository, pull *model.Pull) error {
	round := pull.Round()
	list, err := reviewdb.Unplaced(ctx, s.DB.Repo(p.Repo.ID), pull.Number, round, pulls.Base(g, pull, round).String())
	if err != nil || len(list) == 0 {
		return err
	}
	places, err := placed(ctx, g, pull, list)
	if err != nil {
		return err
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		now, err := s.Pulls.FindIn(ctx, tx.Repo, p, pull.Number)
		if err != nil || now.Round() != round {
			return err
		}
		for i, c := range list {
			if err := reviewdb.SetPlace(ctx, tx, c.ID, places[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Round is told of a new round: comments are followed to it, and approvals of
// earlier rounds are dismissed where a rule of the base asks for fresh ones.
func (s *Service) Round(ctx context.Context, p Place, g *git.Repository, pull *model.Pull) error {
	if err := s.Follow(ctx, p, g, pull); err != nil {
		return err
	}
	repo := s.DB.Repo(p.Repo.ID)
	rules, err := protectdb.For(ctx, repo, pull.BaseRef)
	rule := model.Together(rules)
	if err != nil || rule == nil || !rule.Fresh {
		return err
	}
	list, err := reviewdb.List(ctx, repo, pull.Number, 0)
	stale := func(r *model.Review) bool { return r.State == model.ReviewApproved && r.SHA != pull.HeadSHA }
	if err != nil || !slices.ContainsFunc(list, stale) {
		return err
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		now, err := s.Pulls.FindIn(ctx, tx.Repo, p, pull.Number)
		if err != nil || now.HeadSHA != pull.HeadSHA {
			return err
		}
		list, err := reviewdb.List(ctx, tx.Repo, pull.Number, 0)
		if err != nil {
			return err
		}
		for _, r := range list {
			if !stale(r) {
				continue
			}
			if err := s.dismissTx(ctx, tx, p, now, r, "New commits were pushed."); err != nil {
				return err
			}
		}
		return nil
	})
}

// placed is where comments stand in the newest round, by index.
func placed(ctx context.Context, g *git.Repository, pull *model.Pull, list []*model.ReviewComment) ([]*model.ReviewPlace, error) {
	head, base := git.OID(pull.HeadSHA), pulls.Base(g, pull, pull.Round())
	trails := map[[2]git.OID]*trail{}
	find := func(from, to git.OID) (*trail, error) {
		key := [2]git.OID{from, to}
		if trails[key] == nil {
			t, err := follow(ctx, g, from, to)
			if err != nil {
				return nil, err
			}
			trails[key] = t
		}
		return trails[key], nil
	}
	out := make([]*model.ReviewPlace, len(list))
	for i, c := range list {
		right, err := find(git.OID(c.SHA), head)
		if err != nil {
			return nil, err
		}
		place := &model.ReviewPlace{Round: pull.Round()}
		if c.Left() {
			place.Base = base.String()
		}
		if !c.Left() {
			place.Path, place.Start, place.Line, place.Gone, err = right.find(ctx, c.Path, c.StartLine, c.Line)
		} else {
			err = leftPlace(ctx, find, g, c, right, base, place)
		}
		if err != nil {
			return nil, err
		}
		if place.Gone {
			place.Path, place.Line, place.Start = c.Path, 0, 0
		}
		out[i] = place
	}
	return out, nil
}

// leftPlace places a comment on the state before the change: the line is followed in
// the bases, the file's name in the heads, by which comments know it.
func leftPlace(ctx context.Context, find func(from, to git.OID) (*trail, error), g *git.Repository, c *model.ReviewComment, right *trail, base git.OID, place *model.ReviewPlace) error {
	left, err := find(git.OID(c.BaseSHA), base)
	if err != nil {
		return err
	}
	name := c.Path
	change, err := find(git.OID(c.BaseSHA), git.OID(c.SHA))
	if err != nil {
		return err
	}
	if k := slices.IndexFunc(change.files, func(f git.DiffFile) bool { return f.NewName == c.Path }); k >= 0 {
		name = change.files[k].OldName
	}
	var old string
	if old, place.Start, place.Line, place.Gone, err = left.find(ctx, name, c.StartLine, c.Line); err != nil || place.Gone {
		return err
	}
	// Its name after the change, where there is one by now.
	now, err := find(base, right.to)
	if err != nil {
		return err
	}
	place.Path = old
	if k := slices.IndexFunc(now.files, func(f git.DiffFile) bool { return f.OldName == old }); k >= 0 {
		place.Path = now.files[k].NewName
	}
	return nil
}

// trail leads lines of one state of the files to another.
type trail struct {
	git      *git.Repository
	from, to git.OID
	files    []git.DiffFile
	hunks    map[string]*git.DiffFile
}

func follow(ctx context.Context, g *git.Repository, from, to git.OID) (*trail, error) {
	t := &trail{git: g, from: from, to: to, hunks: map[string]*git.DiffFile{}}
	if from == to {
		return t, nil
	}
	var err error
	t.files, err = g.DiffFiles(ctx, git.DiffOptions{Base: from, Head: to})
	return t, err
}

// find is where lines of a file are; gone when they are not there as they
// were.
func (t *trail) find(ctx context.Context, path string, start, line int) (name string, first, last int, gone bool, err error) {
	k := slices.IndexFunc(t.files, func(f git.DiffFile) bool {
		return f.OldName == path && f.Status != git.StatusAdded && f.Status != git.StatusCopied
	})
	if k < 0 {
		return path, start, line, false, nil
	}
	f := &t.files[k]
	if f.Status == git.StatusDeleted {
		return path, 0, 0, true, nil
	}
	if line == 0 || f.OldOID == f.NewOID {
		return f.NewName, start, line, false, nil
	}
	d := t.hunks[path]
	if d == nil {
		files, err := t.git.Diff(ctx, git.DiffOptions{Base: t.from, Head: t.to, Paths: f.Paths(), Context: -1, MaxFileBytes: maxCommented})
		if err != nil {
			return "", 0, 0, false, err
		}
		d = &git.DiffFile{Truncated: true}
		if len(files) > 0 {
			d = &files[0]
		}
		t.hunks[path] = d
	}
	if d.Truncated || d.Binary {
		return path, 0, 0, true, nil
	}
	from := line
	if start > 0 {
		from = start
	}
	delta, ok := shift(d.Hunks, from, line)
	if !ok {
		return path, 0, 0, true, nil
	}
	if start > 0 {
		start += delta
	}
	return f.NewName, start, line + delta, false, nil
}

// shift is by how much the lines from to to moved; not ok when one of them
// changed, or something came between.
func shift(hunks []git.Hunk, from, to int) (delta int, ok bool) {
	for i := range hunks {
		h := &hunks[i]
		if h.OldLines == 0 {
			// Lines that were added after OldStart.
			switch {
			case h.OldStart >= to:
				return delta, true
			case h.OldStart >= from:
				return 0, false
			}
			delta += h.NewLines
			continue
		}
		switch {
		case h.OldStart > to:
			return delta, true
		case h.OldStart+h.OldLines > from:
			return 0, false
		}
		delta += h.NewLines - h.OldLines
	}
	return delta, true
}
