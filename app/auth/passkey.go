package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Passkey is a passkey in its owner's list.
type Passkey struct {
	*model.Credential
	Record webauthn.Credential
}

// Passkeys lists an account's passkeys, newest first.
func (s *Service) Passkeys(ctx context.Context, accountID int64) ([]Passkey, error) {
	rows, err := accountdb.Credentials(ctx, s.db.Account(accountID), model.CredentialPasskey)
	if err != nil {
		return nil, err
	}
	return passkeys(rows)
}

func passkeys(rows []*model.Credential) ([]Passkey, error) {
	out := make([]Passkey, len(rows))
	for i, row := range rows {
		out[i].Credential = row
		if err := json.Unmarshal(row.Data, &out[i].Record); err != nil {
			return nil, fmt.Errorf("passkey %d: %w", row.ID, err)
		}
	}
	return out, nil
}

// person is an account as WebAuthn sees it.
type person struct {
	id    int64
	name  string
	shown string
	keys  []Passkey
}

// WebAuthnID is the user handle: the account's id, which tells nobody who
// that is.
func (p *person) WebAuthnID() []byte { return handle(p.id) }

// WebAuthnName is what the browser's list shows.
func (p *person) WebAuthnName() string { return p.name }

// WebAuthnDisplayName is the friendlier name.
func (p *person) WebAuthnDisplayName() string { return p.shown }

// WebAuthnCredentials are the account's passkeys.
func (p *person) WebAuthnCredentials() []webauthn.Credential {
	out := make([]webauthn.Credential, len(p.keys))
	for i := range p.keys {
		out[i] = p.keys[i].Record
	}
	return out
}

func handle(id int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

func (s *Service) person(ctx context.Context, a *model.Account) (*person, error) {
	keys, err := s.Passkeys(ctx, a.ID)
	return &person{id: a.ID, name: a.Name, shown: a.Shown(), keys: keys}, err
}

// ErrRelyingParty says that the passkeys belong to another host than the
// instance's address.
var ErrRelyingParty = errors.New("passkeys belong to another host")

const (
	settingRPID = "passkeys_rp_id"
	settingURL  = "public_url"
)

// PublicURL is the address of the server that was last started, for commands
// that are not told it; else the one that this process was given.
func (s *Service) PublicURL(ctx context.Context) (string, error) {
	address, err := accountdb.Setting(ctx, s.db.Directory(), settingURL)
	if err == nil && address == "" {
		address = s.publicURL
	}
	return address, err
}

// SetupCode is the code that the first sign-up needs on an instance that
// strangers can reach: always the same one of an instance.
func SetupCode(ring *secret.Ring) string {
	sum := ring.MAC("set-up code", nil)
	text := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
	return text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:16]
}

// bind fixes the relying party of the passkeys: the id that is set, else the
// one of the first start, else the host of the instance's address. A passkey
// works at that host only, so another host is refused unless it was asked for.
func (s *Service) bind(ctx context.Context) error {
	u, err := url.Parse(s.publicURL)
	if err != nil {
		return err
	}
	host, id := u.Hostname(), s.rpID
	stored, err := accountdb.Setting(ctx, s.db.Directory(), settingRPID)
	if err != nil {
		return err
	}
	if id == "" {
		if id = stored; id == "" {
			id = host
		}
		if !below(host, id) {
			return fmt.Errorf("%w: people's passkeys were made for %q, which %q does not belong to;"+
				" use the old host in --url, or give --rp-id %s to begin anew (everybody then needs a recovery code)",
				ErrRelyingParty, id, host, host)
		}
	} else if !below(host, id) {
		return fmt.Errorf("%w: --rp-id %q must be the host of --url (%q) or a domain above it", ErrRelyingParty, id, host)
	}
	if err := s.remember(ctx, map[string]string{settingRPID: id, settingURL: s.publicURL}); err != nil {
		return err
	}
	s.origin = u.Scheme + "://" + u.Host
	s.wa, err = webauthn.New(&webauthn.Config{RPID: id, RPDisplayName: "gitfor", RPOrigins: []string{s.origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired}})
	return err
}

// remember keeps the settings that differ from what was kept.
func (s *Service) remember(ctx context.Context, settings map[string]string) error {
	for key, value := range settings {
		was, err := accountdb.Setting(ctx, s.db.Directory(), key)
		if err != nil {
			return err
		}
		if was == value {
			continue
		}
		if err := s.db.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
			return accountdb.SetSetting(ctx, tx, key, value)
		}); err != nil {
			return err
		}
	}
	return nil
}

func below(host, id string) bool { return host == id || strings.HasSuffix(host, "."+id) }

// decoys are credential ids for a name that nobody has, the same at each
// question, so that the answer does not tell whether the account exists.
func (s *Service) decoys(name string) [][]byte {
	sum := s.ring.MAC("decoy passkey", []byte(model.Key(name)))
	sizes := [...]int{32, 32, 20, 16, 32, 64}
	n := 1
	if sum[0] < 64 {
		n = 2
	}
	out := make([][]byte, n)
	for i := range out {
		a, b := sha256.Sum256(append(sum[:], byte(i), 1)), sha256.Sum256(append(sum[:], byte(i), 2))
		out[i] = append(a[:], b[:]...)[:sizes[int(sum[1+i])%len(sizes)]]
	}
	return out
}

// allowed are the credential ids to offer for a name that somebody typed.
// What it takes is the same for a name that nobody has.
func (s *Service) allowed(ctx context.Context, name string) ([][]byte, error) {
	account, err := accountdb.ByName(ctx, s.db.Directory(), name)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return nil, err
	}
	id := int64(1<<62) | int64(binary.BigEndian.Uint32(s.decoys(name)[0])) // nobody's
	if err == nil && account.IsUser() {
		id = account.ID
	}
	keys, err := s.Passkeys(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return s.decoys(name), nil
	}
	out := make([][]byte, len(keys))
	for i := range keys {
		out[i] = keys[i].Key
	}
	return out, nil
}

// owner finds the account of an assertion: by the user handle or, from keys
// that do not send it, by the credential's id. db.ErrNotFound when it is
// nobody's.
func (s *Service) owner(ctx context.Context, rawID, userHandle []byte) (*person, error) {
	var id int64
	if len(userHandle) == 8 {
		id = int64(binary.BigEndian.Uint64(userHandle))
	} else {
		var err error
		if id, err = accountdb.Locate(ctx, s.db.Directory(), accountdb.LocatePasskey, locator(rawID)); err != nil {
			return nil, err
		}
	}
	if id <= 0 {
		return nil, db.ErrNotFound
	}
	account, err := accountdb.ByID(ctx, s.db.Directory(), id)
	if err != nil {
		return nil, err
	}
	return s.person(ctx, account)
}

func locator(rawID []byte) string { return base64.RawURLEncoding.EncodeToString(rawID) }
