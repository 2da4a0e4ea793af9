package auth

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
)

const kindShown = "shown-once"

func shownID(accountID int64, what string) string {
	return what + "-" + strconv.FormatInt(accountID, 10)
}

// ShowOnce keeps a secret for the account's next page, sealed, for ten
// minutes.
func (s *Service) ShowOnce(ctx context.Context, accountID int64, what, text string) error {
	id := shownID(accountID, what)
	s.challenges.Store(true)
	err := accountdb.PutChallenge(ctx, s.db.Cell(), id, kindShown, s.ring.Seal(id, []byte(text)), s.now().Add(10*time.Minute))
	return s.wrap("keep secret to show", err)
}

// TakeShown is the secret that ShowOnce kept, once; "" when there is none.
func (s *Service) TakeShown(ctx context.Context, accountID int64, what string) (string, error) {
	var sealed []byte
	id := shownID(accountID, what)
	expires, err := accountdb.TakeChallenge(ctx, s.db.Cell(), id, kindShown, &sealed)
	if errors.Is(err, db.ErrNotFound) || err == nil && s.now().After(expires) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	plain, err := s.ring.Open(id, sealed)
	return string(plain), err
}
