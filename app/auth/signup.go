package auth

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/go-webauthn/webauthn/webauthn"
)

// SignUpInput is what the sign-up page asks for.
type SignUpInput struct {
	Name  string `form:"username" json:"username"`
	Email string `form:"email" json:"email"`
	// Code is the set-up code, asked of the first account only.
	Code string `form:"code" json:"code"`
}

// NeedsCode says that the next account is the first one and needs the set-up
// code.
func (s *Service) NeedsCode(ctx context.Context) (bool, error) {
	if s.setupCode == "" || s.hasUsers.Load() {
		return false, nil
	}
	has, err := accountdb.HasUsers(ctx, s.db.Directory())
	if err == nil && has {
		s.hasUsers.Store(true)
	}
	return !has, err
}

// maySignUp refuses strangers where the operator closed signing up. The first
// account can always be made.
func (s *Service) maySignUp(ctx context.Context) error {
	if s.instance.Get(ctx).SignupMode == instance.SignupOpen {
		return nil
	}
	has, err := accountdb.HasUsers(ctx, s.db.Directory())
	if err != nil || !has {
		return err
	}
	return fault.New(fault.Forbidden, "Signing up is not open here. Ask an administrator for an account.")
}

// CheckSignUp says what is wrong with an input; nil when an account can be
// made of it now.
func (s *Service) CheckSignUp(ctx context.Context, in SignUpInput) error {
	if err := s.maySignUp(ctx); err != nil {
		return err
	}
	create := accounts.CreateInput{Name: in.Name, Email: in.Email}
	create.Clean()
	f := create.Validate()
	if f["username"] == "" {
		reason, err := s.accounts.CheckFree(ctx, create.Name)
		if err != nil {
			return err
		}
		f.Add("username", reason)
	}
	needs, err := s.NeedsCode(ctx)
	if err != nil {
		return err
	}
	if needs && !secret.EqualText(strings.TrimSpace(in.Code), s.setupCode) {
		f.Add("code", "This is not the set-up code. gitfor printed it when it first started.")
	}
	return f.Err()
}

// beginSignUp starts the ceremony that makes an account.
func (s *Service) beginSignUp(ctx context.Context, in SignUpInput) (id string, options any, err error) {
	if err := s.CheckSignUp(ctx, in); err != nil {
		return "", nil, err
	}
	account, err := accountdb.NewID(ctx, s.db.Directory())
	if err != nil {
		return "", nil, err
	}
	name := strings.TrimSpace(in.Name)
	return s.create(ctx, forSignUp, &person{id: account, name: name, shown: name}, ceremony{Name: name, Email: strings.TrimSpace(in.Email)})
}

// finishSignUp makes the account. Its own scope is written first, then the
// directory, which makes it exist: what fails before that leaves nothing that
// anybody can see, and the name free.
func (s *Service) finishSignUp(ctx context.Context, id, device string, answer json.RawMessage) (*model.User, error) {
	cer, err := s.finish(ctx, forSignUp, id)
	if err != nil {
		return nil, err
	}
	record, err := s.created(&person{id: cer.Account, name: cer.Name, shown: cer.Name}, cer, answer)
	if err != nil {
		return nil, err
	}
	if err := s.addPasskey(ctx, cer.Account, device, record, nil); err != nil {
		return nil, err
	}
	if err := s.NewRecoveryCodes(ctx, cer.Account); err != nil {
		return nil, err
	}
	user, err := s.accounts.CreateUser(ctx, accounts.CreateInput{ID: cer.Account, Name: cer.Name, Email: cer.Email,
		Locators: []string{locator(record.ID)}})
	if err != nil {
		return nil, errors.Join(knownKey(err), s.clearCredentials(ctx, cer.Account))
	}
	s.hasUsers.Store(true)
	if s.mail != nil {
		// The account is there whether or not this works; its settings offer
		// the link again.
		if err := s.SendEmailLink(ctx, user.Account, user.Email); err != nil {
			s.log.WarnContext(ctx, "no link to confirm a new account's address", "account", user.Account.Name, "err", err)
		}
	}
	return user, nil
}

// knownKey gives a passkey that belongs to an account already its message.
func knownKey(err error) error {
	if errors.Is(err, db.ErrConflict) && db.Constraint(err) == "scope_locators_pkey" {
		return fault.New(fault.Conflict, "This passkey belongs to an account already. Sign in with it, or use another key.")
	}
	return err
}

func (s *Service) clearCredentials(ctx context.Context, accountID int64) error {
	return s.db.InAccount(context.WithoutCancel(ctx), accountID, func(ctx context.Context, tx *db.AccountTx) error {
		if err := accountdb.DeleteKind(ctx, tx, model.CredentialPasskey); err != nil {
			return err
		}
		return accountdb.DeleteKind(ctx, tx, model.CredentialRecovery)
	})
}

// addPasskey stores a passkey in the account's scope, and does what else
// belongs into the same transaction.
func (s *Service) addPasskey(ctx context.Context, accountID int64, name string, record *webauthn.Credential, also step) error {
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	err = s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: "passkey.register", ActorID: accountID, AccountID: accountID, Target: name}); err != nil {
			return err
		}
		err := accountdb.InsertCredentials(ctx, tx, &model.Credential{Kind: model.CredentialPasskey, Key: record.ID, Name: name, Data: data})
		if err != nil || also == nil {
			return err
		}
		return also(ctx, tx)
	})
	if errors.Is(err, db.ErrConflict) {
		return fault.New(fault.Conflict, "This passkey was added before.")
	}
	return s.wrap("store passkey", err)
}
