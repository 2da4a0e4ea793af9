package auth

import (
	"context"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/gorilla/sessions"
)

// Deps are what the service needs.
type Deps struct {
	DB       *db.DB
	Kit      *web.Kit
	Ring     *secret.Ring
	Log      *slog.Logger
	Accounts *accounts.Service
	Gate     *perms.Gate
	// Mail carries links and security notices; none are sent when nil.
	Mail *mail.Service
	// URL is the instance's public address, RPID the passkeys' relying party
	// where it was set.
	URL, RPID string
	// SetupCode, when set, is asked of the first account that signs up.
	SetupCode string
	// Instance knows who can sign up.
	Instance *instance.Service
	// Now is the clock, time.Now when nil.
	Now func() time.Time
}

// Service knows who requests act for.
type Service struct {
	db       *db.DB
	kit      *web.Kit
	ring     *secret.Ring
	tokens   *secret.Tokens
	log      *slog.Logger
	accounts *accounts.Service
	now      func() time.Time

	users    *cache[int64, *model.User]
	sessions *cache[hash, *session]
	pats     *cache[hash, *token]
	touched  touches
	kinds    map[secret.Kind]func(ctx context.Context, owner int64, hash [32]byte) (*model.Viewer, error)
	schemes  map[string]func(c *web.Ctx, value string) (*model.Viewer, error)
	store    sessions.Store

	gate      *perms.Gate
	instance  *instance.Service
	publicURL string
	rpID      string
	setupCode string
	origin    string
	wa        *webauthn.WebAuthn // set by Start
	hasUsers  atomic.Bool
	// challenges says that some may have to be forgotten.
	challenges atomic.Bool
	begins     *limiter
	recoveries *limiter
	links      *limiter
	mail       *mail.Service

	stop chan struct{}
	done chan struct{}
}

// New makes the service and lets the kit recognise viewers by it.
func New(d Deps) *Service {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Log == nil {
		d.Log = slog.Default()
	}
	s := &Service{db: d.DB, kit: d.Kit, ring: d.Ring, tokens: secret.NewTokens(d.Ring), log: d.Log, now: d.Now, accounts: d.Accounts,
		users:    newCache[int64, *model.User](20_000, d.Now),
		sessions: newCache[hash, *session](20_000, d.Now),
		pats:     newCache[hash, *token](20_000, d.Now),
		kinds:    map[secret.Kind]func(context.Context, int64, [32]byte) (*model.Viewer, error){},
		schemes:  map[string]func(*web.Ctx, string) (*model.Viewer, error){},
		gate:     d.Gate, instance: d.Instance, publicURL: d.URL, rpID: d.RPID, setupCode: d.SetupCode,
		begins: newLimiter(300, time.Minute, d.Now), recoveries: newLimiter(20, 10*time.Minute, d.Now),
		links: newLimiter(maxLinks, time.Hour, d.Now), mail: d.Mail,
	}
	s.store = &store{s}
	if d.Kit != nil {
		d.Kit.SetAuth(s.Authenticate)
	}
	return s
}

// Start fixes the passkeys' relying party and begins to write last uses every
// minute. ErrRelyingParty when the instance's address has moved away from its
// passkeys.
func (s *Service) Start(ctx context.Context) error {
	if err := s.bind(ctx); err != nil {
		return err
	}
	s.challenges.Store(true) // some may be left from before
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	ctx = context.WithoutCancel(ctx)
	unsubscribe := s.db.Bus().Subscribe(channel, s.heard, s.forgetAll)
	go func() {
		defer close(s.done)
		defer unsubscribe()
		tick := time.NewTicker(flushEvery)
		defer tick.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-tick.C:
				s.tidy(ctx)
			}
		}
	}()
	return nil
}

// tidy writes last uses and forgets challenges that nobody will answer.
func (s *Service) tidy(ctx context.Context) {
	if err := s.Flush(ctx); err != nil {
		s.log.WarnContext(ctx, "last uses not written", "err", err)
	}
	if !s.challenges.Swap(false) {
		return
	}
	// An expired one is kept for an hour, to tell it from one that was used.
	if err := accountdb.DropChallenges(ctx, s.db.Cell(), s.now().Add(-time.Hour)); err != nil {
		s.log.WarnContext(ctx, "old challenges not forgotten", "err", err)
	}
}

// Stop writes what is left and ends.
func (s *Service) Stop(ctx context.Context) error {
	if s.stop == nil {
		return nil
	}
	close(s.stop)
	<-s.done
	return s.Flush(ctx)
}

// channel is the bus's channel on which an account's id means that something
// about it changed.
const channel = "auth"

// notify tells other processes to forget an account.
func (s *Service) notify(ctx context.Context, account int64) {
	s.db.Bus().Notify(ctx, channel, strconv.FormatInt(account, 10))
}
