package accounts

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"golang.org/x/crypto/ssh"
)

// maxKeys bounds the keys of an account, of each kind.
const maxKeys = 100

// SSHKey is a public key by which an account uses git over SSH.
type SSHKey struct {
	*model.Credential
	SSHKeyData
}

// SSHKeyData is what a key's row holds besides its name and times.
type SSHKeyData struct {
	Type        string `json:"type"`
	Public      string `json:"public"` // type and base 64, without comment
	Fingerprint string `json:"fingerprint"`
	// SignsOnly says that the key verifies commits and opens nothing.
	SignsOnly bool `json:"signsOnly,omitempty"`
}

// ParseSSHKey reads a public key as OpenSSH writes it. fault.Invalid with
// what to do when it is something else.
func ParseSSHKey(text string) (data SSHKeyData, comment string, err error) {
	text = strings.TrimSpace(text)
	refuse := func(why string) (SSHKeyData, string, error) { return data, "", fault.Field("key", why) }
	switch {
	case text == "":
		return refuse("Paste the content of your public key, such as ~/.ssh/id_ed25519.pub.")
	case strings.Contains(text, "PRIVATE KEY"):
		return refuse("This is a private key, which must never leave your machine. Paste the .pub file beside it. If others could see what you pasted, make a new key.")
	case strings.ContainsAny(text, "\n\r"):
		return refuse("A public key is one line.")
	case len(text) > 10_000:
		return refuse("This is too long for a public key.")
	}
	key, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(text))
	if err != nil || len(options) > 0 {
		return refuse("This is no public key as OpenSSH writes it. It begins with ssh-ed25519, ecdsa-sha2-nistp256, ssh-rsa or sk-….")
	}
	if why := weak(key); why != "" {
		return refuse(why)
	}
	data = SSHKeyData{Type: key.Type(), Public: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))), Fingerprint: ssh.FingerprintSHA256(key)}
	return data, comment, nil
}

func weak(key ssh.PublicKey) string {
	allowed := []string{ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSA, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256}
	if !slices.Contains(allowed, key.Type()) {
		return "Keys of the type " + key.Type() + " are not accepted. Make one with ssh-keygen -t ed25519."
	}
	if key.Type() != ssh.KeyAlgoRSA {
		return ""
	}
	ck, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return "This RSA key cannot be read."
	}
	if pub, ok := ck.CryptoPublicKey().(*rsa.PublicKey); !ok || pub.N.BitLen() < 2048 {
		return "This RSA key is shorter than 2,048 bits. Make one with ssh-keygen -t ed25519."
	}
	return ""
}

// keyName is a key's name: as typed, or its comment.
func keyName(name, comment string) (string, error) {
	if name = strings.TrimSpace(name); name == "" {
		name = strings.TrimSpace(comment)
	}
	if name == "" {
		name = "Key"
	}
	if utf8.RuneCountInString(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) || !utf8.ValidString(name) {
		return "", fault.Field("title", "A key's name has at most 100 characters on one line.")
	}
	return name, nil
}

const keyInUse = "This key is in use already. A key belongs to one account or repository; use another."

// AddSSHKey adds a public key to an account, by which it uses git and its
// commits are verified. fault.Invalid when it is no good or belongs to somebody.
func (s *Service) AddSSHKey(ctx context.Context, accountID int64, name, text string) (*SSHKey, error) {
	return s.addSSHKey(ctx, accountID, name, text, false)
}

// AddSigningKey is AddSSHKey for a key that only verifies commits.
func (s *Service) AddSigningKey(ctx context.Context, accountID int64, name, text string) (*SSHKey, error) {
	return s.addSSHKey(ctx, accountID, name, text, true)
}

func (s *Service) addSSHKey(ctx context.Context, accountID int64, name, text string, signsOnly bool) (*SSHKey, error) {
	data, comment, err := ParseSSHKey(text)
	if err != nil {
		return nil, err
	}
	data.SignsOnly = signsOnly
	if name, err = keyName(name, comment); err != nil {
		return nil, err
	}
	if err := s.locateKey(ctx, accountID, data.Fingerprint); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	row := &model.Credential{Kind: model.CredentialSSHKey, Key: []byte(data.Fingerprint), Name: name, Data: raw}
	err = s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		n, err := accountdb.CountCredentials(ctx, tx, model.CredentialSSHKey)
		if err != nil {
			return err
		}
		if n >= maxKeys {
			return fault.New(fault.Conflict, "An account may have at most 100 SSH keys. Remove one first.")
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "public_key.create", AccountID: accountID, Target: name,
			After: audit.Facts{"fingerprint": data.Fingerprint}}); err != nil {
			return err
		}
		return accountdb.InsertCredentials(ctx, tx, row)
	})
	if err != nil {
		return nil, errors.Join(err, s.forgetKey(context.WithoutCancel(ctx), accountID, data.Fingerprint))
	}
	return &SSHKey{row, data}, nil
}

// locateKey claims a fingerprint for the account. One that was claimed and
// never stored, because something failed in between, is claimed again.
func (s *Service) locateKey(ctx context.Context, accountID int64, fingerprint string) error {
	err := s.db.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accountdb.AddLocator(ctx, tx, accountdb.LocateSSHKey, fingerprint, accountID); err != nil {
			return err
		}
		return accountdb.AddSigningKeys(ctx, tx, accountID, "ssh", fingerprint)
	})
	if !errors.Is(err, db.ErrConflict) {
		return err
	}
	owner, err := accountdb.Locate(ctx, s.db.Directory(), accountdb.LocateSSHKey, fingerprint)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	if owner == accountID {
		_, err = accountdb.Credential(ctx, s.db.Account(owner), model.CredentialSSHKey, []byte(fingerprint))
		if errors.Is(err, db.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fault.Field("key", keyInUse)
}

func (s *Service) forgetKey(ctx context.Context, accountID int64, fingerprint string) error {
	return s.db.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := accountdb.DropLocators(ctx, tx, accountID, accountdb.LocateSSHKey, fingerprint); err != nil {
			return err
		}
		return accountdb.DropSigningKey(ctx, tx, accountID, fingerprint)
	})
}

// SSHKeys lists an account's SSH keys, newest first.
func (s *Service) SSHKeys(ctx context.Context, accountID int64) ([]*SSHKey, error) {
	rows, err := accountdb.Credentials(ctx, s.db.Account(accountID), model.CredentialSSHKey)
	if err != nil {
		return nil, err
	}
	out := make([]*SSHKey, len(rows))
	for i, row := range rows {
		out[i] = &SSHKey{Credential: row}
		if err := json.Unmarshal(row.Data, &out[i].SSHKeyData); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// SSHKey returns one of an account's SSH keys.
func (s *Service) SSHKey(ctx context.Context, accountID, id int64) (*SSHKey, error) {
	row, err := accountdb.CredentialByID(ctx, s.db.Account(accountID), model.CredentialSSHKey, id)
	if err != nil {
		return nil, err
	}
	key := &SSHKey{Credential: row}
	return key, json.Unmarshal(row.Data, &key.SSHKeyData)
}

// RemoveSSHKey removes a key: it opens nothing from now on.
func (s *Service) RemoveSSHKey(ctx context.Context, accountID, id int64) error {
	key, err := s.SSHKey(ctx, accountID, id)
	if err != nil {
		return err
	}
	if err := s.forgetKey(ctx, accountID, key.Fingerprint); err != nil {
		return err
	}
	return s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		if err := audit.Record(ctx, tx, audit.Entry{Action: "public_key.delete", AccountID: accountID, Target: key.Name,
			Before: audit.Facts{"fingerprint": key.Fingerprint}}); err != nil {
			return err
		}
		return accountdb.DeleteCredential(ctx, tx, model.CredentialSSHKey, id)
	})
}
