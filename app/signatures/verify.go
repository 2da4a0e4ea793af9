package signatures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/signdb"
	"golang.org/x/crypto/ssh"
)

// verify finds out about one signature. An error is a fault of the server; all
// that is wrong with the signature is a reason.
func (s *Service) verify(ctx context.Context, payload, signature string, committer git.Person) (*model.CommitSignature, error) {
	switch {
	case strings.HasPrefix(signature, "-----BEGIN SSH SIGNATURE-----"):
		return s.verifySSH(ctx, payload, signature, committer)
	case strings.HasPrefix(signature, "-----BEGIN PGP SIGNATURE-----"):
		return s.verifyPGP(ctx, payload, signature, committer)
	}
	return &model.CommitSignature{Reason: UnknownType}, nil
}

func (s *Service) verifySSH(ctx context.Context, payload, signature string, committer git.Person) (*model.CommitSignature, error) {
	row := &model.CommitSignature{Reason: Malformed}
	sig, err := parseSSH(signature)
	if err != nil || sig.namespace != gitNamespace {
		return row, nil
	}
	row.KeyID = ssh.FingerprintSHA256(sig.key)
	if err := sig.verify([]byte(payload)); err != nil {
		row.Reason = Invalid
		return row, nil
	}
	if slices.ContainsFunc(s.own, func(own []byte) bool { return bytes.Equal(own, sig.key.Marshal()) }) {
		row.Reason = Valid
		return row, nil
	}
	owners, err := signdb.Owner(ctx, s.DB.Directory(), "ssh", row.KeyID)
	if err != nil {
		return nil, err
	}
	row.Reason = UnknownKey
	if len(owners) == 0 {
		return row, nil
	}
	row.AccountID = owners[0]
	row.Reason, err = s.address(ctx, owners[0], committer)
	return row, err
}

// address says whether the committer's address belongs to an account.
func (s *Service) address(ctx context.Context, accountID int64, committer git.Person) (string, error) {
	email := model.Key(git.DecodeText(committer.Email))
	list, err := accountdb.Emails(ctx, s.DB.Directory(), accountID)
	if err != nil {
		return "", err
	}
	for _, e := range list {
		if model.Key(e.Email) == email {
			if e.VerifiedAt == nil {
				return UnverifiedEmail, nil
			}
			return Valid, nil
		}
	}
	account, err := accountdb.ByID(ctx, s.DB.Directory(), accountID)
	if err != nil {
		return "", err
	}
	if s.Hidden != nil && model.Key(s.Hidden(account)) == email {
		return Valid, nil
	}
	people, err := accountdb.ByEmails(ctx, s.DB.Directory(), []string{git.DecodeText(committer.Email)})
	if err != nil {
		return "", err
	}
	if len(people) == 0 {
		return NoUser, nil
	}
	return BadEmail, nil
}

// maxSignature bounds a signature in bytes; real ones have a few hundred.
const maxSignature = 64 << 10

// issuers are the ids of the keys that an armoured OpenPGP signature names.
func issuers(signature string) ([]string, error) {
	if len(signature) > maxSignature {
		return nil, errors.New("signature is too long")
	}
	block, err := armor.Decode(strings.NewReader(signature))
	if err != nil {
		return nil, err
	}
	var ids []string
	packets := packet.NewReader(block.Body)
	for {
		p, err := packets.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		sig, ok := p.(*packet.Signature)
		if !ok {
			continue
		}
		if sig.IssuerKeyId != nil {
			ids = append(ids, fmt.Sprintf("%016X", *sig.IssuerKeyId))
		} else if n := len(sig.IssuerFingerprint); n >= 20 {
			ids = append(ids, fmt.Sprintf("%X", sig.IssuerFingerprint[n-8:]))
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("signature names no key")
	}
	return ids, nil
}

func (s *Service) verifyPGP(ctx context.Context, payload, signature string, committer git.Person) (*model.CommitSignature, error) {
	row := &model.CommitSignature{Reason: Malformed}
	ids, err := issuers(signature)
	if err != nil {
		return row, nil
	}
	row.KeyID, row.Reason = ids[0], UnknownKey
	owners, err := signdb.Owner(ctx, s.DB.Directory(), "gpg", row.KeyID)
	if err != nil {
		return nil, err
	}
	// Anybody can claim a key, so each claim is tried until one is proved.
	for _, owner := range owners {
		keys, err := s.Accounts.GPGKeys(ctx, owner)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			if k.KeyID != row.KeyID && !slices.Contains(k.Subkeys, row.KeyID) {
				continue
			}
			row.AccountID = owner
			row.Reason = checkPGP(k.Armored, payload, signature)
			if row.Reason != Valid {
				continue
			}
			email := git.DecodeText(committer.Email)
			if !slices.ContainsFunc(k.Emails, func(e string) bool { return strings.EqualFold(e, email) }) {
				row.Reason = BadEmail
				continue
			}
			if row.Reason, err = s.address(ctx, owner, committer); err != nil || row.Reason == Valid {
				return row, err
			}
		}
	}
	return row, nil
}

// checkPGP verifies a signature by one public key.
func checkPGP(public, payload, signature string) string {
	ring, err := openpgp.ReadArmoredKeyRing(strings.NewReader(public))
	if err != nil {
		return UnknownKey
	}
	_, err = openpgp.CheckArmoredDetachedSignature(ring, strings.NewReader(payload), strings.NewReader(signature), nil)
	switch {
	case err == nil:
		return Valid
	case errors.Is(err, pgperrors.ErrKeyExpired), errors.Is(err, pgperrors.ErrSignatureExpired):
		return ExpiredKey
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		// The key is there, but without the right to sign.
		return NotSigningKey
	}
	return Invalid
}
