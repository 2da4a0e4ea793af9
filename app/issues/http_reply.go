package issues

import (
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/draftdb"
	"github.com/gitfor/gitfor/views/threadview"
)

// savedReplies are the viewer's saved replies; who never kept any costs no
// query.
func (s *Service) savedReplies(c *web.Ctx) ([]threadview.SavedReply, error) {
	if !c.Viewer.SignedIn() {
		return nil, nil
	}
	list, err := draftdb.Replies(c.Context(), s.DB.Account(c.Viewer.ID()))
	var out []threadview.SavedReply
	for _, r := range list {
		out = append(out, threadview.SavedReply{Title: r.Title, Body: r.Body})
	}
	return out, err
}
