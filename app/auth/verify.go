package auth

import (
	"context"
	"errors"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
)

const (
	verifyPurpose = "verify email"
	kindVerify    = "verify-email"
	verifyTime    = 3 * 24 * time.Hour
)

// NewEmailLink makes the path of a page that confirms a person's address, to
// be sent to it.
func (s *Service) NewEmailLink(ctx context.Context, accountID int64, email string) (path string, err error) {
	expires := s.now().Add(verifyTime)
	token, h := s.tokens.NewLink(verifyPurpose, accountID, expires)
	s.challenges.Store(true)
	err = accountdb.PutChallenge(ctx, s.db.Cell(), linkID(h), kindVerify, email, expires)
	return "/verify-email/" + token, s.wrap("make email link", err)
}

// emailOf is whose address a link confirms, and the challenge to take.
func (s *Service) emailOf(ctx context.Context, token string) (accountID int64, email, challenge string, err error) {
	owner, h, err := s.tokens.ParseLink(verifyPurpose, token, s.now())
	if err != nil {
		return 0, "", "", fault.New(fault.Gone, "This link has expired or is not complete. Ask for a new one in your settings.")
	}
	_, err = accountdb.Challenge(ctx, s.db.Cell(), linkID(h), kindVerify, &email)
	if errors.Is(err, db.ErrNotFound) {
		return 0, "", "", fault.New(fault.Gone, "This link was used before.")
	}
	return owner, email, linkID(h), err
}
