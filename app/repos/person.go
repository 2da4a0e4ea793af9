package repos

import (
	"fmt"
	"net/url"
	"time"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/model"
)

// Person is the viewer as the author of commits that are made here: with the
// primary address, or a private one on the instance's host where the person
// keeps it hidden.
func (s *Service) Person(v *model.Viewer) git.Person {
	email := s.PrivateEmail(v.Account)
	if v.User != nil && !v.User.EmailPrivate && v.User.Email != "" {
		email = v.User.Email
	}
	return git.Person{Name: v.Account.Shown(), Email: email, When: time.Now()}
}

// PrivateEmail is the address that stands for an account without telling its
// own.
func (s *Service) PrivateEmail(a *model.Account) string {
	host := "localhost"
	if u, err := url.Parse(s.URL); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return fmt.Sprintf("%d+%s@users.noreply.%s", a.ID, a.Name, host)
}
