package issues

import (
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/threadview"
)

// savedReplies are the viewer's saved replies.
func (s *Service) savedReplies(*web.Ctx) ([]threadview.SavedReply, error) { return nil, nil }
