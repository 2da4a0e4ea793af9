// Package app is gitfor without its command line: every service, built once
// and wired together.
package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/access"
	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/alarms"
	"github.com/gitfor/gitfor/app/attachments"
	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/codes"
	"github.com/gitfor/gitfor/app/drafts"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/explore"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/app/intake"
	"github.com/gitfor/gitfor/app/involvement"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/lfs"
	"github.com/gitfor/gitfor/app/limits"
	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/notifications"
	"github.com/gitfor/gitfor/app/oauth"
	"github.com/gitfor/gitfor/app/orgs"
	"github.com/gitfor/gitfor/app/outbound"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/protection"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/releases"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/reviews"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/app/settings"
	"github.com/gitfor/gitfor/app/signatures"
	"github.com/gitfor/gitfor/app/state"
	"github.com/gitfor/gitfor/app/statuses"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/transport"
	"github.com/gitfor/gitfor/app/upkeep"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/app/webhooks"
	"github.com/gitfor/gitfor/db"
)

// Config is what the operator set.
type Config struct {
	// DataDir holds git repositories, attachments, keys and mail.
	DataDir string
	// URL is the public address; ContentURL a second origin for raw user
	// content, "" for none.
	URL, ContentURL string
	// RPID is the passkeys' relying party id, "" for the host of URL.
	RPID string
	// SecretKeyFile seals secrets at rest; default DataDir/secret.key.
	SecretKeyFile string
	// SMTPURL is smtp://user:pass@host:port; "" writes mail into
	// DataDir/mail.
	SMTPURL string
	// SMTPListen is the address to take answers to mail on; "" is none.
	SMTPListen string
	// SSHHost and SSHPort are what clone addresses show; port 0 hides SSH.
	SSHHost string
	SSHPort int
	// SSHListen is the address to serve git over SSH on; "" is none.
	SSHListen string
	// Alone says that no other process serves the same data.
	Alone bool
	// BlobURL is where LFS objects, attachments and other blobs are: "" for
	// DataDir/blobs, or s3://KEY:SECRET@HOST/BUCKET.
	BlobURL string
	// TrustedProxies are those whose X-Forwarded-For counts.
	TrustedProxies []netip.Prefix
	// OutboundAllow lists CIDRs and hosts that hooks and mirrors may reach
	// though they are not public.
	OutboundAllow []string
	// SetupCode, when set, is asked of the first account that signs up.
	SetupCode string
	// Exposed says that strangers can reach the instance: without a
	// SetupCode it then has one of its own.
	Exposed bool
	Version string
	// ObserveGit, when set, is told of each run of git.
	ObserveGit func(ctx context.Context, subcommand string, d time.Duration)
	// Env looks up variables of the environment that set what else can be
	// set on pages; nil for none.
	Env func(name string) (string, bool)
	// Spares keeps spare schemas ready for what is written first.
	Spares bool
	// Dev shows what is for developers only.
	Dev bool
	// FailPoint, when set, is called at the steps of a push; tests end the
	// process there.
	FailPoint func(step string)
}

// App is a running instance.
type App struct {
	DB   *db.DB
	Kit  *web.Kit
	Gate *perms.Gate
	Ring *secret.Ring
	Mail *mail.Service
	Git  *git.Store
	// Blobs makes the spaces of features that keep content by its SHA-256.
	Blobs *blob.Stores

	Instance   *instance.Service
	Access     *access.Service
	Accounts   *accounts.Service
	Orgs       *orgs.Service
	OAuth      *oauth.Service
	Auth       *auth.Service
	Settings   *settings.Service
	Repos      *repos.Service
	Transport  *transport.Service
	LFS        *lfs.Service
	Upkeep     *upkeep.Service
	Intake     *intake.Service
	Signatures *signatures.Service
	Codes      *codes.Service
	Explore    *explore.Service
	Markup     *markup.Renderer
	Threads    *threads.Service
	Issues     *issues.Service
	Pulls      *pulls.Service
	Releases   *releases.Service
	Reviews    *reviews.Service
	machines
	Drafts *drafts.Service
	// Attachments is the files of texts.
	Attachments *attachments.Service
	// Notifications is the inboxes.
	Notifications *notifications.Service
	// Statuses is what is said of commits, Protection what is asked of
	// branches.
	Statuses   *statuses.Service
	Protection *protection.Service

	Audit       *audit.Service
	State       *state.Service
	Involvement *involvement.Service
	Events      *events.Service
	Live        *events.Live
	Alarms      *alarms.Service
	Outbound    *outbound.Client
	Webhooks    *webhooks.Service

	cfg      Config
	log      *slog.Logger
	services []service
	checks   []Check
	metrics  *metrics
	pools    *git.Store
	started  []service
	mu       sync.Mutex

	draining  chan struct{}
	drainOnce sync.Once
}

// service is what runs in the background between Start and Stop.
type service interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// New builds the instance over a migrated database. Nothing runs before
// Start.
func New(ctx context.Context, cfg Config, d *db.DB, log *slog.Logger) (*App, error) {
	if err := os.MkdirAll(cfg.DataDir, 0o750); err != nil {
		return nil, err
	}
	if cfg.SecretKeyFile == "" {
		cfg.SecretKeyFile = filepath.Join(cfg.DataDir, "secret.key")
	}
	ring, err := secret.LoadOrCreateKey(cfg.SecretKeyFile)
	if err != nil {
		return nil, err
	}
	kit, err := web.New(web.Config{URL: cfg.URL, ContentURL: cfg.ContentURL, TrustedProxies: cfg.TrustedProxies,
		Version: cfg.Version, Dev: cfg.Dev}, log)
	if err != nil {
		return nil, err
	}
	a := &App{DB: d, Kit: kit, Gate: perms.NewGate(d), Ring: ring, cfg: cfg, log: log, draining: make(chan struct{}), metrics: newMetrics()}
	kit.SetObserve(a.metrics.observe)
	if err := a.build(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// build makes the features, in the order of who needs whom.
func (a *App) build(ctx context.Context) (err error) {
	a.buildEvents()
	if err := a.buildInstance(ctx); err != nil {
		return err
	}
	if a.Git, err = git.NewStore(filepath.Join(a.cfg.DataDir, "git"), git.StoreOptions{Observe: a.cfg.ObserveGit}); err != nil {
		return err
	}
	if err := a.buildBlobs(); err != nil {
		return err
	}
	pools, err := git.NewStore(filepath.Join(a.cfg.DataDir, "git", "pools"), git.StoreOptions{Observe: a.cfg.ObserveGit, OpenRepositories: 32})
	if err != nil {
		return err
	}
	a.pools = pools
	a.metrics.rest.do = a.Rest
	a.services = append(a.services, &a.metrics.rest)
	a.buildState(pools)
	if a.cfg.Exposed && a.cfg.SetupCode == "" {
		a.cfg.SetupCode = auth.SetupCode(a.Ring)
	}
	a.Accounts = accounts.New(a.DB, a.Instance)
	if a.Mail, err = mail.New(mail.Config{URL: a.cfg.SMTPURL, Dir: filepath.Join(a.cfg.DataDir, "mail"), Site: a.cfg.URL, Ring: a.Ring, Log: a.log}); err != nil {
		return err
	}
	a.Auth = auth.New(auth.Deps{DB: a.DB, Kit: a.Kit, Ring: a.Ring, Log: a.log, Accounts: a.Accounts, Gate: a.Gate, Mail: a.Mail,
		URL: a.cfg.URL, RPID: a.cfg.RPID, SetupCode: a.cfg.SetupCode, Instance: a.Instance})
	a.Accounts.Gate = a.Gate
	a.Accounts.OnChange(a.Auth.Forget)
	a.services = append(a.services, a.Auth, limits.New(a.DB, a.Kit, a.log))
	a.Alarms.Add(alarms.Task{Kind: db.AccountKind, Name: "auth.expire", Run: a.Auth.Expire})
	a.Repos = repos.New(repos.Deps{DB: a.DB, Gate: a.Gate, Instance: a.Instance, Git: a.Git, Pools: pools, Log: a.log, URL: a.cfg.URL,
		SSHHost: a.cfg.SSHHost, SSHPort: a.cfg.SSHPort, Alone: a.cfg.Alone})
	a.buildUpkeep(pools)
	a.buildIntake()
	if a.Signatures, err = signatures.New(signatures.Deps{DB: a.DB, Gate: a.Gate, Accounts: a.Accounts, Ring: a.Ring, Hidden: a.Repos.PrivateEmail}); err != nil {
		return err
	}
	a.Repos.Sign = a.Signatures.Sign
	a.buildRules()
	a.Settings = &settings.Service{DB: a.DB, Gate: a.Gate, Accounts: a.Accounts, Auth: a.Auth, Repos: a.Repos, Hidden: a.Repos.PrivateEmail,
		SendLink: a.Auth.SendEmailLink}
	a.buildAudit()
	a.Access = access.New(access.Deps{Mail: a.Mail, URL: a.cfg.URL, DB: a.DB, Gate: a.Gate, Repos: a.Repos, SettingsShell: a.Settings.Shell})
	a.Repos.Sections = append(a.Repos.Sections, access.Section())
	a.Orgs = orgs.New(orgs.Deps{Mail: a.Mail, URL: a.cfg.URL, DB: a.DB, Gate: a.Gate, Accounts: a.Accounts, Auth: a.Auth, Access: a.Access, Repos: a.Repos,
		Tokens: secret.NewTokens(a.Ring)})
	a.OAuth = oauth.New(oauth.Deps{DB: a.DB, Gate: a.Gate, Auth: a.Auth, Tokens: secret.NewTokens(a.Ring)})
	a.Access.More = a.Orgs.Waiting
	a.Accounts.OrgSections = append(orgs.Sections(), a.Accounts.OrgSections...)
	a.buildLFS()
	a.buildDeploy()
	a.Transport, err = transport.New(ctx, transport.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, URL: a.cfg.URL,
		Folder: filepath.Join(a.cfg.DataDir, "transport"), SSHKey: a.bySSHKey, Log: a.log, FailPoint: a.cfg.FailPoint,
		LFS: a.LFS.Authenticate, Rules: []transport.PushRule{pushRules{a.Protection}, releaseTags{a}, lockRules{a.LFS}, intakeRules{a.Intake, a.Repos}, mirrorRules{a}}})
	if err != nil {
		return err
	}
	a.Explore = explore.New(a.DB, a.Gate)
	a.Markup = markup.New(markup.Config{SiteURL: a.cfg.URL})
	a.Codes = codes.New(codes.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, Signatures: a.Signatures, Sign: a.Signatures.Sign, Markup: a.Markup, ContentURL: a.cfg.ContentURL, Log: a.log})
	a.Events.Subscribe(events.Subscriber{Service: "search", Name: "codes.learn", Types: []string{"git.push", "repo.default_branch_changed"}, Handle: a.Codes.Learn})
	a.Codes.Large, a.Codes.LockedBy = a.largeFile, a.lockedBy
	a.buildIssues()
	a.Repos.Tabs = append(a.Repos.Tabs, "pulls")
	a.buildPulls()
	a.buildInvolvement()
	a.buildReleases()
	a.buildDrafts()
	a.buildNotifications()
	if err := a.buildWebhooks(ctx); err != nil {
		return err
	}
	a.tellReleases()
	if a.cfg.SSHListen != "" {
		ssh, err := a.Transport.NewSSH(a.cfg.SSHListen)
		if err != nil {
			return err
		}
		a.services = append(a.services, ssh)
	}
	return nil
}

// SetupCode is the code that the next sign-up needs, "" when it needs none.
func (a *App) SetupCode(ctx context.Context) (string, error) {
	needs, err := a.Auth.NeedsCode(ctx)
	if err != nil || !needs {
		return "", err
	}
	return a.cfg.SetupCode, nil
}

// Handler answers every request.
func (a *App) Handler() http.Handler { return a.Kit.Handler(a.routes) }

// Start runs the background services.
func (a *App) Start(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.services {
		if err := s.Start(ctx); err != nil {
			return fmt.Errorf("start %T: %w", s, err)
		}
		a.started = append(a.started, s)
	}
	return nil
}

// Stop ends the background services, the last started first.
func (a *App) Stop(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := len(a.started) - 1; i >= 0; i-- {
		if err := a.started[i].Stop(ctx); err != nil {
			a.log.ErrorContext(ctx, "service did not stop", "service", fmt.Sprintf("%T", a.started[i]), "err", err)
		}
	}
	a.started = nil
}

// Ready says why the instance cannot serve yet, by part; empty when it can.
func (a *App) Ready(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	bad := map[string]string{}
	if ok, err := a.DB.Migrated(ctx); err != nil {
		bad["database"] = err.Error()
	} else if !ok {
		bad["migrations"] = "not applied yet"
	}
	probe := filepath.Join(a.cfg.DataDir, ".writable")
	// As much as a small push needs: a full disk takes an empty file still.
	if err := os.WriteFile(probe, make([]byte, 64<<10), 0o600); err != nil {
		_ = os.Remove(probe)
		bad["storage"] = err.Error()
	} else {
		_ = os.Remove(probe)
	}
	a.mu.Lock()
	if len(a.started) != len(a.services) {
		bad["jobs"] = "not running"
	}
	a.mu.Unlock()
	return bad
}

// Drain ends what waits for news, such as long polls, so that a stop need not
// wait for it.
func (a *App) Drain() { a.drainOnce.Do(func() { close(a.draining) }) }

// Draining is closed when the instance is about to stop.
func (a *App) Draining() <-chan struct{} { return a.draining }

// Check is one thing that gitfor doctor looks at.
type Check struct {
	Name string
	// Run returns what is there, or what is wrong and what to do.
	Run func(ctx context.Context) (string, error)
}

// Checks are the checks of the features.
func (a *App) Checks() []Check { return a.checks }
