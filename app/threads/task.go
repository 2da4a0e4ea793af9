package threads

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// TaskInput ticks one item of a task list. Comment is 0 for the thread's
// first post; Text is what the item said to who ticked it.
type TaskInput struct {
	Comment int64  `form:"comment"`
	Index   int    `form:"index"`
	Checked bool   `form:"checked"`
	Text    string `form:"text"`
}

// Task ticks or unticks one item of a task list and changes nothing else of
// the text, whatever others have changed around it. It is a conflict when the
// item is not there any more.
func (s *Service) Task(ctx context.Context, p Place, number int64, in TaskInput) (*Result, error) {
	toggle := func(body string) (string, error) {
		out, err := markup.Toggle(body, in.Index, in.Checked, in.Text)
		if errors.Is(err, markup.ErrTask) {
			return "", fault.Wrap(fault.Conflict, "The list has been changed meanwhile and does not have this item any more. Reload the page.", err)
		}
		return out, err
	}
	if in.Comment != 0 {
		return s.rewrite(ctx, p, in.Comment, func(it *model.TimelineItem) (string, error) { return toggle(it.Body) })
	}
	var r *Result
	err := s.db.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		i, err := find(ctx, tx.Repo, p, number)
		if err != nil {
			return err
		}
		if !p.MayEdit(i.AuthorID) {
			return denied("Only the author and people with write access may tick this.")
		}
		body, err := toggle(i.Body)
		if err != nil {
			return err
		}
		r, err = s.UpdateTx(ctx, tx, p, number, Change{Body: &body})
		return err
	})
	return r, err
}
