package auth_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/apptest/browser"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/db/dbtest"
)

const submit = "main button[type=submit]"

// signUp makes an account in the tab and returns its recovery codes.
func signUp(t *testing.T, b *browser.Tab, name string) []string {
	t.Helper()
	b.Go("/signup")
	if n := browser.Eval[int](b, `document.querySelectorAll("main button:not([type=button])").length`); n != 1 {
		t.Errorf("the sign-up page has %d submit buttons", n)
	}
	b.Fill("#username", name)
	b.Fill("#email", name+"@example.com")
	b.Click(submit)
	b.WaitURL("/signup/recovery-codes")
	codes := strings.Split(browser.Eval[string](b, `[...document.querySelectorAll("[data-recovery-code]")].map((c) => c.innerText).join(" ")`), " ")
	if len(codes) != 10 {
		t.Fatalf("the page shows %q", codes)
	}
	return codes
}

func signOut(b *browser.Tab) {
	b.Go("/logout")
	b.Click(submit)
	b.WaitURL("/")
}

// The whole way: sign up, out, in by name and by the browser's own list, lose
// the key, come back with a recovery code, add a new key, sign in with it.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	b := browser.Open(t, browser.Start(t), s)
	b.Key(nil)
	codes := signUp(t, b, "ann")
	b.Shot("codes")
	b.Click("[name=kept]")
	b.Click(submit)
	b.WaitURL("/")
	b.Go("/signup/recovery-codes")
	b.WaitURL("/settings/passkeys") // shown once

	signOut(b)
	b.Go("/settings")
	b.WaitURL("/login")
	b.Fill("#username", "ANN")
	b.Click(submit)
	b.WaitURL("/settings/profile")

	signOut(b)
	b.Go("/login")
	b.Click(submit) // no name: the browser's list
	b.WaitURL("/")
	if got := browser.Eval[string](b, `document.body.dataset.viewer`); got != "ann" {
		t.Errorf("signed in as %q", got)
	}

	signOut(b)
	b.Unplug()
	b.Key(nil)
	b.Go("/login/recovery")
	b.Fill("#username", "ann")
	b.Fill("#code", "0000-0000-0000")
	b.Click(submit)
	b.WaitText("main", "do not go together")
	b.Fill("#code", strings.ToUpper(codes[3]))
	b.Click(submit)
	b.WaitURL("/settings/passkeys")
	b.Fill("#name", "New key")
	b.Click("form[data-passkey] button[type=submit]")
	b.WaitText("main", "New key")

	signOut(b)
	b.Go("/login/recovery")
	b.Fill("#username", "ann")
	b.Fill("#code", codes[3])
	b.Click(submit)
	b.WaitText("main", "used before")

	b.Go("/login")
	b.Click(submit)
	b.WaitURL("/")
	if said := slices.DeleteFunc(b.Console(), func(s string) bool { return strings.Contains(s, "422") }); len(said) > 0 {
		t.Errorf("console: %q", said)
	}
}

// Each refusal says what to do, and leaves the page ready for another try.
func TestPasskeyRefusals(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	b := browser.Open(t, browser.Start(t), s)
	b.Key(nil)
	signUp(t, b, "ann")
	signOut(b)

	b.Go("/login")
	b.Verified(false) // the person closes the window, or the finger does not match
	b.Click(submit)
	b.WaitText("main", "the window was closed")
	b.Verified(true)
	b.Click(submit) // the same page can try again
	b.WaitURL("/")
	signOut(b)

	b.Go("/signup")
	b.Verified(false)
	b.Fill("#username", "eve")
	b.Fill("#email", "eve@example.com")
	b.Click(submit)
	b.WaitText("main", "No passkey was made")
	b.Fill("#username", "Ann")
	b.Click(submit)
	b.WaitText("main", "taken")
	b.Fill("#username", "admin")
	b.Click(submit)
	b.WaitText("main", "reserved")
	b.Verified(true)

	anon := s.Anon()
	first := proof(t, b, anon)
	anon.JSON("/login/passkey", first).OK()
	if r := anon.JSON("/login/passkey", first); r.Status != http.StatusConflict || !strings.Contains(r.Body, "good once") {
		t.Errorf("a replayed answer: %d %s", r.Status, r.Body)
	}

	late := proof(t, b, anon)
	if _, err := s.DB.Cell().NewRaw("UPDATE cell.challenges SET expires_at = '2020-01-01' WHERE id = ?", late["id"]).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := anon.JSON("/login/passkey", late); r.Status != http.StatusConflict || !strings.Contains(r.Body, "longer than five minutes") {
		t.Errorf("an expired answer: %d %s", r.Status, r.Body)
	}

	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<title>x</title>")) }))
	defer elsewhere.Close()
	b.Go(strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1) + "/")
	if r := anon.JSON("/login/passkey", proofHere(t, b, anon)); r.Status != http.StatusForbidden || !strings.Contains(r.Body, "belong to "+s.URL) {
		t.Errorf("an answer of another origin: %d %s", r.Status, r.Body)
	}
	b.Go("/login")

	forged := proof(t, b, anon)
	forged["credential"].(map[string]any)["response"].(map[string]any)["signature"] = "MEUCIQ"
	if r := anon.JSON("/login/passkey", forged); r.Status != http.StatusForbidden || !strings.Contains(r.Body, "could not be verified") {
		t.Errorf("a forged answer: %d %s", r.Status, r.Body)
	}
	garbled := proof(t, b, anon)
	garbled["credential"] = "x"
	if r := anon.JSON("/login/passkey", garbled); r.Status != http.StatusBadRequest || !strings.Contains(r.Body, "could not be read") {
		t.Errorf("a garbled answer: %d %s", r.Status, r.Body)
	}

	ann := s.DB.Account(1).Scope().String()
	dbtest.Exec(t, s.DB, "DELETE FROM "+ann+".credentials WHERE kind = 'passkey'")
	b.Go("/login")
	b.Click(submit)
	b.WaitText("main", "is not known here")
	for _, line := range b.Console() {
		if !strings.Contains(line, "the server responded with a status of") && !strings.Contains(line, "favicon") {
			t.Errorf("console: %s", line)
		}
	}
}

// proof asks for a sign-in attempt and lets the tab's key answer it, at the
// sign-in page.
func proof(t *testing.T, b *browser.Tab, c *apptest.Client) map[string]any {
	t.Helper()
	b.Go("/login")
	return proofHere(t, b, c)
}

func proofHere(t *testing.T, b *browser.Tab, c *apptest.Client) map[string]any {
	t.Helper()
	attempt := c.JSON("/login/options", map[string]string{}).OK()
	text := browser.Eval[string](b, fmt.Sprintf(`(async () => {
		const { id, options } = %s;
		const bytes = (t) => Uint8Array.from(atob(t.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
		const credential = await navigator.credentials.get({ publicKey: { ...options, challenge: bytes(options.challenge) } });
		return JSON.stringify({ id, credential: credential.toJSON() });
	})()`, attempt.Body))
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The first account of an instance that strangers can reach needs the set-up
// code.
func TestSetupCode(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, func(c *app.Config) { c.SetupCode = "abcd-efgh" })
	b := browser.Open(t, browser.Start(t), s)
	b.Key(nil)
	b.Go("/signup")
	b.Fill("#username", "ann")
	b.Fill("#email", "ann@example.com")
	b.Fill("#code", "wrong")
	b.Click(submit)
	b.WaitText("main", "not the set-up code")
	b.Fill("#code", " abcd-efgh ")
	b.Click(submit)
	b.WaitURL("/signup/recovery-codes")
	s.Anon().Get("/signup").OK()
	if s.Anon().Get("/signup").Find("#code").Length() != 0 {
		t.Error("the second account is asked for the code")
	}
}

// An operator's link adds a passkey once.
func TestPasskeyLink(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	path, err := s.App.Auth.NewPasskeyLink(t.Context(), ann.Account.ID)
	if err != nil {
		t.Fatal(err)
	}
	b := browser.Open(t, browser.Start(t), s)
	b.Key(nil)
	b.Go(path)
	b.Shot("link")
	b.Click(submit)
	b.WaitURL("/signup/recovery-codes")
	signOut(b)
	b.Go(path)
	b.WaitText("main", "used before")
	b.Go("/login")
	b.Click(submit)
	b.WaitURL("/")
	if got := browser.Eval[string](b, `document.body.dataset.viewer`); got != "ann" {
		t.Errorf("signed in as %q", got)
	}
	s.Anon().Get(path + "x").Want(http.StatusNotFound)
}

// Who deleted the account signs in and has it back.
func TestRestore(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	b := browser.Open(t, browser.Start(t), s)
	b.Key(nil)
	signUp(t, b, "ann")
	b.Go("/settings/account")
	b.Fill("#delete-name", "ann")
	b.Click("#delete button")
	b.WaitURL("/")
	s.Anon().Get("/ann").Want(http.StatusNotFound)
	b.Go("/login")
	b.Click(submit)
	b.WaitText("main", "Restore ann?")
	b.Click(submit)
	b.WaitURL("/")
	s.Anon().Get("/ann").OK()
	if got := browser.Eval[string](b, `document.body.dataset.viewer`); got != "ann" {
		t.Errorf("signed in as %q", got)
	}
}

// A passkey made at one address does not work at another, so the page leads to
// the proper one.
func TestProperAddress(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	b := browser.Open(t, browser.Start(t), s)
	b.Go(s.Server.URL + "/login?next=%2Fexplore") // 127.0.0.1
	b.WaitURL("/login")
	for i := 0; browser.Eval[string](b, "location.origin") != s.URL; i++ {
		if i == 100 {
			t.Fatalf("the page stays at %s", browser.Eval[string](b, "location.href"))
		}
		<-time.After(50 * time.Millisecond)
	}
	if got := browser.Eval[string](b, "location.search"); got != "?next=%2Fexplore" {
		t.Errorf("the query is %q", got)
	}
}

// The passkeys' host is fixed at the first start.
func TestRelyingPartyIsFixed(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	start := func(url, rpID string) error {
		a := auth.New(auth.Deps{DB: s.DB, Ring: s.App.Ring, Accounts: s.App.Accounts, URL: url, RPID: rpID})
		err := a.Start(t.Context())
		if err == nil {
			err = a.Stop(t.Context())
		}
		return err
	}
	if err := start("https://git.example.com", ""); !errors.Is(err, auth.ErrRelyingParty) || !strings.Contains(err.Error(), "--rp-id git.example.com") {
		t.Errorf("another host: %v", err)
	}
	if err := start("https://git.example.com", "other.example"); !errors.Is(err, auth.ErrRelyingParty) {
		t.Errorf("an id of another host: %v", err)
	}
	if err := start("https://git.example.com", "example.com"); err != nil {
		t.Errorf("an id that was asked for: %v", err)
	}
	if err := start("https://www.example.com", ""); err != nil {
		t.Errorf("another host below the id: %v", err)
	}
	if err := start("http://localhost:1", ""); !errors.Is(err, auth.ErrRelyingParty) {
		t.Errorf("back to the first host: %v", err)
	}
}

// Commands that are not told the server's address print links to it.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	a := auth.New(auth.Deps{DB: s.DB, Ring: s.App.Ring, Accounts: s.App.Accounts, URL: "http://localhost:3000"})
	if got, err := a.PublicURL(t.Context()); err != nil || got != s.URL {
		t.Errorf("the address is %q, %v, want %q", got, err, s.URL)
	}
	if code := auth.SetupCode(s.App.Ring); len(code) != 19 || code != auth.SetupCode(s.App.Ring) {
		t.Errorf("the set-up code is %q", code)
	}
}
