package attachments

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/attachdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// Copied is a file of a repository as another has it.
type Copied struct {
	Old, New *model.Attachment
	from, to *model.Repo
}

// Copy stores the contents of the attachments that texts of one repository
// name in another, and returns the rows that its transaction adds by Insert.
// What is not there any more is left out.
func (s *Service) Copy(ctx context.Context, from, to *model.Repo, texts ...string) ([]Copied, error) {
	var out []Copied
	for _, id := range attachdb.Named(strings.Join(texts, "\n")) {
		old, err := attachdb.Find(ctx, s.DB.Repo(from.ID), id)
		if errors.Is(err, db.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := s.copyContent(ctx, from.ID, to.ID, old); errors.Is(err, blob.ErrNotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		fresh := *old
		fresh.ID = NewID()
		out = append(out, Copied{old, &fresh, from, to})
	}
	return out, nil
}

func (s *Service) copyContent(ctx context.Context, from, to int64, a *model.Attachment) error {
	content, _, err := s.space(from).Open(ctx, a.SHA256)
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // reading has shown its errors
	_, err = s.space(to).Put(ctx, io.Reader(content))
	return err
}

// Insert adds the copies to a thread of the other repository.
func Insert(ctx context.Context, tx *db.RepoTx, number int64, copies []Copied) error {
	for _, c := range copies {
		row := *c.New
		row.Threads, row.LooseAt, row.GoneAt = []int64{number}, nil, nil
		if err := attachdb.Insert(ctx, tx, &row); err != nil {
			return err
		}
	}
	return nil
}

// Replace puts the addresses of copies in place of those of the originals.
func Replace(text string, copies []Copied) string {
	for _, c := range copies {
		old := link.Attachments(c.from.Owner.Name, c.from.Name) + "/" + c.Old.ID
		text = strings.ReplaceAll(text, old, link.Attachments(c.to.Owner.Name, c.to.Name)+"/"+c.New.ID)
	}
	return text
}
