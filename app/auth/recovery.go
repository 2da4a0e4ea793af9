package auth

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// showTime is how long new recovery codes can be shown.
const showTime = 30 * time.Minute

const kindCodes = "recovery-codes"

// NewRecoveryCodes gives an account ten new recovery codes in place of those
// it had. ShownCodes reads them until HideCodes.
func (s *Service) NewRecoveryCodes(ctx context.Context, accountID int64) error {
	codes := secret.NewRecoveryCodes()
	list := make([]*model.Credential, len(codes))
	for i, code := range codes {
		mac := s.ring.HashRecoveryCode(accountID, code)
		list[i] = &model.Credential{Kind: model.CredentialRecovery, Key: mac[:]}
	}
	told, err := s.tell(ctx, accountID, "You have new recovery codes", "Ten new recovery codes were made for your account. The old ones no longer work.")
	if err != nil {
		return err
	}
	err = s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		if err := accountdb.DeleteKind(ctx, tx, model.CredentialRecovery); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "recovery_codes.create", ActorID: accountID, AccountID: accountID}); err != nil {
			return err
		}
		if err := accountdb.InsertCredentials(ctx, tx, list...); err != nil {
			return err
		}
		return told(ctx, tx)
	})
	if err != nil {
		return s.wrap("store recovery codes", err)
	}
	plain, err := json.Marshal(codes)
	if err != nil {
		return err
	}
	sealed := s.ring.Seal(codesPurpose(accountID), plain)
	s.challenges.Store(true)
	return s.wrap("keep recovery codes", accountdb.PutChallenge(ctx, s.db.Cell(), codesID(accountID), kindCodes, sealed, s.now().Add(showTime)))
}

func codesID(accountID int64) string { return "codes-" + strconv.FormatInt(accountID, 10) }

func codesPurpose(accountID int64) string {
	return "shown recovery codes " + strconv.FormatInt(accountID, 10)
}

// ShownCodes are the codes that were made a moment ago; none when they were
// confirmed, or it is half an hour ago.
func (s *Service) ShownCodes(ctx context.Context, accountID int64) ([]string, error) {
	var sealed []byte
	expires, err := accountdb.Challenge(ctx, s.db.Cell(), codesID(accountID), kindCodes, &sealed)
	if errors.Is(err, db.ErrNotFound) || err == nil && s.now().After(expires) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	plain, err := s.ring.Open(codesPurpose(accountID), sealed)
	if err != nil {
		return nil, err
	}
	var codes []string
	return codes, json.Unmarshal(plain, &codes)
}

// HideCodes ends the showing of recovery codes.
func (s *Service) HideCodes(ctx context.Context, accountID int64) error {
	var sealed []byte
	_, err := accountdb.TakeChallenge(ctx, s.db.Cell(), codesID(accountID), kindCodes, &sealed)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}

// RecoveryCodesLeft counts the codes that were not used.
func (s *Service) RecoveryCodesLeft(ctx context.Context, accountID int64) (int, error) {
	list, err := accountdb.Credentials(ctx, s.db.Account(accountID), model.CredentialRecovery)
	return len(list), err
}

// recover signs in with a recovery code, which is good once. The work is the
// same whether the account exists or not.
func (s *Service) recover(ctx context.Context, name, typed string) (account *model.Account, left int, err error) {
	wrong := fault.Field("code", "That name and code do not go together, or the code was used before.")
	account, err = accountdb.ByName(ctx, s.db.Directory(), name)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return nil, 0, err
	}
	id := int64(1 << 61) // nobody's
	if err == nil && account.IsUser() {
		id = account.ID
	}
	rows, err := accountdb.Credentials(ctx, s.db.Account(id), model.CredentialRecovery)
	if err != nil {
		return nil, 0, err
	}
	stored := make([][32]byte, secret.RecoveryCount)
	for i := range rows {
		if i < len(stored) {
			copy(stored[i][:], rows[i].Key)
		}
	}
	i := s.ring.MatchRecoveryCode(id, typed, stored)
	if i < 0 || i >= len(rows) {
		return nil, 0, wrong
	}
	if _, err := s.active(ctx, id); err != nil {
		return nil, 0, err
	}
	told, err := s.tell(ctx, id, "A recovery code was used", "Somebody proved with a recovery code that "+account.Name+" is theirs, without a passkey.")
	if err != nil {
		return nil, 0, err
	}
	err = s.db.InAccount(ctx, id, func(ctx context.Context, tx *db.AccountTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: "recovery_codes.use", ActorID: id, AccountID: id,
			After: audit.Facts{"left": len(rows) - 1}}); err != nil {
			return err
		}
		if err := accountdb.DeleteCredential(ctx, tx, model.CredentialRecovery, rows[i].ID); err != nil {
			return err
		}
		return told(ctx, tx)
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil, 0, wrong
	}
	return account, len(rows) - 1, s.wrap("use recovery code", err)
}
