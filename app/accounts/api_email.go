package accounts

import (
	"encoding/json"
	"net/http"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
)

func (s *Service) apiEmailRoutes(a *web.Router) {
	g := s.Gate
	a.Get("/user/emails", g.SignedIn("user:email"), s.apiEmails, &web.Doc{ID: "users/list-emails-for-authenticated-user", Summary: "List your email addresses", Out: []EmailAddress{}})
	a.Get("/user/public_emails", g.SignedIn("user:email"), s.apiPublicEmails, &web.Doc{ID: "users/list-public-emails-for-authenticated-user", Summary: "List your public email addresses", Out: []EmailAddress{}})
	a.Post("/user/emails", g.SignedIn("user"), s.apiEmailsAdd, &web.Doc{ID: "users/add-email-for-authenticated-user", Summary: "Add email addresses", In: emailsInput{}, Out: []EmailAddress{}, Status: http.StatusCreated})
	a.Delete("/user/emails", g.SignedIn("user"), s.apiEmailsRemove, &web.Doc{ID: "users/delete-email-for-authenticated-user", Summary: "Delete email addresses", In: emailsInput{}, Status: http.StatusNoContent})
	a.Patch("/user/email/visibility", g.SignedIn("user"), s.apiEmailVisibility, &web.Doc{ID: "users/set-primary-email-visibility-for-authenticated-user", Summary: "Set whether your primary address is shown", In: visibilityInput{}, Out: []EmailAddress{}})
}

// emailsInput is a list of addresses: {"emails": […]}, […] or one text.
type emailsInput struct {
	Emails []string `json:"emails"`
}

// UnmarshalJSON takes the three forms that GitHub takes.
func (in *emailsInput) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		in.Emails = []string{one}
		return nil
	}
	if json.Unmarshal(b, &in.Emails) == nil {
		return nil
	}
	type plain emailsInput
	return json.Unmarshal(b, (*plain)(in))
}

type visibilityInput struct {
	Visibility string `json:"visibility"`
}

func (s *Service) emailsOf(c *web.Ctx) ([]EmailAddress, error) {
	emails, err := s.Emails(c.Context(), c.Viewer.ID())
	if err != nil {
		return nil, err
	}
	out := make([]EmailAddress, len(emails))
	for i, e := range emails {
		out[i] = emailOf(c.Viewer.User, e)
	}
	return out, nil
}

func (s *Service) apiEmails(c *web.Ctx) error {
	out, err := s.emailsOf(c)
	if err != nil {
		return err
	}
	return list(c, out)
}

func (s *Service) apiPublicEmails(c *web.Ctx) error {
	all, err := s.emailsOf(c)
	if err != nil {
		return err
	}
	out := []EmailAddress{}
	for _, e := range all {
		if e.Visibility != nil && *e.Visibility == "public" {
			out = append(out, e)
		}
	}
	return list(c, out)
}

func (s *Service) apiEmailsAdd(c *web.Ctx) error {
	var in emailsInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if len(in.Emails) == 0 {
		return fault.Field("emails", "Give at least one address.")
	}
	for _, e := range in.Emails {
		if err := s.AddEmail(c.Context(), c.Viewer.ID(), e); err != nil {
			return err
		}
	}
	out, err := s.emailsOf(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, out)
}

func (s *Service) apiEmailsRemove(c *web.Ctx) error {
	var in emailsInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	for _, e := range in.Emails {
		if err := s.RemoveEmail(c.Context(), c.Viewer.ID(), e); err != nil {
			return err
		}
	}
	return c.NoContent()
}

func (s *Service) apiEmailVisibility(c *web.Ctx) error {
	var in visibilityInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.Visibility != "public" && in.Visibility != "private" {
		return fault.Field("visibility", "Visibility is public or private.")
	}
	if err := s.SetEmailPrivate(c.Context(), c.Viewer.ID(), in.Visibility == "private"); err != nil {
		return err
	}
	u := *c.Viewer.User
	u.EmailPrivate = in.Visibility == "private"
	c.Viewer.User = &u
	return s.apiEmails(c)
}
