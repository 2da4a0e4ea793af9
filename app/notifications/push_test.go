package notifications_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
)

// taker is a browser with its push service, which reads what is sent as a
// browser does (RFC 8291, RFC 8188).
type taker struct {
	t     *testing.T
	url   string
	key   *ecdh.PrivateKey
	auth  []byte
	vapid string

	mu      sync.Mutex
	answers []int // what the service answers next; 201 when it is empty
	got     []map[string]string
	heads   []http.Header
}

func newTaker(t *testing.T) *taker {
	t.Helper()
	b := &taker{t: t, auth: make([]byte, 16)}
	_, _ = rand.Read(b.auth)
	var err error
	if b.key, err = ecdh.P256().GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	service := httptest.NewServer(b)
	t.Cleanup(service.Close)
	b.url = service.URL
	return b
}

var b64 = base64.RawURLEncoding

// on turns pushes on for c, as the page's script does.
func (b *taker) on(c *apptest.Client) {
	b.t.Helper()
	b.vapid, _ = c.Get("/settings/notifications").OK().Find("[data-push]").Attr("data-push")
	c.JSON("/settings/notifications/browsers", map[string]any{"endpoint": b.url + "/push", "expirationTime": nil,
		"keys": map[string]string{"p256dh": b64.EncodeToString(b.key.PublicKey().Bytes()), "auth": b64.EncodeToString(b.auth)}}).Want(http.StatusNoContent)
}

func (b *taker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heads = append(b.heads, r.Header)
	if len(b.answers) > 0 {
		status := b.answers[0]
		b.answers = b.answers[1:]
		w.WriteHeader(status)
		return
	}
	told := map[string]string{}
	if err != nil || !b.proved(r.Header.Get("Authorization")) || json.Unmarshal(b.open(body), &told) != nil {
		b.t.Errorf("a push that a browser cannot read: %v %v", r.Header, err)
	}
	b.got = append(b.got, told)
	w.WriteHeader(http.StatusCreated)
}

// proved checks the signature of the instance (RFC 8292).
func (b *taker) proved(header string) bool {
	token, key, ok := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	at := strings.LastIndexByte(token, '.')
	if !ok || at < 0 || key != b.vapid {
		return false
	}
	sig, err := b64.DecodeString(token[at+1:])
	point, err2 := b64.DecodeString(key)
	if err != nil || err2 != nil || len(sig) != 64 {
		return false
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return false
	}
	sum := sha256.Sum256([]byte(token[:at]))
	claims, _ := b64.DecodeString(strings.Split(token, ".")[1])
	return strings.Contains(string(claims), `"aud":"`+b.url+`"`) &&
		ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:]))
}

// open decrypts a push; nil when it is not for this browser.
func (b *taker) open(body []byte) []byte {
	if len(body) < 86 {
		return nil
	}
	salt, sender, sealed := body[:16], body[21:86], body[86:]
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil
	}
	shared, err := b.key.ECDH(public)
	if err != nil {
		return nil
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		out, _ := hkdf.Key(sha256.New, secret, salt, info, n)
		return out
	}
	ikm := derive(shared, b.auth, "WebPush: info\x00"+string(b.key.PublicKey().Bytes())+string(sender), 32)
	block, err := aes.NewCipher(derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return nil
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil
	}
	plain, err := gcm.Open(nil, derive(ikm, salt, "Content-Encoding: nonce\x00", 12), sealed, nil)
	if err != nil {
		return nil
	}
	return []byte(strings.TrimRight(string(plain), "\x00\x02"))
}

// taken is what came so far.
func (b *taker) taken() []map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got
}

func newPushForge(t *testing.T) *forge {
	t.Helper()
	f := &forge{}
	f.Server = apptest.NewWorking(t, func(c *app.Config) { c.OutboundAllow = []string{"127.0.0.1"} })
	f.ann, f.bob, f.cas = f.User(t, "ann"), f.User(t, "bob"), f.User(t, "cas")
	f.ann.API("POST", "/user/repos", map[string]any{"name": "engine"}).Want(201)
	return f
}

func (f *forge) issue(by *apptest.Client, title, body string) {
	by.API("POST", "/repos/ann/engine/issues", map[string]any{"title": title, "body": body}).Want(201)
}

func TestPush(t *testing.T) {
	t.Parallel()
	f := newPushForge(t)
	one, two := newTaker(t), newTaker(t)
	one.on(f.bob)
	two.on(f.bob)
	f.issue(f.ann, "Valve", "Look, @bob")
	until(t, func() bool { return len(one.taken()) == 1 && len(two.taken()) == 1 })
	told := one.taken()[0]
	if told["title"] != "Valve (#1)" || !strings.Contains(told["body"], "ann/engine") || !strings.HasPrefix(told["url"], f.URL+"/ann/engine/issues/1") {
		t.Errorf("told %v", told)
	}
	if h := one.heads[0]; h.Get("TTL") != "43200" || h.Get("Topic") != told["tag"] || len(told["tag"]) != 32 {
		t.Errorf("headers %v, tag %q", h, told["tag"])
	}

	// A service that fails is asked again; the other browser hears it once.
	one.mu.Lock()
	one.answers = []int{http.StatusInternalServerError}
	one.mu.Unlock()
	f.issue(f.ann, "Pump", "@bob")
	until(t, func() bool { return len(one.taken()) == 2 && len(two.taken()) == 2 })

	// An endpoint that is gone is dropped.
	one.mu.Lock()
	one.answers = []int{http.StatusGone}
	one.mu.Unlock()
	f.issue(f.ann, "Gauge", "@bob")
	until(t, func() bool {
		return len(two.taken()) == 3 && f.bob.Get("/settings/notifications").Find("[action$='/try']").Length() == 1
	})

	// What is not to be pushed is not: the reason, and who may not read it.
	f.issue(f.cas, "Hidden", "nobody")
	f.ann.API("PATCH", "/repos/ann/engine", map[string]any{"private": true}).OK()
	f.issue(f.ann, "Secret", "@bob")
	f.settle(t)
	f.ann.API("PATCH", "/repos/ann/engine", map[string]any{"private": false}).OK()
	f.issue(f.ann, "Last", "@bob")
	until(t, func() bool { return len(two.taken()) >= 4 })
	if got := two.taken()[3]["title"]; got != "Last (#6)" {
		t.Errorf("pushed %q", got)
	}
}

// Pushes end with the session that turned them on, and go to public addresses.
func TestPushEnds(t *testing.T) {
	t.Parallel()
	f := newPushForge(t)
	b, other := newTaker(t), newTaker(t)
	b.on(f.bob)
	again := f.As(t, f.bob.Account)
	other.on(again)
	f.bob.Post("/logout").Want(http.StatusSeeOther)
	f.issue(f.ann, "Valve", "@bob")
	until(t, func() bool {
		return len(other.taken()) == 1 && again.Get("/settings/notifications").Find("[action$='/try']").Length() == 1
	})
	if n := len(b.taken()); n != 0 {
		t.Errorf("%d pushes to a browser that is signed out", n)
	}
	try, _ := again.Get("/settings/notifications").Find("[action$='/try']").Attr("action")
	again.Post(try).Want(http.StatusSeeOther)
	if n := len(other.taken()); n != 2 {
		t.Errorf("%d pushes after a try", n)
	}
	f.cas.Post(try).Want(http.StatusNotFound)
	remove := strings.TrimSuffix(try, "try") + "remove"
	f.cas.Post(remove).Want(http.StatusNotFound)
	again.Post(remove).Want(http.StatusSeeOther)
	again.Post(try).Want(http.StatusNotFound)

	bad := again.JSON("/settings/notifications/browsers", map[string]any{"endpoint": "ftp://x", "keys": map[string]string{"p256dh": "AA", "auth": "AA"}})
	bad.Want(http.StatusUnprocessableEntity)
	f.Anon().JSON("/settings/notifications/browsers", map[string]any{}).Want(http.StatusSeeOther)
}
