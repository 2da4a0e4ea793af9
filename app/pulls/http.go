package pulls

import (
	"github.com/gitfor/gitfor/app/web"
)

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	s.apiRoutes(r)
}
