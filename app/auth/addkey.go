package auth

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// maxPasskeys bounds the passkeys of an account.
const maxPasskeys = 50

// beginAdd starts the making of one more passkey for an account.
func (s *Service) beginAdd(ctx context.Context, purpose string, a *model.Account, cer ceremony) (id string, options any, err error) {
	p, err := s.person(ctx, a)
	if err != nil {
		return "", nil, err
	}
	if len(p.keys) >= maxPasskeys {
		return "", nil, fault.New(fault.Conflict, "An account may have at most 50 passkeys. Remove one first.")
	}
	return s.create(ctx, purpose, p, cer)
}

// finishAdd stores the passkey that beginAdd started. before, unless nil, runs
// between the check of the key's answer and the storing.
func (s *Service) finishAdd(ctx context.Context, cer *ceremony, name string, answer json.RawMessage, before func() error) error {
	account, err := accountdb.ByID(ctx, s.db.Directory(), cer.Account)
	if err != nil {
		return err
	}
	p, err := s.person(ctx, account)
	if err != nil {
		return err
	}
	record, err := s.created(p, cer, answer)
	if err != nil {
		return err
	}
	if before != nil {
		if err := before(); err != nil {
			return err
		}
	}
	told, err := s.tell(ctx, p.id, "A passkey was added to your account", "The passkey “"+name+"” can now sign in to "+account.Name+".")
	if err != nil {
		return err
	}
	if err := s.addPasskey(ctx, p.id, name, record, told); err != nil {
		return err
	}
	// Without its row in the directory the key still signs in by its user
	// handle; a crash here loses only the check that no other account has it.
	err = s.db.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return accountdb.AddLocator(ctx, tx, accountdb.LocatePasskey, locator(record.ID), p.id)
	})
	if err != nil {
		return errors.Join(knownKey(err), s.dropPasskey(ctx, p.id, record.ID))
	}
	return nil
}

func (s *Service) dropPasskey(ctx context.Context, accountID int64, rawID []byte) error {
	row, err := accountdb.Credential(ctx, s.db.Account(accountID), model.CredentialPasskey, rawID)
	if err != nil {
		return err
	}
	return s.db.InAccount(context.WithoutCancel(ctx), accountID, func(ctx context.Context, tx *db.AccountTx) error {
		return accountdb.DeleteCredential(ctx, tx, model.CredentialPasskey, row.ID)
	})
}

// RenamePasskey changes what a passkey is called in its owner's list.
func (s *Service) RenamePasskey(ctx context.Context, accountID, id int64, name string) error {
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		return fault.Field("name", "A passkey's name has 1 to 100 characters on one line.")
	}
	row, err := accountdb.CredentialByID(ctx, s.db.Account(accountID), model.CredentialPasskey, id)
	if err != nil {
		return err
	}
	return s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		row.Name = name
		return accountdb.SaveCredential(ctx, tx, row)
	})
}

// RemovePasskey removes a passkey, but never the last one: the account could
// not be signed in to any more.
func (s *Service) RemovePasskey(ctx context.Context, accountID, id int64) error {
	row, err := accountdb.CredentialByID(ctx, s.db.Account(accountID), model.CredentialPasskey, id)
	if err != nil {
		return err
	}
	told, err := s.tell(ctx, accountID, "A passkey was removed from your account", "The passkey “"+row.Name+"” can no longer sign in.")
	if err != nil {
		return err
	}
	err = s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		n, err := accountdb.CountCredentials(ctx, tx, model.CredentialPasskey)
		if err != nil {
			return err
		}
		if n <= 1 {
			return fault.New(fault.Conflict, "This is your only passkey, and the last way in cannot be removed. Add another passkey first.")
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "passkey.remove", AccountID: accountID, Target: row.Name}); err != nil {
			return err
		}
		if err := accountdb.DeleteCredential(ctx, tx, model.CredentialPasskey, id); err != nil {
			return err
		}
		return told(ctx, tx)
	})
	if err != nil {
		return err
	}
	return s.db.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return accountdb.DropLocators(ctx, tx, accountID, accountdb.LocatePasskey, locator(row.Key))
	})
}

// useLink uses up a passkey link; of two who do, one is refused.
func (s *Service) useLink(ctx context.Context, challenge string) error {
	var id int64
	_, err := accountdb.TakeChallenge(ctx, s.db.Cell(), challenge, kindLink, &id)
	if errors.Is(err, db.ErrNotFound) {
		return fault.New(fault.Gone, "This link was used before; it was good once. Ask the operator for a new one.")
	}
	return err
}

// linkTime is how long a link to add a passkey is good.
const linkTime = 24 * time.Hour

const (
	linkPurpose = "passkey link"
	kindLink    = "passkey-link"
)

// NewPasskeyLink makes the path of a page where whoever opens it may add a
// passkey to the account, once, within a day.
func (s *Service) NewPasskeyLink(ctx context.Context, accountID int64) (path string, err error) {
	expires := s.now().Add(linkTime)
	token, h := s.tokens.NewLink(linkPurpose, accountID, expires)
	err = accountdb.PutChallenge(ctx, s.db.Cell(), linkID(h), kindLink, accountID, expires)
	s.challenges.Store(true)
	return "/passkey-link/" + token, s.wrap("make passkey link", err)
}

func linkID(h [32]byte) string { return "link-" + hex.EncodeToString(h[:]) }

// link is whose passkey link a token is, without using it up.
func (s *Service) link(ctx context.Context, token string) (*model.Account, string, error) {
	owner, h, err := s.tokens.ParseLink(linkPurpose, token, s.now())
	if errors.Is(err, secret.ErrLinkExpired) {
		return nil, "", fault.New(fault.Gone, "This link has expired; it was good for a day. Ask the operator for a new one.")
	}
	if err != nil {
		return nil, "", db.ErrNotFound
	}
	var id int64
	if _, err := accountdb.Challenge(ctx, s.db.Cell(), linkID(h), kindLink, &id); errors.Is(err, db.ErrNotFound) {
		return nil, "", fault.New(fault.Gone, "This link was used before; it was good once. Ask the operator for a new one.")
	} else if err != nil {
		return nil, "", err
	}
	u, err := s.active(ctx, owner)
	if err != nil {
		return nil, "", err
	}
	return u.Account, linkID(h), nil
}
