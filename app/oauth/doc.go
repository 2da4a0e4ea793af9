// Package oauth lets programs act for people who agree: an OAuth 2.1
// authorization server with authorization codes (PKCE), device codes (RFC
// 8628) and refresh tokens that change with every use. Its addresses and
// answers are GitHub's, so that programs made for it work.
//
// Pages: /login/oauth/authorize, /login/device, /settings/applications,
// /settings/developers. Machines: /login/oauth/access_token,
// /login/device/code, /login/oauth/revoke,
// /.well-known/oauth-authorization-server. Tables: an account's apps, grants
// and credentials; directory.oauth_grants; cell.challenges for codes.
package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
)

const (
	// codeTime is how long an authorization code is good (RFC 6749, 4.1.2,
	// wants at most ten minutes), deviceTime how long a device code is.
	codeTime   = 5 * time.Minute
	deviceTime = 15 * time.Minute
	// pollEvery is how often a device may ask.
	pollEvery = 5 * time.Second
	// accessTime and refreshTime are how long the tokens of apps live whose
	// tokens end.
	accessTime  = 8 * time.Hour
	refreshTime = 180 * 24 * time.Hour
	// keepTokens bounds the tokens of one app and person; the oldest go.
	keepTokens = 20
)

// Deps are what the service needs.
type Deps struct {
	DB     *db.DB
	Gate   *perms.Gate
	Auth   *auth.Service
	Tokens *secret.Tokens
}

// Service is the authorization server.
type Service struct {
	Deps
	now   func() time.Time
	tries *auth.Limiter
	mu    sync.Mutex
	polls map[string]time.Time
}

// New makes the service.
func New(deps Deps) *Service {
	return &Service{Deps: deps, now: time.Now, tries: auth.NewLimiter(30, 10*time.Minute, time.Now), polls: map[string]time.Time{}}
}

// random is an unguessable text of n random bytes.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails, by its documentation
	return base64.RawURLEncoding.EncodeToString(b)
}

func hashed(kind, text string) string {
	sum := sha256.Sum256([]byte(text))
	return kind + "-" + hex.EncodeToString(sum[:])
}
