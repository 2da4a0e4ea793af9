// Package signatures verifies the signatures of commits and tags on their raw
// bytes, by OpenPGP and SSH keys of accounts, and signs what the instance itself
// commits for people.
//
//	signatures.go  Service, Of, OfTag: results, kept in the directory
//	verify.go      who signed, and whether the committer's address is theirs
//	sshsig.go      OpenSSH's signatures (PROTOCOL.sshsig)
//	http.go        the instance's public key
//
// Table: directory.commit_signatures.
package signatures

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/signdb"
	"golang.org/x/crypto/ssh"
)

// Deps are what signatures are verified with.
type Deps struct {
	DB       *db.DB
	Gate     *perms.Gate
	Accounts *accounts.Service
	Ring     *secret.Ring
	// Hidden is the address that stands for an account's own.
	Hidden func(a *model.Account) string
}

// Service verifies and makes signatures.
type Service struct {
	Deps

	signer ssh.Signer
	// own are the public keys of the instance, of former secret keys too.
	own [][]byte
}

// New makes the service. The instance's key comes from its secret key, so a
// restored instance signs as before.
func New(deps Deps) (*Service, error) {
	s := &Service{Deps: deps}
	for i, seed := range deps.Ring.MACs("commit signing key", nil) {
		signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed[:]))
		if err != nil {
			return nil, fmt.Errorf("commit signing key: %w", err)
		}
		if i == 0 {
			s.signer = signer
		}
		s.own = append(s.own, signer.PublicKey().Marshal())
	}
	return s, nil
}

// Reasons, in GitHub's words
// (https://docs.github.com/rest/commits/commits#signature-verification-object).
const (
	Valid           = "valid"
	Unsigned        = "unsigned"
	UnknownType     = "unknown_signature_type"
	UnknownKey      = "unknown_key"
	Malformed       = "malformed_signature"
	Invalid         = "invalid"
	BadEmail        = "bad_email"
	UnverifiedEmail = "unverified_email"
	NoUser          = "no_user"
	ExpiredKey      = "expired_key"
	NotSigningKey   = "not_signing_key"
)

// Result is what is known of one signature.
type Result struct {
	Verified bool
	Reason   string
	// KeyID is the OpenPGP key's id or the SSH key's fingerprint.
	KeyID string
	// Instance says that the instance's own key signed.
	Instance bool
	At       time.Time
}

// Words say what the reason means.
func (r Result) Words() string {
	switch r.Reason {
	case Valid:
		if r.Instance {
			return "Made on this site and signed with its key."
		}
		return "Signed with a key of the committer: " + r.KeyID
	case UnknownKey:
		return "Nobody here has the key that signed this: " + r.KeyID
	case BadEmail:
		return "The committer’s address does not belong to the key."
	case UnverifiedEmail:
		return "The committer’s address is not confirmed by the owner of the key."
	case ExpiredKey:
		return "The key has expired."
	case NotSigningKey:
		return "The key is not meant for signing."
	case Invalid:
		return "The signature is not of what is here."
	case UnknownType:
		return "Signatures of this kind are not verified here."
	}
	return "The signature cannot be read."
}

// restless is after how long a result that another key or address could change
// is looked at again.
const restless = 2 * time.Minute

func settled(reason string) bool {
	return reason == Valid || reason == Invalid || reason == Malformed || reason == UnknownType
}

// signed is one object whose signature is asked for.
type signed struct {
	oid       git.OID
	committer git.Person
	read      func(ctx context.Context) (payload, signature string, err error)
}

// Of is what is known of the signatures of commits, by their ids; those without
// one are left out. It costs one query when all are known.
func (s *Service) Of(ctx context.Context, g *git.Repository, repoID int64, commits ...*git.Commit) (map[git.OID]Result, error) {
	var list []signed
	for _, c := range commits {
		if c.Signature != "" {
			list = append(list, signed{c.OID, c.Committer, func(ctx context.Context) (string, string, error) { return g.SignedCommit(ctx, c.OID) }})
		}
	}
	return s.of(ctx, repoID, list)
}

// OfTag is Of for an annotated tag.
func (s *Service) OfTag(ctx context.Context, repoID int64, t *git.Tag) (Result, error) {
	if t.Signature == "" {
		return Result{Reason: Unsigned}, nil
	}
	found, err := s.of(ctx, repoID, []signed{{t.OID, t.Tagger, func(context.Context) (string, string, error) { return t.Payload, t.Signature, nil }}})
	return found[t.OID], err
}

func (s *Service) of(ctx context.Context, repoID int64, list []signed) (map[git.OID]Result, error) {
	out := make(map[git.OID]Result, len(list))
	if len(list) == 0 {
		return out, nil
	}
	oids := make([]string, len(list))
	for i, one := range list {
		oids[i] = string(one.oid)
	}
	known, err := signdb.Found(ctx, s.DB.Directory(), repoID, oids)
	if err != nil {
		return nil, err
	}
	for _, row := range known {
		if settled(row.Reason) || time.Since(row.CheckedAt) < restless {
			out[git.OID(row.OID)] = result(row)
		}
	}
	var fresh []*model.CommitSignature
	for _, one := range list {
		if _, ok := out[one.oid]; ok {
			continue
		}
		payload, signature, err := one.read(ctx)
		if err != nil {
			return nil, err
		}
		row, err := s.verify(ctx, payload, signature, one.committer)
		if err != nil {
			return nil, err
		}
		row.OID, row.RepoID, row.Verified, row.CheckedAt = string(one.oid), repoID, row.Reason == Valid, time.Now().UTC()
		if !slices.ContainsFunc(fresh, func(f *model.CommitSignature) bool { return f.OID == row.OID }) {
			fresh = append(fresh, row)
		}
		out[one.oid] = result(row)
	}
	if len(fresh) > 0 {
		err = signdb.Save(ctx, s.DB.Directory(), fresh)
	}
	return out, err
}

func result(row *model.CommitSignature) Result {
	return Result{Verified: row.Verified, Reason: row.Reason, KeyID: row.KeyID, Instance: row.Verified && row.AccountID == 0, At: row.CheckedAt}
}

// AllVerified says whether all commits carry a signature that was verified; the
// first that does not is named. Objects in quarantine are not written down.
func (s *Service) AllVerified(ctx context.Context, g *git.Repository, commits []*git.Commit) (git.OID, error) {
	for _, c := range commits {
		if c.Signature == "" {
			return c.OID, nil
		}
		payload, signature, err := g.SignedCommit(ctx, c.OID)
		if err != nil {
			return "", err
		}
		row, err := s.verify(ctx, payload, signature, c.Committer)
		if err != nil {
			return "", err
		}
		if row.Reason != Valid {
			return c.OID, nil
		}
	}
	return "", nil
}
