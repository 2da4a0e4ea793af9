package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/ui"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/klauspost/compress/gzhttp"
)

// Config is what the kit needs to know of the instance.
type Config struct {
	// URL is the public address without a slash at its end.
	URL string
	// ContentURL is the origin of raw user content, "" for none.
	ContentURL string
	// TrustedProxies are those whose X-Forwarded-For counts.
	TrustedProxies []netip.Prefix
	Version        string
	// Dev shows what is for developers only, such as the component book.
	Dev bool
}

// Authenticator tells who a request acts for: nil for a stranger, a fault for
// a credential that is wrong.
type Authenticator func(c *Ctx) (*model.Viewer, error)

// Kit is the HTTP side of the instance.
type Kit struct {
	cfg      Config
	log      *slog.Logger
	auth     Authenticator
	observe  func(Observation)
	limits   *limits
	hourly   func(ctx context.Context) int
	instead  Handler
	unread   func(ctx context.Context, accountID int64) int
	notice   func(ctx context.Context) (announce string, noSignup bool)
	routes   []Route
	mux      http.Handler
	cross    *http.CrossOriginProtection
	answered *answered
	secure   bool
	host     string
}

// New makes the kit. SetAuth must be called before it serves.
func New(cfg Config, log *slog.Logger) (*Kit, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("public address %q: want http(s)://host", cfg.URL)
	}
	k := &Kit{cfg: cfg, log: log, cross: http.NewCrossOriginProtection(), answered: newAnswered(), limits: newLimits(),
		secure: u.Scheme == "https", host: u.Host}
	if err := k.cross.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
		return nil, err
	}
	return k, nil
}

// SetAuth sets how viewers are recognised.
func (k *Kit) SetAuth(a Authenticator) { k.auth = a }

// Intercept runs h in place of every route's handler, for tests of who may
// reach which route.
func (k *Kit) Intercept(h Handler) { k.instead = h }

// Config is what the kit was made with.
func (k *Kit) Config() Config { return k.cfg }

// Handler builds the server's handler from the routes that mount registers.
func (k *Kit) Handler(mount func(r *Router)) http.Handler {
	mux := chi.NewRouter()
	mount(&Router{k, mux, PageDoor, ""})
	notFound := func(w http.ResponseWriter, r *http.Request) {
		k.serve(doorOf(r), anyone, func(*Ctx) error { return db.ErrNotFound }).ServeHTTP(w, r)
	}
	mux.NotFound(notFound)
	mux.MethodNotAllowed(notFound)
	k.mux = mux
	return k.guard(mux)
}

// anyone is the access of answers that have no route.
var anyone = Access{"anyone", func(*Ctx) error { return nil }}

// guard is what every request passes before its route.
func (k *Kit) guard(plain http.Handler) http.Handler {
	squeezed := gzhttp.GzipHandler(plain)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := plain
		secureHeaders(w.Header())
		if k.secure {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		// Clean trailing slashes so that /o/r/ is /o/r.
		if p := r.URL.EscapedPath(); len(p) > 1 && strings.HasSuffix(p, "/") && r.Method == http.MethodGet &&
			!strings.HasPrefix(p, "/-/") {
			to := "/" + strings.Trim(p, "/")
			if r.URL.RawQuery != "" {
				to += "?" + r.URL.RawQuery
			}
			http.Redirect(w, r, to, http.StatusMovedPermanently)
			return
		}
		if compressible(r) {
			next = squeezed
		}
		if err := parseForm(w, r); err != nil {
			k.serve(PageDoor, anyone, func(*Ctx) error { return unreadable(err) }).ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// compressible says that an answer may be compressed: pages and JSON, not
// what git sends, which is compressed already, nor sockets.
func compressible(r *http.Request) bool {
	door := doorOf(r)
	return (door == PageDoor || door == APIDoor) && r.Header.Get("Range") == "" && r.Header.Get("Upgrade") == ""
}

// parseForm reads a browser's form before its route is known: the method that
// a plain form can only name in a field becomes the request's. What is wrong
// with the form shows when the handler decodes it.
func parseForm(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost || doorOf(r) != PageDoor ||
		!strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return err
	}
	switch m := strings.ToUpper(r.PostForm.Get(ui.MethodField)); m {
	case http.MethodPut, http.MethodPatch, http.MethodDelete:
		r.Method = m
	}
	return nil
}

func secureHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; "+
		"img-src 'self' data: https:; font-src 'self'; connect-src 'self'; form-action 'self'; "+
		"frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; manifest-src 'self'; worker-src 'self'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
}

// serve runs a route: who is it, may they, then the handler.
func (k *Kit) serve(door Door, access Access, h Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		ctx, stats := db.WithStats(r.Context())
		status := &statusWriter{ResponseWriter: w}
		w = status
		origin := &db.Origin{Remote: k.remote(r), Agent: r.UserAgent()}
		c := &Ctx{W: w, R: r.WithContext(db.WithOrigin(ctx, origin)), Door: door, kit: k, stats: stats, origin: origin,
			RequestID: uuid.NewString()[:18], Remote: origin.Remote}
		w.Header().Set("X-Request-Id", c.RequestID)
		if k.observe != nil {
			defer func() {
				k.observe(Observation{door, chi.RouteContext(ctx).RoutePattern(), r.Method, status.status, time.Since(start), stats.Queries()})
			}()
		}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so too
					panic(p)
				}
				c.fail(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		if err := k.handle(c, access, h); err != nil && !errors.Is(err, ErrAnswered) {
			c.fail(err)
		}
	})
}

func (k *Kit) handle(c *Ctx, access Access, h Handler) error {
	if c.Door == PageDoor {
		if err := k.cross.Check(c.R); err != nil {
			return crossOrigin(err)
		}
		c.readFlash()
	}
	if k.auth != nil {
		viewer, err := k.auth(c)
		if err != nil {
			return err
		}
		c.Viewer = viewer
		c.setOrigin(viewer)
	}
	if c.Door == APIDoor {
		if err := c.limit(); err != nil {
			return err
		}
	}
	if c.Viewer.SignedIn() {
		c.R = c.R.WithContext(db.ForPerson(c.Context()))
	} else {
		c.R = c.R.WithContext(db.ForStranger(c.Context()))
	}
	if err := access.Allow(c); err != nil {
		return err
	}
	if c.answeredElsewhere() {
		return nil
	}
	if k.instead != nil {
		h = k.instead
	}
	err := h(c)
	if rec, ok := c.W.(*recorder); ok && err == nil {
		rec.end()
	}
	return err
}

// remote is the client's address: the last hop in X-Forwarded-For that is not
// a trusted proxy, when the peer is one.
func (k *Kit) remote(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr := peer.Addr().Unmap()
	if !k.trusted(addr) {
		return addr.String()
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		if addr = hop.Unmap(); !k.trusted(addr) {
			break
		}
	}
	return addr.String()
}

func (k *Kit) trusted(a netip.Addr) bool {
	for _, p := range k.cfg.TrustedProxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// timed sets Server-Timing
// (https://www.w3.org/TR/server-timing/) from what the request did so far.
func (c *Ctx) timed(h http.Header) {
	if c.stats == nil {
		return
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }
	parts := []string{fmt.Sprintf(`db;dur=%s;desc="%d queries"`, ms(c.stats.Duration()), c.stats.Queries())}
	names := make([]string, 0, len(c.timing))
	for name := range c.timing {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		parts = append(parts, name+";dur="+ms(c.timing[name]))
	}
	h.Set("Server-Timing", strings.Join(parts, ", "))
}

func weakTag(b []byte) string {
	return `W/"` + strconv.FormatUint(xxhash.Sum64(b), 36) + `"`
}

func (c *Ctx) setCookie(name, value string, maxAge int) {
	http.SetCookie(c.W, &http.Cookie{Name: c.kit.CookieName(name), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: c.kit.secure, SameSite: http.SameSiteLaxMode})
}

// CookieName is the name under which a cookie is kept: with the __Host-
// prefix where the instance has https (RFC 6265bis, 4.1.3).
func (k *Kit) CookieName(name string) string {
	if k.secure {
		return "__Host-gitfor_" + name
	}
	return "gitfor_" + name
}

// Host is the host and port of the public address.
func (k *Kit) Host() string { return k.host }

// Secure says that the instance is reached by https.
func (k *Kit) Secure() bool { return k.secure }

func (c *Ctx) readFlash() {
	cookie, err := c.R.Cookie(c.kit.CookieName("flash"))
	if err != nil || c.R.Method != http.MethodGet || c.HTMX() {
		return
	}
	if text, err := url.QueryUnescape(cookie.Value); err == nil && len(text) < 500 {
		c.flash = text
	}
	c.setCookie("flash", "", -1)
}

// Background is a context for work that outlives the request.
func (c *Ctx) Background() context.Context { return context.WithoutCancel(c.Context()) }

// setOrigin notes who acts, for the audit log.
func (c *Ctx) setOrigin(v *model.Viewer) {
	if !v.SignedIn() {
		return
	}
	c.origin.ActorID, c.origin.Actor, c.origin.Via = v.ID(), v.Name(), "session"
	if v.Token || v.DeployRepo != 0 {
		c.origin.Via = "token"
	}
}
