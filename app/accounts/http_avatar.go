package accounts

import "github.com/gitfor/gitfor/app/web"

// avatar is the picture of an account: it is made of the id alone, so that it
// tells nothing about who exists.
func (s *Service) avatar(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	h := c.W.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=86400")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	return c.Bytes(avatarSVG(id))
}
