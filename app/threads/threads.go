package threads

import (
	"context"
	"strconv"

	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/attachdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Service is the conversation of all threads.
type Service struct {
	db   *db.DB
	text *markup.Renderer

	// Seen, when set, is told who opened which thread, before the page is
	// made; set before the first request.
	Seen func(ctx context.Context, viewer *model.Viewer, repo *model.Repo, i *model.Issue)
}

// New makes the service.
func New(d *db.DB, text *markup.Renderer) *Service { return &Service{db: d, text: text} }

// Place is who acts, in which repository, and with which role there.
type Place struct {
	Viewer *model.Viewer
	Repo   *model.Repo // with its owner
	Role   model.Role
}

// Find returns a thread of the place's repository that its viewer may see;
// db.ErrNotFound for others.
func (s *Service) Find(ctx context.Context, p Place, number int64) (*model.Issue, error) {
	return find(ctx, s.db.Repo(p.Repo.ID), p, number)
}

func find(ctx context.Context, repo db.Repo, p Place, number int64) (*model.Issue, error) {
	issue, err := threaddb.Find(ctx, repo, number)
	if err != nil {
		return nil, err
	}
	if !p.sees(issue) {
		return nil, db.ErrNotFound
	}
	return issue, nil
}

// item returns a timeline item and its thread, if the viewer may see it.
func item(ctx context.Context, repo db.Repo, p Place, id int64) (*model.TimelineItem, *model.Issue, error) {
	it, err := threaddb.Item(ctx, repo, id)
	if err != nil {
		return nil, nil, err
	}
	issue, err := find(ctx, repo, p, it.Number)
	return it, issue, err
}

// FindComment returns a comment and its thread, if the viewer may see it.
func (s *Service) FindComment(ctx context.Context, p Place, id int64) (*model.TimelineItem, *model.Issue, error) {
	it, issue, err := item(ctx, s.db.Repo(p.Repo.ID), p, id)
	if err == nil && !it.IsComment() {
		return nil, nil, db.ErrNotFound
	}
	return it, issue, err
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

// Delete removes a thread for good; its number is not given again.
func (s *Service) Delete(ctx context.Context, p Place, number int64) error {
	if !p.MayDelete() {
		return denied("Only administrators of the repository may delete this.")
	}
	return s.db.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		i, err := find(ctx, tx.Repo, p, number)
		if err != nil {
			return err
		}
		if err := s.RemoveTx(ctx, tx, i); err != nil {
			return err
		}
		return emit(ctx, tx, p, EventOf(i, "deleted"))
	})
}

// RemoveTx takes a thread out of the repository, and of the threads that are
// tied to it, without an event.
func (s *Service) RemoveTx(ctx context.Context, tx *db.RepoTx, i *model.Issue) error {
	if err := threaddb.Delete(ctx, tx, i.Number); err != nil {
		return err
	}
	if err := threaddb.Untie(ctx, tx, i); err != nil {
		return err
	}
	if loose, err := attachdb.Loosen(ctx, tx, i.Number); err != nil {
		return err
	} else if loose {
		if err := tx.Arm(ctx, tx.Now().AddDate(0, 0, 31)); err != nil {
			return err
		}
	}
	tx.Count(counter(i), -1)
	if i.Confidential {
		tx.Count("confidential", -1)
	}
	if i.PinnedAt != nil {
		tx.Count("pinned", -1)
	}
	return threaddb.CountMilestones(ctx, tx, i.MilestoneID)
}
