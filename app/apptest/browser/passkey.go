package browser

import (
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// Key plugs a virtual security key into the tab: it keeps passkeys, checks
// who the person is, and agrees to everything at once. change, which may be
// nil, makes it another one.
func (b *Tab) Key(change func(o *webauthn.VirtualAuthenticatorOptions)) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		b.t.Fatal(err)
	}
	o := &webauthn.VirtualAuthenticatorOptions{Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true}
	if change != nil {
		change(o)
	}
	res, err := chromedp.Call(b.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: o})
	if err != nil {
		b.t.Fatal(err)
	}
	b.key = res.AuthenticatorID
}

// Unplug takes the key away.
func (b *Tab) Unplug() {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: b.key})
	if err != nil {
		b.t.Fatal(err)
	}
}

// Passkeys are what the key holds.
func (b *Tab) Passkeys() []*webauthn.Credential {
	b.t.Helper()
	res, err := chromedp.Call(b.ctx, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: b.key})
	if err != nil {
		b.t.Fatal(err)
	}
	return res.Credentials
}

// AddPasskey puts a passkey into the key.
func (b *Tab) AddPasskey(c *webauthn.Credential) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, webauthn.AddCredential, webauthn.AddCredentialParams{AuthenticatorID: b.key, Credential: c})
	if err != nil {
		b.t.Fatal(err)
	}
}

// Verified sets whether the key succeeds in checking who the person is.
func (b *Tab) Verified(ok bool) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: b.key, IsUserVerified: ok})
	if err != nil {
		b.t.Fatal(err)
	}
}
