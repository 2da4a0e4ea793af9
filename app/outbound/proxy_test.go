package outbound

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// through asks for an address through a proxy and returns the status, or what
// went wrong.
func through(t *testing.T, proxy, target string, insecure *httptest.Server) string {
	t.Helper()
	u, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(u)}
	defer transport.CloseIdleConnections()
	if insecure != nil {
		transport.TLSClientConfig = insecure.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.Status + " " + string(b)
}

func TestProxy(t *testing.T) {
	t.Parallel()
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("the proxy's password goes on")
		}
		_, _ = io.WriteString(w, "hello")
	})
	plain, secure := httptest.NewServer(hello), httptest.NewTLSServer(hello)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	start := func(allow ...string) *Proxy {
		t.Helper()
		g, err := NewGuard(allow)
		if err != nil {
			t.Fatal(err)
		}
		p := NewProxy(g)
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Stop(context.WithoutCancel(t.Context())) })
		return p
	}
	closed, open := start(), start("127.0.0.0/8")
	for name, c := range map[string]struct{ got, want string }{
		"inside":        {through(t, closed.URL(), secure.URL, secure), "Forbidden"},
		"inside, plain": {through(t, closed.URL(), plain.URL, nil), "403"},
		"allowed":       {through(t, open.URL(), secure.URL, secure), "200 OK hello"},
		"plain":         {through(t, open.URL(), plain.URL, nil), "200 OK hello"},
		"no password":   {through(t, "http://"+open.ln.Addr().String(), plain.URL, nil), "407"},
		"wrong":         {through(t, "http://gitfor:x@"+open.ln.Addr().String(), secure.URL, secure), "Proxy Authentication Required"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}
