package outbound

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	g, err := NewGuard(nil)
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]bool{
		"1.1.1.1": true, "93.184.216.34": true, "172.15.255.255": true, "172.32.0.1": true, "192.0.1.1": true,
		"2606:4700::1111": true, "2a00:1450:4001::1": true, "64:ff9b::1.1.1.1": true, "::ffff:1.1.1.1": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.5": false, "100.64.0.1": false, "100.127.255.255": false,
		"127.0.0.1": false, "127.255.255.254": false, "169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false,
		"192.0.0.8": false, "192.0.2.1": false, "192.88.99.1": false, "192.168.1.1": false, "198.18.0.1": false,
		"198.19.255.255": false, "198.51.100.7": false, "203.0.113.7": false, "224.0.0.1": false, "239.255.255.255": false,
		"240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::127.0.0.1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.5": false,
		"::ffff:0:127.0.0.1": false, "64:ff9b::127.0.0.1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1.1.1.1": false,
		"100::1": false, "2001::1": false, "2001:0:7f00:1::": false, "2001:10::1": false, "2001:20::1": false,
		"2001:db8::1": false, "2002:7f00:1::": false, "2002:101:101::1": false, "3fff::1": false, "5f00::1": false,
		"fc00::1": false, "fd12:3456::1": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false,
		"ff02::1": false, "2620:4f:8000::1": false, "4000::1": false,
	} {
		if got := g.Allowed(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: allowed = %v, want %v", addr, got, want)
		}
	}
}

func TestAllowList(t *testing.T) {
	t.Parallel()
	g, err := NewGuard([]string{"10.1.0.0/16", " ::1 ", "127.0.0.9", "::ffff:192.168.3.0/120", "Intra.Example."})
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]bool{
		"10.1.2.3": true, "10.2.0.1": false, "::1": true, "127.0.0.9": true, "127.0.0.1": false,
		"192.168.3.7": true, "::ffff:192.168.3.7": true, "192.168.4.1": false, "64:ff9b::10.1.2.3": false,
	} {
		if got := g.Allowed(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: allowed = %v", addr, got)
		}
	}
	if !g.hosts["intra.example"] {
		t.Error("the host name is not kept in one form")
	}
	for _, bad := range []string{"10.0.0.0/33", "http://x", "a b", "x:80"} {
		if _, err := NewGuard([]string{bad}); err == nil {
			t.Errorf("allow list takes %q", bad)
		}
	}
}

// inside is a service of the internal network that must not be reached.
func inside(t *testing.T, listen string) (port string, hits *atomic.Int64) {
	t.Helper()
	hits = new(atomic.Int64)
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	// Counting connections, not requests: not even the handshake may come.
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			hits.Add(1)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = ln.Close() })
	_, port, _ = net.SplitHostPort(ln.Addr().String())
	return port, hits
}

func get(t *testing.T, c *Client, url string, l Limits) (*Answer, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return c.Do(req, l)
}

// TestForbiddenTargets is what internal addresses look like in webhooks; none
// of them is contacted.
func TestForbiddenTargets(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // proxies of the environment do not count
	port, hits := inside(t, "127.0.0.1:0")
	g, err := NewGuard(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(g)
	for _, target := range []string{
		"http://127.0.0.1:" + port, "http://localhost:" + port, "http://LOCALHOST.:" + port, "http://[::1]:" + port,
		"http://[::ffff:127.0.0.1]:" + port, "http://[::ffff:7f00:1]:" + port, "http://10.0.0.5:" + port,
		"http://169.254.169.254/", "http://0x7f000001:" + port, "http://2130706433:" + port, "http://0177.0.0.1:" + port,
		"http://127.1:" + port, "http://0:" + port, "http://[64:ff9b::7f00:1]:" + port, "http://[fe80::1%25lo]:" + port,
		"ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1:" + port, "http://user@127.0.0.1:" + port, "http://",
	} {
		a, err := get(t, c, target, Limits{Timeout: 5 * time.Second})
		if err == nil {
			t.Errorf("%s answered %d %q", target, a.Status, a.Body)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Fatalf("the inside was contacted %d times", n)
	}
}

// TestLiteral shows that an address needs no resolver to be refused.
func TestLiteral(t *testing.T) {
	t.Parallel()
	port, hits := inside(t, "127.0.0.1:0")
	g, err := NewGuard([]string{"127.0.0.2"})
	if err != nil {
		t.Fatal(err)
	}
	g.resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no resolver here")
	}}
	if _, err := g.DialContext(t.Context(), "tcp", "127.0.0.1:"+port); !errors.Is(err, ErrForbidden) {
		t.Fatalf("dial: %v", err)
	}
	if hits.Load() != 0 {
		t.Fatal("contacted")
	}
}

// TestRedirects shows that a redirect is an answer, and where it is followed
// each hop is checked.
func TestRedirects(t *testing.T) {
	t.Parallel()
	port, hits := inside(t, "127.0.0.1:0")
	mux := http.NewServeMux()
	mux.HandleFunc("/in", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://127.0.0.1:"+port, 302) })
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/end", 307) })
	mux.HandleFunc("/end", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "end")
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", 302) })
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "file:///etc/passwd")
		w.WriteHeader(302)
	})
	ln, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &httptest.Server{Listener: ln, Config: &http.Server{Handler: mux}}
	srv.Start()
	t.Cleanup(srv.Close)
	g, err := NewGuard([]string{"127.0.0.2"})
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(g)
	if a, err := get(t, c, srv.URL+"/in", Limits{}); err != nil || a.Status != 302 || strings.Contains(string(a.Body), "secret") {
		t.Errorf("redirect inside: %v, %v", a, err)
	}
	for path, want := range map[string]string{"/in": ErrForbidden.Error(), "/loop": "redirects", "/file": "only http"} {
		if _, err := get(t, c, srv.URL+path, Limits{Follow: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s followed: %v", path, err)
		}
	}
	if a, err := get(t, c, srv.URL+"/ok", Limits{Follow: true}); err != nil || string(a.Body) != "end" {
		t.Errorf("redirect to a public page: %v, %v", a, err)
	}
	if hits.Load() != 0 {
		t.Fatal("the inside was contacted")
	}
}

// TestLimits is a receiver that sends without end, one that sends slowly, and
// one that says nothing.
func TestLimits(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	stop := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/huge":
			chunk := make([]byte, 1<<20)
			for range 1 << 10 {
				n, err := w.Write(chunk)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		case "/slow":
			for i := 0; ; i++ {
				_, _ = w.Write([]byte("x"))
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		default:
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		}
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(stop) })
	g, err := NewGuard([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(g)
	if a, err := get(t, c, srv.URL+"/huge", Limits{Body: 1000}); err != nil || len(a.Body) != 1000 || !a.Cut {
		t.Errorf("huge body: %v", err)
	}
	if n := sent.Load(); n > 64<<20 {
		t.Errorf("%d MB were sent though 1,000 bytes are read", n>>20)
	}
	for _, path := range []string{"/slow", "/silent"} {
		start := time.Now()
		_, err := get(t, c, srv.URL+path, Limits{Timeout: 300 * time.Millisecond})
		if err == nil || time.Since(start) > 3*time.Second {
			t.Errorf("%s: %v after %s", path, err, time.Since(start))
		}
	}
}
