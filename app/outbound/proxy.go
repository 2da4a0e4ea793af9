package outbound

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync"
	"time"
)

// Proxy lets a program that is not ours, such as git, call through the guard:
// an HTTP proxy on this machine's loopback with a password of this process. TLS
// passes through it unread. Plain http goes only to hosts that the operator
// named.
type Proxy struct {
	guard  *Guard
	secret string
	ln     net.Listener
	server *http.Server
	wg     sync.WaitGroup
}

// NewProxy makes a proxy that serves between Start and Stop.
func NewProxy(g *Guard) *Proxy {
	return &Proxy{guard: g, secret: rand.Text()}
}

// Start listens.
func (p *Proxy) Start(ctx context.Context) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("outbound proxy: %w", err)
	}
	p.ln = ln
	base := context.WithoutCancel(ctx)
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return base }}
	p.wg.Go(func() { _ = p.server.Serve(ln) })
	return nil
}

// Stop ends it; calls under way are cut.
func (p *Proxy) Stop(context.Context) error {
	if p.server == nil {
		return nil
	}
	err := p.server.Close()
	p.wg.Wait()
	return err
}

// URL is the proxy's address with its password, for http.proxy of git and the
// like.
func (p *Proxy) URL() string { return "http://gitfor:" + p.secret + "@" + p.ln.Addr().String() }

// Named says whether the operator allowed the host by its name or by all of its
// addresses.
func (g *Guard) Named(ctx context.Context, host string) bool {
	if g.hosts[hostKey(host)] {
		return true
	}
	named := func(a netip.Addr) bool {
		for _, p := range g.prefixes {
			if p.Contains(a.WithZone("").Unmap()) {
				return true
			}
		}
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return named(ip)
	}
	ips, err := g.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(ips) == 0 {
		return false
	}
	for _, ip := range ips {
		if !named(ip) {
			return false
		}
	}
	return true
}

// ServeHTTP serves one call (RFC 9110, 9.3.6 for CONNECT).
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("gitfor:"+p.secret))
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Proxy-Authorization")), []byte(want)) != 1 {
		w.Header().Set("Proxy-Authenticate", `Basic realm="gitfor"`)
		http.Error(w, "proxy password needed", http.StatusProxyAuthRequired)
		return
	}
	if r.Method == http.MethodConnect {
		p.tunnel(w, r)
		return
	}
	if r.URL.Scheme != "http" || r.URL.Host == "" || !p.guard.Named(r.Context(), r.URL.Hostname()) {
		http.Error(w, "plain http only to hosts that the operator allows", http.StatusForbidden)
		return
	}
	(&httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) { pr.Out.Header.Del("Proxy-Authorization") },
		Transport: &http.Transport{DialContext: p.guard.DialContext, DisableCompression: true, DisableKeepAlives: true,
			ResponseHeaderTimeout: time.Minute},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			status := http.StatusBadGateway
			if errors.Is(err, ErrForbidden) {
				status = http.StatusForbidden
			}
			http.Error(w, "cannot connect", status)
		},
	}).ServeHTTP(w, r)
}

func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	there, err := p.guard.DialContext(r.Context(), "tcp", r.Host)
	if err != nil {
		status := http.StatusBadGateway
		if errors.Is(err, ErrForbidden) {
			status = http.StatusForbidden
		}
		http.Error(w, "cannot connect", status)
		return
	}
	defer there.Close() //nolint:errcheck // the other side has heard what there was
	here, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "cannot connect", http.StatusInternalServerError)
		return
	}
	defer here.Close() //nolint:errcheck // as above
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(there, buf)
		closeWrite(there)
	}()
	_, _ = io.Copy(here, there)
	_ = here.Close()
	<-done
}

func closeWrite(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.CloseWrite()
	}
}
