package accounts

import (
	"context"
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// maxEmails bounds the addresses of a person.
const maxEmails = 30

// Emails lists a person's addresses, oldest first.
func (s *Service) Emails(ctx context.Context, accountID int64) ([]*model.Email, error) {
	return accountdb.Emails(ctx, s.db.Directory(), accountID)
}

// AddEmail adds an address to a person's. Whether somebody else has it is not
// told: it counts once it is confirmed.
func (s *Service) AddEmail(ctx context.Context, accountID int64, email string) error {
	email = strings.TrimSpace(email)
	if why := CheckEmail(email); why != "" {
		return fault.Field("email", why)
	}
	have, err := s.Emails(ctx, accountID)
	if err != nil {
		return err
	}
	if len(have) >= maxEmails {
		return fault.Field("email", "You may have at most 30 addresses. Remove one first.")
	}
	err = s.inDirectory(ctx, accountID, func(ctx context.Context, tx db.DirectoryTx) error {
		return accountdb.InsertEmail(ctx, tx, &model.Email{Email: email, AccountID: accountID})
	})
	if errors.Is(err, db.ErrConflict) {
		return fault.Field("email", "You have this address already.")
	}
	return err
}

// RemoveEmail removes an address; the primary one stays.
func (s *Service) RemoveEmail(ctx context.Context, accountID int64, email string) error {
	return s.inDirectory(ctx, accountID, func(ctx context.Context, tx db.DirectoryTx) error {
		u, err := accountdb.User(ctx, tx.Directory, accountID)
		if err != nil {
			return err
		}
		if model.Key(u.Email) == model.Key(email) {
			return fault.New(fault.Conflict, "This is your primary address. Make another one primary first.")
		}
		if model.Key(u.Account.PublicEmail) == model.Key(email) {
			u.Account.PublicEmail = ""
			if err := accountdb.SaveProfile(ctx, tx, u.Account); err != nil {
				return err
			}
		}
		return accountdb.DeleteEmail(ctx, tx, accountID, email)
	})
}

// SetPrimary makes one of a person's addresses the one that mail goes to and
// that commits made here carry.
func (s *Service) SetPrimary(ctx context.Context, accountID int64, email string) error {
	return s.inDirectory(ctx, accountID, func(ctx context.Context, tx db.DirectoryTx) error {
		u, err := accountdb.User(ctx, tx.Directory, accountID)
		if err != nil {
			return err
		}
		emails, err := accountdb.Emails(ctx, tx.Directory, accountID)
		if err != nil {
			return err
		}
		e := find(emails, email)
		if e == nil {
			return db.ErrNotFound
		}
		u.Email = e.Email
		return accountdb.SaveUser(ctx, tx, u)
	})
}

// SetEmailPrivate sets whether commits made here carry an address that stands
// for the person's.
func (s *Service) SetEmailPrivate(ctx context.Context, accountID int64, private bool) error {
	return s.inDirectory(ctx, accountID, func(ctx context.Context, tx db.DirectoryTx) error {
		u, err := accountdb.User(ctx, tx.Directory, accountID)
		if err != nil {
			return err
		}
		u.EmailPrivate = private
		return accountdb.SaveUser(ctx, tx, u)
	})
}

// VerifyEmail marks an address as confirmed: its owner opened the link that
// was sent to it.
func (s *Service) VerifyEmail(ctx context.Context, accountID int64, email string) error {
	err := s.inDirectory(ctx, accountID, func(ctx context.Context, tx db.DirectoryTx) error {
		return accountdb.VerifyEmail(ctx, tx, accountID, email, tx.Now())
	})
	if errors.Is(err, db.ErrConflict) {
		return fault.New(fault.Conflict, "Another account has confirmed this address. Remove it there first.")
	}
	return err
}

func find(emails []*model.Email, email string) *model.Email {
	for _, e := range emails {
		if e.EmailKey == model.Key(email) {
			return e
		}
	}
	return nil
}
