package auth

import (
	"net/http"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/views/authview"
	"github.com/gitfor/gitfor/views/link"
)

// verifyPage asks before it confirms: programs that look at mail open links.
func (s *Service) verifyPage(c *web.Ctx) error {
	_, email, _, err := s.emailOf(c.Context(), c.Param("token"))
	if err != nil {
		return err
	}
	c.W.Header().Set("Referrer-Policy", "no-referrer")
	return s.page(c, http.StatusOK, "Confirm address", authview.Verify(email, c.R.URL.EscapedPath()))
}

func (s *Service) verify(c *web.Ctx) error {
	owner, email, challenge, err := s.emailOf(c.Context(), c.Param("token"))
	if err != nil {
		return err
	}
	if err := s.accounts.VerifyEmail(c.Context(), owner, email); err != nil {
		return err
	}
	if _, err := accountdb.TakeChallenge(c.Context(), s.db.Cell(), challenge, kindVerify, &email); err != nil {
		return err
	}
	return c.RedirectFlash(link.Settings("emails"), email+" is confirmed.")
}
