package auth

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/mailview"
)

// maxLinks is how many links to confirm an address a person may ask for in an
// hour: addresses may be other people's.
const maxLinks = 10

// SendEmailLink mails the link that confirms an address to it.
// fault.RateLimited when the account asked for too many.
func (s *Service) SendEmailLink(ctx context.Context, a *model.Account, email string) error {
	if err := s.links.take(strconv.FormatInt(a.ID, 10)); err != nil {
		return fault.New(fault.RateLimited, "You asked for many links. Wait an hour, then try again.")
	}
	path, err := s.NewEmailLink(ctx, a.ID, email)
	if err != nil {
		return err
	}
	return s.db.InCell(ctx, func(ctx context.Context, tx db.CellTx) error {
		return s.mail.Enqueue(ctx, tx, mail.Message{To: email, ToName: a.DisplayName, Subject: "Confirm your address for " + a.Name,
			Preview: "One click, and " + email + " is yours on gitfor.", Reason: "address",
			Why:  "You get this because the account " + a.Name + " gave this address.",
			Body: mailview.Confirm(a.Name, s.publicURL+path, int(verifyTime/time.Hour))})
	})
}

// step is what else a transaction does.
type step func(ctx context.Context, tx db.Tx) error

// tell is a security notice to the person with this account, to be sent with
// the transaction that changes what it tells of. Nobody is told about an
// account that does not exist yet.
func (s *Service) tell(ctx context.Context, accountID int64, title, what string) (step, error) {
	u, err := s.user(ctx, accountID)
	if s.mail == nil || errors.Is(err, db.ErrNotFound) || err == nil && u.Email == "" {
		return func(context.Context, db.Tx) error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx db.Tx) error {
		return s.mail.Enqueue(ctx, tx, mail.Message{To: u.Email, ToName: u.Account.DisplayName, Subject: title, Reason: "security",
			Why: "You get this because it is about the security of your account " + u.Account.Name + ". Such mails cannot be switched off.",
			Body: mailview.Notice(mailview.NoticeProps{Title: title, What: what, At: when(tx.Now(), u.TimeZone),
				Review: s.publicURL + link.Settings("passkeys"), ReviewLabel: "Look at your passkeys"})})
	}, nil
}

// when is a time as a person reads it, in their time zone.
func when(t time.Time, zone string) string {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		loc = time.UTC
	}
	return t.In(loc).Format("Monday, 2 January 2006, 15:04 MST")
}
