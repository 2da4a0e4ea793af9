package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// GPGKey is a public key by which an account signs commits.
type GPGKey struct {
	*model.Credential
	GPGKeyData
}

// GPGKeyData is what a key's row holds besides its name and times.
type GPGKeyData struct {
	KeyID   string     `json:"key_id"` // 16 hexadecimal digits
	Armored string     `json:"armored"`
	Emails  []string   `json:"emails"`
	Subkeys []string   `json:"subkeys"`
	Expires *time.Time `json:"expires,omitempty"`
}

// ParseGPGKey reads an armoured OpenPGP public key (RFC 9580).
func ParseGPGKey(text string) (GPGKeyData, error) {
	var data GPGKeyData
	text = strings.TrimSpace(text)
	switch {
	case strings.Contains(text, "PRIVATE KEY BLOCK"):
		return data, fault.Field("armored_public_key", "This is a private key, which must never leave your machine. Paste the output of gpg --armor --export.")
	case len(text) > 200_000:
		return data, fault.Field("armored_public_key", "This is too long for one public key.")
	}
	list, err := openpgp.ReadArmoredKeyRing(strings.NewReader(text))
	if err != nil || len(list) == 0 {
		return data, fault.Field("armored_public_key", "This is no armoured public key. Paste the output of gpg --armor --export.")
	}
	if len(list) > 1 {
		return data, fault.Field("armored_public_key", "This holds several keys. Add one at a time.")
	}
	e := list[0]
	data = GPGKeyData{KeyID: e.PrimaryKey.KeyIdString(), Armored: text, Emails: []string{}, Subkeys: []string{}}
	for _, id := range e.Identities {
		if id.UserId != nil && id.UserId.Email != "" {
			data.Emails = append(data.Emails, id.UserId.Email)
		}
	}
	for _, sub := range e.Subkeys {
		data.Subkeys = append(data.Subkeys, sub.PublicKey.KeyIdString())
	}
	if id := e.PrimaryIdentity(); id != nil && id.SelfSignature != nil && id.SelfSignature.KeyLifetimeSecs != nil {
		at := e.PrimaryKey.CreationTime.Add(time.Duration(*id.SelfSignature.KeyLifetimeSecs) * time.Second).UTC()
		data.Expires = &at
	}
	return data, nil
}

func (d GPGKeyData) ids() []string { return append([]string{d.KeyID}, d.Subkeys...) }

// AddGPGKey adds a signing key to an account.
func (s *Service) AddGPGKey(ctx context.Context, accountID int64, name, text string) (*GPGKey, error) {
	data, err := ParseGPGKey(text)
	if err != nil {
		return nil, err
	}
	if name, err = keyName(name, data.KeyID); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	row := &model.Credential{Kind: model.CredentialGPGKey, Key: []byte(data.KeyID), Name: name, Data: raw}
	err = s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		n, err := accountdb.CountCredentials(ctx, tx, model.CredentialGPGKey)
		if err != nil {
			return err
		}
		if n >= maxKeys {
			return fault.New(fault.Conflict, "An account may have at most 100 GPG keys. Remove one first.")
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "gpg_key.create", AccountID: accountID, Target: name,
			After: audit.Facts{"key_id": data.KeyID}}); err != nil {
			return err
		}
		return accountdb.InsertCredentials(ctx, tx, row)
	})
	if errors.Is(err, db.ErrConflict) {
		return nil, fault.Field("armored_public_key", "You have this key already.")
	}
	if err != nil {
		return nil, err
	}
	return &GPGKey{row, data}, s.db.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return accountdb.AddSigningKeys(ctx, tx, accountID, "gpg", data.ids()...)
	})
}

// GPGKeys lists an account's signing keys, newest first.
func (s *Service) GPGKeys(ctx context.Context, accountID int64) ([]*GPGKey, error) {
	rows, err := accountdb.Credentials(ctx, s.db.Account(accountID), model.CredentialGPGKey)
	if err != nil {
		return nil, err
	}
	out := make([]*GPGKey, len(rows))
	for i, row := range rows {
		out[i] = &GPGKey{Credential: row}
		if err := json.Unmarshal(row.Data, &out[i].GPGKeyData); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// RemoveGPGKey removes a signing key.
func (s *Service) RemoveGPGKey(ctx context.Context, accountID, id int64) error {
	row, err := accountdb.CredentialByID(ctx, s.db.Account(accountID), model.CredentialGPGKey, id)
	if err != nil {
		return err
	}
	var data GPGKeyData
	if err := json.Unmarshal(row.Data, &data); err != nil {
		return err
	}
	if err := s.db.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return accountdb.DropSigningKey(ctx, tx, accountID, data.ids()...)
	}); err != nil {
		return err
	}
	return s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: "gpg_key.delete", AccountID: accountID, Target: row.Name,
			Before: audit.Facts{"key_id": data.KeyID}}); err != nil {
			return err
		}
		return accountdb.DeleteCredential(ctx, tx, model.CredentialGPGKey, id)
	})
}
