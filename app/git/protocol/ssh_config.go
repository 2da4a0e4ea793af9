package protocol

import (
	"context"
	"crypto/dsa" //nolint:staticcheck // only to name what is refused
	"crypto/rsa"
	"fmt"
	"sync"

	"golang.org/x/crypto/ssh"
)

// identityKey is where the signed-in identity lies in a connection's
// permissions. It belongs to the key that proved itself, not to the last that
// was offered.
type identityKey struct{}

// config is the handshake of one connection. Only algorithms without known
// weakness are offered.
func (s *SSHServer) config(ctx context.Context) *ssh.ServerConfig {
	c := &ssh.ServerConfig{
		Config: ssh.Config{
			KeyExchanges: []string{ssh.KeyExchangeMLKEM768X25519, ssh.KeyExchangeCurve25519},
			Ciphers: []string{ssh.CipherChaCha20Poly1305, ssh.CipherAES256GCM, ssh.CipherAES128GCM,
				ssh.CipherAES256CTR, ssh.CipherAES128CTR},
			MACs: []string{ssh.HMACSHA256ETM, ssh.HMACSHA512ETM},
		},
		MaxAuthTries:  10,
		ServerVersion: "SSH-2.0-gitfor",
		PublicKeyAuthAlgorithms: []string{
			ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384,
			ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKECDSA256, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256,
		},
	}
	tried := &triedKeys{}
	c.PublicKeyCallback = func(conn ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if err := weakKey(key); err != nil {
			tried.add(ssh.FingerprintSHA256(key) + " (" + err.Error() + ")")
			return nil, err
		}
		identity, ok := s.Authenticate(ctx, key, conn.RemoteAddr())
		if !ok {
			tried.add(ssh.FingerprintSHA256(key))
			return nil, fmt.Errorf("key %s is not known", ssh.FingerprintSHA256(key))
		}
		return &ssh.Permissions{ExtraData: map[any]any{identityKey{}: identity}}, nil
	}
	// OpenSSH comes here when no key was accepted: the one place where the
	// person can be told so
	c.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
		if text := tried.message(); text != "" {
			_, _ = ask("", text, nil, nil)
		}
		return nil, fmt.Errorf("no known key")
	}
	for _, k := range s.HostKeys {
		c.AddHostKey(k)
	}
	return c
}

// triedKeys are the keys of one connection that were refused.
type triedKeys struct {
	mu   sync.Mutex
	keys []string
	said bool
}

func (t *triedKeys) add(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.keys {
		if k == key {
			return
		}
	}
	t.keys = append(t.keys, key)
}

// message tells once what is wrong with the keys that were offered.
func (t *triedKeys) message() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.said {
		return ""
	}
	t.said = true
	if len(t.keys) == 0 {
		return "gitfor: sign in with an SSH key; your client offered none."
	}
	text := "gitfor: none of the keys that your client offered is known here:\r\n"
	for _, k := range t.keys {
		text += "  " + k + "\r\n"
	}
	return text + "Add one in your account's settings, under SSH keys."
}

// weakKey refuses keys that can be broken.
func weakKey(key ssh.PublicKey) error {
	k, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return nil
	}
	switch pub := k.CryptoPublicKey().(type) {
	case *rsa.PublicKey:
		if pub.N.BitLen() < 2048 {
			return fmt.Errorf("an RSA key needs 2048 bits, this has %d", pub.N.BitLen())
		}
	case *dsa.PublicKey:
		return fmt.Errorf("DSA keys are not accepted")
	}
	return nil
}
