package auth

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/fault"
)

func TestCache(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	c := newCache[int, string](10, func() time.Time { return now })
	loads := 0
	get := func(k int) string {
		v, err := c.get(k, func() (string, error) { loads++; return "v", nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	get(1)
	get(1)
	if loads != 1 {
		t.Errorf("a warm value was loaded %d times", loads)
	}
	now = now.Add(keep)
	get(1)
	if loads != 2 {
		t.Error("a value outlives its time")
	}
	c.drop(func(k int, _ string) bool { return k == 1 })
	get(1)
	if loads != 3 {
		t.Error("a dropped value is still there")
	}
	// What was loaded while something was dropped may be stale.
	if _, err := c.get(2, func() (string, error) { c.clear(); return "stale", nil }); err != nil {
		t.Fatal(err)
	}
	if v := get(2); v != "v" {
		t.Errorf("a value from before a drop was kept: %q", v)
	}
	if _, err := c.get(3, func() (string, error) { return "", errors.New("no") }); err == nil {
		t.Error("an error was kept")
	}
	for k := range 100 {
		get(k)
	}
	if len(c.entries) > 10 {
		t.Errorf("%d values are kept, at most 10 should be", len(c.entries))
	}
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l := newLimiter(2, time.Minute, func() time.Time { return now })
	take := func(remote string) bool { return l.take(remote) == nil }
	first, second, third := take("192.0.2.1"), take("192.0.2.1"), take("192.0.2.1")
	if !first || !second || third {
		t.Error("not two tries were let in")
	}
	if !take("192.0.2.2") {
		t.Error("another address is locked out")
	}
	if !take("2001:db8::1") || !take("2001:db8::2") || take("2001:db8::3") || !take("2001:db8:0:1::1") {
		t.Error("addresses of one network are not counted together")
	}
	var f *fault.Fault
	if !errors.As(l.take("192.0.2.1"), &f) || f.RetryAfter < 1 || f.RetryAfter > 61 {
		t.Errorf("refused with %+v", f)
	}
	now = now.Add(time.Minute)
	if !take("192.0.2.1") {
		t.Error("the window does not end")
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	if got := expand([]string{"admin:org"}); !slices.Contains(got, "write:org") || !slices.Contains(got, "read:org") {
		t.Errorf("admin:org brings %v", got)
	}
	if got := top([]string{"repo", "public_repo", "user"}); !slices.Equal(got, []string{"repo", "user"}) {
		t.Errorf("the top scopes are %v", got)
	}
	if _, err := ParseScopes("repo, nonsense"); err == nil {
		t.Error("an unknown scope is accepted")
	}
	if got, err := ParseScopes("repo,user  repo"); err != nil || !slices.Equal(got, []string{"repo", "user"}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestDeviceName(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36":                                   "Chrome on Linux",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15":                   "Safari on macOS",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                        "Firefox on Windows",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":           "Edge on Windows",
		"": "Unknown device", "tool/1": "tool/1", "a\x00b": "ab",
	} {
		if got := DeviceName(agent); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
}

func TestSafeNext(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{"/a": "/a", "//a": "/", "a": "/", "/a\nb": "/", "/login?next=/x": "/"} {
		if got := safeNext(next); got != want {
			t.Errorf("%q is %q, want %q", next, got, want)
		}
	}
}
