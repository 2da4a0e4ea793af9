package auth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// ceremonyTime is how long a person may take between pressing the button and
// touching the key.
const ceremonyTime = 5 * time.Minute

// What a ceremony is for.
const (
	forSignUp = "sign-up"
	forSignIn = "sign-in"
	forAdd    = "add"
	forSudo   = "sudo"
	forLink   = "link"
)

// ceremony is what is remembered between the two halves of a passkey
// ceremony. It is good once.
type ceremony struct {
	Session webauthn.SessionData `json:"session"`
	Account int64                `json:"account,omitempty"`
	Name    string               `json:"name,omitempty"`
	Email   string               `json:"email,omitempty"`
	Link    string               `json:"link,omitempty"`
}

func (s *Service) begin(ctx context.Context, purpose string, cer ceremony) (id string, err error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	id = hex.EncodeToString(b[:])
	err = accountdb.PutChallenge(ctx, s.db.Cell(), id, "passkey "+purpose, cer, s.now().Add(ceremonyTime))
	s.challenges.Store(true)
	return id, s.wrap("keep challenge", err)
}

// finish takes the ceremony that begin kept.
func (s *Service) finish(ctx context.Context, purpose, id string) (*ceremony, error) {
	cer := new(ceremony)
	expires, err := accountdb.TakeChallenge(ctx, s.db.Cell(), id, "passkey "+purpose, cer)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return nil, fault.New(fault.Conflict, "This attempt was used before, and each is good once. Press the button again.")
	case err != nil:
		return nil, s.wrap("take challenge", err)
	case !s.now().Before(expires):
		return nil, fault.New(fault.Conflict, "That took longer than five minutes, so this attempt has expired. Press the button again.")
	}
	// The time is checked above, with a message of our own.
	cer.Session.Expires = time.Time{}
	return cer, nil
}

// create begins the making of a passkey for p.
func (s *Service) create(ctx context.Context, purpose string, p *person, cer ceremony) (id string, options any, err error) {
	wa, err := s.ready()
	if err != nil {
		return "", nil, err
	}
	exclude := make([]protocol.CredentialDescriptor, len(p.keys))
	for i := range p.keys {
		exclude[i] = p.keys[i].Record.Descriptor()
	}
	creation, session, err := wa.BeginRegistration(p, webauthn.WithExclusions(exclude))
	if err != nil {
		return "", nil, s.wrap("begin registration", err)
	}
	cer.Session, cer.Account = *session, p.id
	id, err = s.begin(ctx, purpose, cer)
	return id, creation.Response, err
}

// created checks the answer of a key to create.
func (s *Service) created(p *person, cer *ceremony, answer json.RawMessage) (*webauthn.Credential, error) {
	wa, err := s.ready()
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return nil, unreadable(err)
	}
	if err := s.checkClient(&parsed.Response.CollectedClientData, parsed.Response.AttestationObject.AuthData.Flags, cer); err != nil {
		return nil, err
	}
	record, err := wa.CreateCredential(p, cer.Session, parsed)
	if err != nil {
		return nil, refused(err)
	}
	return record, nil
}

// ask begins a proof with a passkey; allow are the ids to offer, nil for the
// browser's own list.
func (s *Service) ask(ctx context.Context, purpose string, allow [][]byte, cer ceremony) (id string, options any, err error) {
	wa, err := s.ready()
	if err != nil {
		return "", nil, err
	}
	list := make([]protocol.CredentialDescriptor, len(allow))
	for i := range allow {
		list[i] = protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: allow[i]}
	}
	opts := []webauthn.LoginOption{webauthn.WithUserVerification(protocol.VerificationRequired)}
	if len(list) > 0 {
		opts = append(opts, webauthn.WithAllowedCredentials(list))
	}
	assertion, session, err := wa.BeginDiscoverableLogin(opts...)
	if err != nil {
		return "", nil, s.wrap("begin sign-in", err)
	}
	// The ids only narrow the browser's choice; decoys are no one's.
	session.AllowedCredentialIDs = nil
	cer.Session = *session
	id, err = s.begin(ctx, purpose, cer)
	return id, assertion.Response, err
}

// proved checks the answer of a key to ask and says whose it is.
func (s *Service) proved(ctx context.Context, cer *ceremony, answer json.RawMessage) (*person, *Passkey, error) {
	wa, err := s.ready()
	if err != nil {
		return nil, nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	if err := s.checkClient(&parsed.Response.CollectedClientData, parsed.Response.AuthenticatorData.Flags, cer); err != nil {
		return nil, nil, err
	}
	p, err := s.owner(ctx, parsed.RawID, parsed.Response.UserHandle)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil, unknown()
	}
	if err != nil {
		return nil, nil, err
	}
	parsed.Response.UserHandle = p.WebAuthnID()
	var key *Passkey
	for i := range p.keys {
		if string(p.keys[i].Key) == string(parsed.RawID) {
			key = &p.keys[i]
		}
	}
	if key == nil {
		return nil, nil, unknown()
	}
	_, record, err := wa.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return p, nil }, cer.Session, parsed)
	if err != nil {
		return nil, nil, refused(err)
	}
	key.Record = *record
	return p, key, s.used(ctx, p.id, key)
}

// used notes a passkey's use and its counter.
func (s *Service) used(ctx context.Context, accountID int64, key *Passkey) error {
	data, err := json.Marshal(key.Record)
	if err != nil {
		return err
	}
	err = s.db.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		now := tx.Now()
		key.Data, key.UsedAt = data, &now
		return accountdb.SaveCredential(ctx, tx, key.Credential)
	})
	if errors.Is(err, db.ErrNotFound) { // removed a moment ago
		return unknown()
	}
	return err
}

// checkClient says in words what most often is wrong with an answer, before
// the signature is looked at.
func (s *Service) checkClient(client *protocol.CollectedClientData, flags protocol.AuthenticatorFlags, cer *ceremony) error {
	switch {
	case client.Origin != s.origin:
		return fault.New(fault.Forbidden, "This page was open at "+clip(client.Origin, 100)+", but passkeys here belong to "+s.origin+
			". Go to "+s.origin+" and try again there.")
	case client.Challenge != cer.Session.Challenge:
		return fault.New(fault.Forbidden, "The key answered to another attempt than this one. Press the button again.")
	case !flags.HasUserVerified():
		return fault.New(fault.Forbidden, "Your key did not check that it is you. Set a PIN, a fingerprint or a screen lock on it, then try again.")
	}
	return nil
}

// unknownPasskey marks the fault of a passkey that is in a browser's list
// only.
const unknownPasskey = "unknown-passkey"

func unknown() error {
	return &fault.Fault{Kind: fault.Forbidden, Resource: unknownPasskey, Message: "This passkey is not known here: " +
		"it was removed, or it belongs to an account that is gone. Choose another one, or sign in with a recovery code."}
}

func unreadable(err error) error {
	return fault.Wrap(fault.BadRequest, "The browser's answer could not be read. Reload the page and try again.", err)
}

func refused(err error) error {
	return fault.Wrap(fault.Forbidden, "The key's answer could not be verified. Press the button again; if it happens again, use another passkey or a recovery code.", err)
}

func (s *Service) ready() (*webauthn.WebAuthn, error) {
	if s.wa == nil {
		return nil, fault.New(fault.Unavailable, "gitfor is still starting. Try again in a moment.")
	}
	return s.wa, nil
}
