package explore

import "github.com/gitfor/gitfor/app/web"

// robots tells crawlers to read what people wrote and each branch as it is,
// and to keep away from pages of which history makes endless many.
const robots = `User-agent: *
Crawl-delay: 1
Disallow: /-/
Allow: /-/static/
Disallow: /api/
Disallow: /login
Disallow: /logout
Disallow: /signup
Disallow: /sudo
Disallow: /*/*/archive/
Disallow: /*/*/blame/
Disallow: /*/*/commit/
Disallow: /*/*/commits
Disallow: /*/*/compare
Disallow: /*/*/find/
Disallow: /*/*/raw/
Disallow: /*/*/pull/*.diff
Disallow: /*/*/pull/*.patch
Disallow: /*/*/activity
Disallow: /*/*/contributors
Disallow: /*/*?*q=
`

func (s *Service) robots(c *web.Ctx) error { return c.Text(robots) }
