package settings_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
	"golang.org/x/crypto/ssh"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var pages = []string{"profile", "account", "emails", "appearance", "organizations", "passkeys", "sessions", "keys", "tokens", "tokens/new"}

func TestPagesNeedSigningIn(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	for _, page := range pages {
		ann.Get("/settings/" + page).OK()
		if to := s.Anon().Get("/settings/" + page).Want(http.StatusSeeOther).Location(); to != "/login?next=%2Fsettings%2F"+strings.ReplaceAll(page, "/", "%2F") {
			t.Errorf("%s sends strangers to %s", page, to)
		}
	}
	if to := s.Anon().Get("/settings").Location(); !strings.HasPrefix(to, "/login") {
		t.Errorf("/settings sends strangers to %s", to)
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	r := ann.Post("/settings/profile", "display_name", "Ann <b>", "bio", "Hello\nworld", "website", "javascript:alert(1)").Want(422)
	if r.Find("#website[aria-invalid]").Length() != 1 || r.Find("#display_name").AttrOr("value", "") != "Ann <b>" {
		t.Errorf("a wrong website: %s", r.Text("form"))
	}
	ann.Post("/settings/profile", "display_name", "Ann <b>", "bio", "Hello\nworld", "website", "example.com/x", "location", "Here", "company", "ACME").Want(303)
	page := s.Anon().Get("/ann").OK()
	for _, want := range []string{"Ann <b>", "Hello world", "example.com/x", "Here", "ACME"} {
		if !strings.Contains(page.Text("main"), want) {
			t.Errorf("the page lacks %q: %s", want, page.Text("main"))
		}
	}
	if page.Find(`a[href="https://example.com/x"]`).Length() != 1 {
		t.Error("the website is no link")
	}
	ann.Post("/settings/profile", "public_email", "eve@example.com").Want(422)
}

func TestRename(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "x"}).Want(201)
	ann.Post("/settings/account/name", "username", "BOB").Want(422).Has("taken")
	ann.Post("/settings/account/name", "username", "a/b").Want(422).Has("slash")
	ann.Post("/settings/account/name", "username", "Ann").Want(303)
	if got := s.Anon().Get("/ann").OK().Text("h1"); got != "Ann" {
		t.Errorf("after a change of case the page is headed %q", got)
	}
	ann.Post("/settings/account/name", "username", "anna").Want(303)
	if to := s.Anon().Get("/ann").Want(301).Location(); to != "/anna" {
		t.Errorf("the old name leads to %q", to)
	}
	if to := s.Anon().Get("/Ann/x").Want(301).Location(); to != "/anna/x" {
		t.Errorf("a repository below the old name leads to %q", to)
	}
	if to := s.Anon().API(http.MethodGet, "/repos/ann/x", nil).Want(301).Location(); !strings.HasSuffix(to, "/api/v3/repos/anna/x") {
		t.Errorf("the API below the old name leads to %q", to)
	}
	bob.Post("/settings/account/name", "username", "ann").Want(303)
	s.Anon().Get("/ann").OK().Has("ann")
	s.Anon().Get("/ann/x").Want(404)
	ann.Post("/settings/account/name", "username", "ann").Want(422)
}

func TestEmails(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	ann.Post("/settings/emails", "email", "nonsense").Want(422).Has("does not look like")
	ann.Post("/settings/emails", "email", "two@example.com").Want(303)
	ann.Post("/settings/emails", "email", "TWO@example.com").Want(422).Has("already")
	ann.Post("/settings/emails/remove", "email", "ann@example.com").Want(409)
	ann.Post("/settings/emails/primary", "email", "eve@example.com").Want(404)
	ann.Post("/settings/emails/primary", "email", "two@example.com").Want(303)
	ann.Post("/settings/emails/remove", "email", "ann@example.com").Want(303)
	ann.Post("/settings/emails/privacy", "private", "true").Want(303)
	page := ann.Get("/settings/emails").OK()
	if strings.Contains(page.Text("main"), "ann@example.com") || page.Find("#private[checked]").Length() != 1 {
		t.Errorf("the page shows %s", page.Text("main"))
	}
	path, err := s.App.Auth.NewEmailLink(t.Context(), ann.Account.ID, "two@example.com")
	if err != nil {
		t.Fatal(err)
	}
	s.Anon().Get(path).OK().Has("two@example.com")
	s.Anon().Post(path).Want(303)
	s.Anon().Post(path).Want(410)
	ann.Get("/settings/emails").OK().Has("Confirmed")
}

func TestAppearance(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	ann.Post("/settings/appearance", "theme", "pink").Want(422)
	ann.Post("/settings/appearance", "theme", "dark", "time_zone", "Mars/North").Want(422)
	ann.Post("/settings/appearance", "theme", "dark", "diff_cb", "true", "time_zone", "Europe/Berlin").Want(303)
	html := ann.Get("/settings/appearance").OK().Find("html")
	if html.AttrOr("data-theme", "") != "dark" || html.AttrOr("data-diff", "") != "cb" {
		t.Errorf("the page has theme %q and diff %q", html.AttrOr("data-theme", ""), html.AttrOr("data-diff", ""))
	}
	ann.Post("/settings/appearance", "theme", "light").Want(303)
	if html := ann.Get("/settings/appearance").Find("html"); html.AttrOr("data-diff", "") != "" {
		t.Error("the diff colours stay though they were unchecked")
	}
}

func sshKey(t *testing.T, key any) string {
	t.Helper()
	pub, err := ssh.NewPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(pub)))
}

func edKey(t *testing.T) string {
	t.Helper()
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return sshKey(t, pub)
}

func TestSSHKeys(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	key := edKey(t)
	ann.Post("/settings/keys/ssh", "key", key+" ann@laptop").Want(303)
	ann.Get("/settings/keys").OK().Has("ann@laptop").Has("SHA256:")
	bob.Post("/settings/keys/ssh", "key", key).Want(422).Has("in use already")
	ann.Post("/settings/keys/ssh", "key", key).Want(422).Has("in use already")
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	good, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"": "Paste", "hello": "no public key", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc": "private key",
		sshKey(t, &short.PublicKey): "2,048", key + "\n" + key: "one line", `command="x" ` + edKey(t): "no public key",
		"ssh-dss AAAAB3NzaC1kc3MAAACBAPY8ZOHY2yFSJA6XYC9HRwNHxaehvx5wOJ0rzZdzoSOXxbETW6ToHv8D1UJ/z+zHo9Fiko5XybZnDIaBDHtblQ+Yp7StxyltHnXF1YLfKD1G4T6JYrdHYI14Om1eg9e4NnCRleaqoZPF3UGfZia6bXrGTQf3gJq2e7Yisk/gF+1VAAAAFQDb8D5cvwHWTZDPfX0D2s9Rd7NBvQAAAIEAlN92+Bb7D4KLYk3IwRbXblwXdkPggA4pfdtW9vGfJ0/RHd+NjB4eo1D+0dix6tXwYGN7PKS5R/FXPNwxHPapcj9uL1Jn2AWQ2dsknf+i/FAAvioUPkmdMc0zuWoSOEsSNhVDtX3WdvVcGcBq9cetzrtOKWOocJmJ80qadxTRHtUAAACBAN7CY+KKv1gHpRzFwdQm7HK9bb1LAo2KwaoXnadFgeptNBQeSXG1vO+JsvphVMBJc9HSn24VYtYtsMu74qXviYjziVucWKjjKEb11juqnF0GDlB3VVmxHLmxnAz643WK42Z7dLM5sY29ouezv4Xz2PuMch5VGPP+CDqzCM4loWgV": "ssh-dss",
	} {
		ann.Post("/settings/keys/ssh", "key", text).Want(422).Has(want)
	}
	ann.Post("/settings/keys/ssh", "key", sshKey(t, &good.PublicKey), "title", "Old one").Want(303)
	page := ann.Get("/settings/keys").OK()
	action, _ := page.Find(`form[action$="/remove"]`).Last().Attr("action")
	ann.Post(action).Want(303)
	bob.Post(action).Want(404)
	bob.Post("/settings/keys/ssh", "key", key).Want(303) // free again
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "one", "private": true}).Want(201)
	ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "two", "private": true}).Want(201)
	ann.Post("/settings/tokens", "name", "", "expires", "30").Want(422)
	ann.Post("/settings/tokens", "name", "x", "expires", "30", "reach", "some", "repos", "ann/none").Want(422).Has("ann/none")
	ann.Post("/settings/tokens", "name", "x", "expires", "30", "scopes", "nonsense").Want(422)
	form := apptest.Form("name", "Laptop", "expires", "30", "reach", "some", "repos", "ann/one", "scopes", "repo", "scopes", "read:user")
	ann.PostForm("/settings/tokens", form).Want(303)
	page := ann.Get("/settings/tokens").OK()
	text := page.Find("[data-token]").AttrOr("value", "")
	if !regexp.MustCompile(`^g1t_pat_`).MatchString(text) {
		t.Fatalf("the page shows the token %q", text)
	}
	if ann.Get("/settings/tokens").Find("[data-token]").Length() != 0 {
		t.Error("the token is shown twice")
	}
	use := s.Anon()
	use.Token = text
	use.API(http.MethodGet, "/repos/ann/one", nil).OK()
	use.API(http.MethodGet, "/repos/ann/two", nil).Want(404)
	if got := use.API(http.MethodGet, "/user", nil).OK().Header.Get("X-OAuth-Scopes"); got != "repo, read:user" {
		t.Errorf("X-OAuth-Scopes is %q", got)
	}
	use.API(http.MethodGet, "/user/keys", nil).Want(403)
	action, _ := page.Find(`form[action$="/revoke"]`).First().Attr("action")
	ann.Post(action).Want(303)
	use.API(http.MethodGet, "/user", nil).Want(401)
}

func TestSessions(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	other := s.As(t, ann.Account)
	page := ann.Get("/settings/sessions").OK()
	if n := page.Find("[data-session]").Length(); n != 2 {
		t.Fatalf("%d sessions", n)
	}
	id := page.Find("input[name=session]").AttrOr("value", "")
	bob.Post("/settings/sessions/end", "session", id).Want(303) // of no effect on others
	other.Get("/settings/profile").OK()
	ann.Post("/settings/sessions/end", "session", id).Want(303)
	other.Get("/settings/profile").Want(303)
	third := s.As(t, ann.Account)
	ann.Post("/settings/sessions/end-others").Want(303)
	third.Get("/settings/profile").Want(303)
	ann.Get("/settings/profile").OK()
	ann.Post("/logout").Want(303)
	ann.Get("/settings/profile").Want(303)
}

// A form that another site sends does nothing.
func TestCrossSite(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "same-site", "Origin", "http://localhost:1"}} {
		all := append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)
		ann.Do(http.MethodPost, "/settings/profile", strings.NewReader("display_name=evil"), all...).Want(403)
		ann.Do(http.MethodPost, "/-/theme", strings.NewReader("theme=dark"), all...).Want(401)
	}
	if strings.Contains(ann.Get("/ann").Body, "evil") {
		t.Error("the form of another site was taken")
	}
}

// What is dangerous needs a proof of identity not older than some minutes.
func TestSudo(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	scope := s.DB.Account(ann.Account.ID).Scope().String()
	dbtest.Exec(t, s.DB, fmt.Sprintf(`UPDATE %s.sessions SET data = jsonb_set(data, '{sudo_at}', '"2020-01-01T00:00:00Z"')`, scope))
	s.App.Auth.Forget(t.Context(), ann.Account.ID)
	for _, path := range []string{"/settings/passkeys", "/settings/tokens/new"} {
		if to := ann.Get(path).Want(303).Location(); !strings.HasPrefix(to, "/sudo?next=") {
			t.Errorf("%s leads to %s", path, to)
		}
	}
	for _, path := range []string{"/settings/keys/ssh", "/settings/tokens", "/settings/account/delete", "/settings/account/name", "/settings/passkeys/recovery-codes", "/settings/emails/primary"} {
		if to := ann.Post(path, "name", "ann", "key", "x").Want(303).Location(); !strings.HasPrefix(to, "/sudo?next=") {
			t.Errorf("%s leads to %s", path, to)
		}
	}
	ann.JSON("/settings/passkeys/options", map[string]string{}).Want(403)
	ann.Get("/sudo?next=%2Fsettings%2Fkeys").OK()
	ann.Post("/sudo", "code", "0000-0000-0000", "next", "//evil.example").Want(422)
}

func TestDeleteAndRestore(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	s.User(t, "root0")
	ann := s.User(t, "ann")
	ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "x"}).Want(201)
	ann.Post("/settings/account/delete", "name", "bob").Want(422)
	ann.Post("/settings/account/delete", "name", "ann").Want(303)
	for _, path := range []string{"/ann", "/ann/x"} {
		s.Anon().Get(path).Want(404)
	}
	ann.Get("/settings/profile").Want(303)
	ann.API(http.MethodGet, "/user", nil).Want(401)
	if err := s.App.Accounts.Restore(t.Context(), ann.Account.ID); err != nil {
		t.Fatal(err)
	}
	s.Anon().Get("/ann").OK()
	s.Anon().Get("/ann/x").OK()
	ann.API(http.MethodGet, "/user", nil).OK()
}

// TestCredentials finds every kind on one page, and what was revoked below.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	ann.Post("/settings/tokens", "name", "Old one", "expires", "30", "reach", "all", "scopes", "repo").Want(303)
	page := ann.Get("/settings/credentials").OK().Has("Old one").Has("Access token")
	if page.Find("table tbody tr").Length() < 2 {
		t.Error("tokens are missing")
	}
	ann.Get("/settings/credentials").OK().Has("personal_access_token.create")
	s.Anon().Get("/settings/credentials").Want(303)
}
