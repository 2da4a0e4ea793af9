package reviews

import (
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/reviewdb"
)

// Tell is a review as webhooks tell of it: as the API shows it to nobody in
// particular. ErrNotFound when it is gone.
func (s *Service) Tell(c *web.Ctx, number, id int64) (*ReviewWire, error) {
	r, err := reviewdb.Find(c.Context(), s.DB.Repo(c.Repo.ID), number, id)
	if err != nil {
		return nil, err
	}
	out, err := s.answerReviews(c, r)
	if err != nil {
		return nil, err
	}
	return &out[0], nil
}

// TellComment is a comment on a change as webhooks tell of it.
func (s *Service) TellComment(c *web.Ctx, id int64) (*CommentWire, error) {
	x, err := reviewdb.Comment(c.Context(), s.DB.Repo(c.Repo.ID), id)
	if err != nil {
		return nil, err
	}
	w, err := s.show(c, nil, x.AuthorID)
	if err != nil {
		return nil, err
	}
	out := w.comment(x)
	return &out, nil
}

// ThreadWire is a conversation as GitHub's webhooks have it.
type ThreadWire struct {
	NodeID   string        `json:"node_id"`
	Comments []CommentWire `json:"comments"`
}

// TellThread is a conversation as webhooks tell of it.
func (s *Service) TellThread(c *web.Ctx, id int64) (*ThreadWire, error) {
	list, err := reviewdb.Thread(c.Context(), s.DB.Repo(c.Repo.ID), id, 0)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, db.ErrNotFound
	}
	out, err := s.answerComments(c, nil, list)
	if err != nil {
		return nil, err
	}
	return &ThreadWire{NodeID: "PRRT_" + out[0].NodeID, Comments: out}, nil
}
