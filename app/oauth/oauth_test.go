package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const verifier = "a-verifier-that-is-long-enough-for-the-rule-of-43"

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// app makes an app on the pages; it returns its client id and, with secret,
// a client secret.
func app(t *testing.T, c *apptest.Client, secret bool, pairs ...string) (id, text string) {
	t.Helper()
	pairs = append([]string{"name", "Helper", "callbacks", "https://app.example/cb?x=1\nhttp://127.0.0.1/done"}, pairs...)
	at := c.Post("/settings/developers", pairs...).Want(303).Location()
	if secret {
		c.Post(at + "/secrets").Want(303)
		page := c.Get(at).OK()
		text, _ = page.Find("input[readonly]").Attr("value")
		return page.Text("code"), text
	}
	return c.Get(at).OK().Text("main code"), ""
}

// call sends a form to one of the machines' addresses and reads the JSON.
func call(t *testing.T, c *apptest.Client, path string, pairs ...string) map[string]any {
	t.Helper()
	r := c.Do(http.MethodPost, path, strings.NewReader(apptest.Form(pairs...).Encode()),
		"Content-Type", "application/x-www-form-urlencoded", "Accept", "application/json").OK()
	var out map[string]any
	if err := json.Unmarshal([]byte(r.Body), &out); err != nil {
		t.Fatalf("%s: %s", path, r.Body)
	}
	return out
}

func token(t *testing.T, c *apptest.Client, pairs ...string) map[string]any {
	t.Helper()
	return call(t, c, "/login/oauth/access_token", pairs...)
}

// agree walks through the page of consent and returns what the app gets back.
func agree(t *testing.T, c *apptest.Client, decision string, pairs ...string) url.Values {
	t.Helper()
	page := c.Get("/login/oauth/authorize?" + apptest.Form(pairs...).Encode()).OK()
	form := url.Values{"decision": {decision}}
	page.Find(`form[action="/login/oauth/authorize"] input[type=hidden]`).Each(func(_ int, in *goquery.Selection) {
		name, _ := in.Attr("name")
		value, _ := in.Attr("value")
		form.Set(name, value)
	})
	return back(t, c.PostForm("/login/oauth/authorize", form).Want(303))
}

func back(t *testing.T, r *apptest.Response) url.Values {
	t.Helper()
	u, err := url.Parse(r.Location())
	if err != nil || u.Host != "app.example" && u.Hostname() != "127.0.0.1" {
		t.Fatalf("sent to %s", r.Location())
	}
	return u.Query()
}

// who asks the API whose token this is.
func who(t *testing.T, s *apptest.Server, text any) (int, string) {
	t.Helper()
	c := s.Anon()
	c.Token, _ = text.(string)
	r := c.API(http.MethodGet, "/user", nil)
	if r.Status != http.StatusOK {
		return r.Status, ""
	}
	name, _ := r.JSON()["login"].(string)
	return r.Status, name
}

func TestCodeWithSecret(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	maker, ann, anon := s.User(t, "maker"), s.User(t, "ann"), s.Anon()
	dbtest.Repo(t, s.DB, ann.Account, "hidden", dbtest.RepoOpts{Private: true})
	id, secret := app(t, maker, true, "expires", "true")
	if id == "" || secret == "" {
		t.Fatalf("app %q, secret %q", id, secret)
	}
	ask := []string{"client_id", id, "scope", "repo unheard:of read:user", "state", "s&t=1", "redirect_uri", "https://app.example/cb?x=1"}
	if to := anon.Get("/login/oauth/authorize?" + apptest.Form(ask...).Encode()).Want(303).Location(); !strings.HasPrefix(to, "/login?next=") {
		t.Errorf("a stranger is sent to %s", to)
	}
	page := ann.Get("/login/oauth/authorize?" + apptest.Form(ask...).Encode()).OK()
	page.Has("Helper").Has("maker").Has("It could change 1 repository, and see 1 that is private, of ann.")
	if csp := page.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self' https://app.example;") {
		t.Errorf("forms may lead to %s", csp)
	}
	if q := agree(t, ann, "no", ask...); q.Get("error") != "access_denied" || q.Get("state") != "s&t=1" || q.Get("x") != "1" {
		t.Errorf("refused: %v", q)
	}
	q := agree(t, ann, "yes", ask...)
	code := q.Get("code")
	if code == "" || q.Get("state") != "s&t=1" || q.Get("iss") == "" {
		t.Fatalf("agreed: %v", q)
	}
	if got := token(t, anon, "client_id", id, "client_secret", "wrong", "code", code); got["error"] != "incorrect_client_credentials" {
		t.Errorf("a wrong secret: %v", got)
	}
	out := token(t, anon, "client_id", id, "client_secret", secret, "code", code, "redirect_uri", "https://app.example/cb?x=1")
	if out["token_type"] != "bearer" || out["scope"] != "repo,read:user" || out["refresh_token"] == nil || out["expires_in"] != float64(8*3600) {
		t.Fatalf("tokens: %v", out)
	}
	if status, name := who(t, s, out["access_token"]); name != "ann" {
		t.Errorf("the token acts for %q (%d)", name, status)
	}
	ann.Get("/settings/applications").OK().Has("Helper").Has("repo, read:user")

	// Who agreed is not asked again by an app that proves itself.
	again := back(t, ann.Get("/login/oauth/authorize?"+apptest.Form(ask...).Encode()).Want(303))
	if again.Get("code") == "" {
		t.Errorf("asked again: %v", again)
	}
	wider := append(ask[:2:2], "scope", "delete_repo", "redirect_uri", "https://app.example/cb?x=1")
	ann.Get("/login/oauth/authorize?" + apptest.Form(wider...).Encode()).OK() // more is asked

	// A code that comes twice ends what it gave.
	if got := token(t, anon, "client_id", id, "client_secret", secret, "code", code); got["error"] != "bad_verification_code" {
		t.Errorf("the code again: %v", got)
	}
	if status, _ := who(t, s, out["access_token"]); status != 401 {
		t.Errorf("after a reused code the token answers %d", status)
	}
	ann.Post("/settings/applications/revoke", "client_id", id).Want(303)
	ann.Get("/settings/applications").OK().Has("There are none")
}

func TestRefreshRotation(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, anon := s.User(t, "ann"), s.Anon()
	id, _ := app(t, ann, false, "expires", "true")
	ask := []string{"client_id", id, "scope", "repo notifications", "redirect_uri", "http://127.0.0.1:9876/done", "code_challenge", challenge(), "code_challenge_method", "S256"}
	q := agree(t, ann, "yes", ask...)
	code := q.Get("code")
	if got := token(t, anon, "client_id", id, "code", code, "redirect_uri", "http://127.0.0.1:9876/done", "code_verifier", verifier+"x"); got["error"] != "invalid_grant" {
		t.Errorf("a wrong verifier: %v", got)
	}
	q = agree(t, ann, "yes", ask...)
	first := token(t, anon, "client_id", id, "code", q.Get("code"), "redirect_uri", "http://127.0.0.1:9876/done", "code_verifier", verifier)
	if first["access_token"] == nil {
		t.Fatalf("tokens: %v", first)
	}
	refresh := func(of map[string]any, more ...string) map[string]any {
		t.Helper()
		text, _ := of["refresh_token"].(string)
		return token(t, anon, append([]string{"client_id", id, "grant_type", "refresh_token", "refresh_token", text}, more...)...)
	}
	if got := refresh(first, "scope", "repo site_admin"); got["error"] != "invalid_scope" {
		t.Errorf("more than was granted: %v", got)
	}
	second := refresh(first)
	if status, _ := who(t, s, first["access_token"]); status != 401 {
		t.Errorf("the old token still answers %d", status)
	}
	if _, name := who(t, s, second["access_token"]); name != "ann" {
		t.Fatalf("the new token: %v", second)
	}
	// The first refresh token again: a thief, or the app after one.
	if got := refresh(first); got["error"] != "invalid_grant" {
		t.Errorf("reused: %v", got)
	}
	if status, _ := who(t, s, second["access_token"]); status != 401 {
		t.Errorf("after reuse the newest token answers %d", status)
	}
	if got := refresh(second); got["error"] != "invalid_grant" {
		t.Errorf("the newest refresh token after reuse: %v", got)
	}
	// Its access token is good for the API only, its refresh token for nothing
	// but renewing.
	if status, _ := who(t, s, second["refresh_token"]); status != 401 {
		t.Errorf("a refresh token answers %d", status)
	}
}

func TestAuthorizeRefuses(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	id, _ := app(t, ann, false)
	ask := func(pairs ...string) *apptest.Response {
		return ann.Get("/login/oauth/authorize?" + apptest.Form(pairs...).Encode())
	}
	// Nobody is sent to an address that was not registered.
	for _, to := range []string{"https://evil.example/", "https://app.example/cb", "https://app.example/cb?x=1&y=2", "https://app.example.evil.example/cb?x=1",
		"http://127.0.0.1:1/other", "http://user@127.0.0.1/done", "javascript:alert(1)", "//app.example/cb?x=1"} {
		r := ask("client_id", id, "redirect_uri", to, "code_challenge", challenge(), "code_challenge_method", "S256")
		if r.Status != http.StatusBadRequest || r.Location() != "" {
			t.Errorf("%s: %d, sent to %q", to, r.Status, r.Location())
		}
	}
	ask("client_id", "app1.nothing").Want(400)
	// The app is told what is wrong with its request.
	for name, pairs := range map[string][]string{
		"invalid_request":           {"client_id", id, "redirect_uri", "http://127.0.0.1:5/done"},
		"unsupported_response_type": {"client_id", id, "redirect_uri", "http://127.0.0.1:5/done", "response_type", "token"},
	} {
		if q := back(t, ask(pairs...).Want(303)); q.Get("error") != name {
			t.Errorf("%v: %v", pairs, q)
		}
	}
	plain := back(t, ask("client_id", id, "redirect_uri", "http://127.0.0.1/done", "code_challenge", challenge(), "code_challenge_method", "plain").Want(303))
	if plain.Get("error") != "invalid_request" {
		t.Errorf("plain: %v", plain)
	}
	// The form's own fields are checked again.
	ann.Post("/login/oauth/authorize", "client_id", id, "redirect_uri", "https://evil.example/", "decision", "yes").Want(400)
	for _, bad := range []string{"ftp://x.example/", "http://example.com/", "https://x.example/#y", "myapp:/cb", "javascript:alert(1)"} {
		ann.Post("/settings/developers", "name", "X", "callbacks", bad).Want(422)
	}
	ann.Post("/settings/developers", "name", "X", "callbacks", "com.example.app:/cb").Want(303)
}

func TestDeviceFlow(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, eve, anon := s.User(t, "ann"), s.User(t, "eve"), s.Anon()
	_ = eve
	start := call(t, anon, "/login/device/code", "client_id", "g1t", "scope", "repo")
	device, _ := start["device_code"].(string)
	user, _ := start["user_code"].(string)
	if len(user) != 9 || device == "" || start["interval"] != float64(5) || !strings.HasSuffix(start["verification_uri"].(string), "/login/device") {
		t.Fatalf("codes: %v", start)
	}
	poll := func() map[string]any {
		return token(t, anon, "client_id", "g1t", "device_code", device, "grant_type", "urn:ietf:params:oauth:grant-type:device_code")
	}
	if got := poll(); got["error"] != "authorization_pending" {
		t.Errorf("pending: %v", got)
	}
	if got := poll(); got["error"] != "slow_down" {
		t.Errorf("too often: %v", got)
	}
	anon.Get("/login/device").Want(303)
	ann.Post("/login/device", "user_code", "BCDF-GHJK").Want(422).Has("BCDF-GHJK")
	page := ann.Post("/login/device", "user_code", strings.ToLower(strings.ReplaceAll(user, "-", " ")))
	page.OK().Has("g1t").Has("Go on only if that was you")
	ann.Post("/login/device/confirm", "user_code", user, "decision", "yes").Want(303)
	ann.Post("/login/device/confirm", "user_code", user, "decision", "yes").Want(410)
	out := poll()
	if out["access_token"] == nil || out["refresh_token"] != nil || out["scope"] != "repo" {
		t.Fatalf("tokens: %v", out)
	}
	if _, name := who(t, s, out["access_token"]); name != "ann" {
		t.Errorf("the token acts for %q", name)
	}
	if got := poll(); got["error"] != "expired_token" {
		t.Errorf("once more: %v", got)
	}
	ann.Get("/settings/applications").OK().Has("g1t")
	ann.Post("/settings/applications/revoke", "client_id", "g1t").Want(303)
	if status, _ := who(t, s, out["access_token"]); status != 401 {
		t.Errorf("revoked, it answers %d", status)
	}

	start = call(t, anon, "/login/device/code", "client_id", "178c6fc778ccc68e1d6a")
	device, _ = start["device_code"].(string)
	ann.Post("/login/device/confirm", "user_code", start["user_code"].(string), "decision", "no").Want(303)
	if got := token(t, anon, "client_id", "178c6fc778ccc68e1d6a", "device_code", device, "grant_type", "urn:ietf:params:oauth:grant-type:device_code"); got["error"] != "access_denied" {
		t.Errorf("refused: %v", got)
	}
	// Without asking for JSON the answer is a form, as GitHub's.
	r := anon.Do(http.MethodPost, "/login/device/code", strings.NewReader("client_id=g1t"), "Content-Type", "application/x-www-form-urlencoded").OK()
	if q, err := url.ParseQuery(r.Body); err != nil || q.Get("device_code") == "" {
		t.Errorf("%v: %s", err, r.Body)
	}
}

func TestDeletedAppAndRevocation(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	maker, ann, anon := s.User(t, "maker"), s.User(t, "ann"), s.Anon()
	id, secret := app(t, maker, true)
	give := func() map[string]any {
		q := agree(t, ann, "yes", "client_id", id, "prompt", "consent", "scope", "repo", "redirect_uri", "https://app.example/cb?x=1")
		return token(t, anon, "client_id", id, "client_secret", secret, "code", q.Get("code"), "redirect_uri", "https://app.example/cb?x=1")
	}
	one, two := give(), give()
	if one["refresh_token"] != nil {
		t.Errorf("an app whose tokens do not end: %v", one)
	}
	call(t, anon, "/login/oauth/revoke", "client_id", id, "client_secret", secret, "token", one["access_token"].(string))
	if status, _ := who(t, s, one["access_token"]); status != 401 {
		t.Errorf("revoked, it answers %d", status)
	}
	if _, name := who(t, s, two["access_token"]); name != "ann" {
		t.Errorf("another token of the app: %q", name)
	}
	at, _ := maker.Get("/settings/developers").OK().Find(`a[href^="/settings/developers/"]:not([href$="new"])`).Attr("href")
	ann.Get(at).Want(404)
	maker.Get("/settings/developers").OK().Has("1 person")
	maker.Post(at + "/delete").Want(303)
	if status, _ := who(t, s, two["access_token"]); status != 401 {
		t.Errorf("after the app's end the token answers %d", status)
	}
	// Suspended people's tokens are refused, and no new one is given.
	dbtest.Exec(t, s.DB, "UPDATE directory.accounts SET suspended_at = now() WHERE id = ?", ann.Account.ID)
	_ = model.KindUser
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	got := s.Anon().Get("/.well-known/oauth-authorization-server").OK().JSON()
	if got["token_endpoint"] == nil || got["issuer"] == nil {
		t.Errorf("metadata: %v", got)
	}
}
