package auth_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func TestAuthorizationHeader(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, anon := s.User(t, "ann"), s.Anon()
	for name, header := range map[string]string{
		"bearer": "Bearer " + ann.Token, "lower case": "bearer " + ann.Token, "token": "token " + ann.Token,
		"basic": basic("anybody", ann.Token), "as user": basic(ann.Token, "x-oauth-basic"), "alone": basic(ann.Token, ""),
	} {
		if res := anon.Do(http.MethodGet, "/api/v3/user/repos", nil, "Authorization", header); res.Status != 200 {
			t.Errorf("%s: status %d: %s", name, res.Status, res.Body)
		} else if !strings.Contains(res.Header.Get("X-OAuth-Scopes"), "repo") {
			t.Errorf("%s: X-OAuth-Scopes is %q", name, res.Header.Get("X-OAuth-Scopes"))
		}
	}
	typo := ann.Token[:len(ann.Token)-1] + "!"
	for name, header := range map[string]string{
		"typo": "Bearer " + typo, "nothing": "Bearer ", "scheme": "Digest " + ann.Token, "basic": basic("ann", "password"), "broken": "Basic ???",
		"cookie as token": "Bearer " + ann.Jar.Cookies()["gitfor_session"],
	} {
		res := anon.Do(http.MethodGet, "/api/v3/user/repos", nil, "Authorization", header).Want(http.StatusUnauthorized)
		if res.JSON()["message"] != "Bad credentials" {
			t.Errorf("%s: %s", name, res.Body)
		}
	}
	// A cookie is no credential for the API: another site could use it.
	c := s.As(t, ann.Account)
	c.Do(http.MethodGet, "/api/v3/user/repos", nil, "Cookie", "gitfor_session="+c.Jar.Cookies()["gitfor_session"]).Want(http.StatusUnauthorized)
}

func TestTokenExpiresAndIsRevoked(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	soon := time.Now().Add(time.Second)
	text, err := s.App.Auth.NewToken(t.Context(), ann.Account.ID, auth.TokenInput{Name: "soon", Scopes: []string{"repo", "public_repo"}, Expires: &soon})
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.App.Auth.ByToken(t.Context(), text)
	if err != nil || v.All || !v.Has("repo:status") || v.Has("user") {
		t.Fatalf("the token acts for %+v, %v", v, err)
	}
	if wait := time.Until(soon); wait > 0 {
		<-time.After(wait)
	}
	if _, err := s.App.Auth.ByToken(t.Context(), text); err == nil {
		t.Error("an expired token is accepted, from memory")
	}
	tokens, err := s.App.Auth.Tokens(t.Context(), ann.Account.ID)
	if err != nil || len(tokens) != 2 || len(tokens[0].Scopes) != 1 {
		t.Fatalf("the list holds %+v, %v", tokens, err)
	}
	ann.API(http.MethodGet, "/user/repos", nil).OK()
	if err := s.App.Auth.RevokeToken(t.Context(), ann.Account.ID, tokens[1].ID); err != nil {
		t.Fatal(err)
	}
	ann.API(http.MethodGet, "/user/repos", nil).Want(http.StatusUnauthorized)
}

// A warm session or token costs no statement, and a forged one never costs
// any.
func TestCredentialsAreCheckedFromMemory(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	queries := func(text string) int {
		t.Helper()
		ctx, stats := dbtest.Count(t.Context())
		_, _ = s.App.Auth.ByToken(ctx, text)
		return stats.Queries()
	}
	if n := queries(ann.Token); n == 0 || n > 3 {
		t.Errorf("a cold token costs %d statements, want 1 to 3", n)
	}
	if n := queries(ann.Token); n != 0 {
		t.Errorf("a warm token costs %d statements", n)
	}
	other := apptest.New(t).User(t, "ann")
	if n := queries(other.Token); n != 0 {
		t.Errorf("another instance's token costs %d statements", n)
	}
}

func TestSuspendedAndDeletedAccounts(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	ann.API(http.MethodGet, "/user/repos", nil).OK()
	dbtest.Exec(t, s.DB, "UPDATE directory.accounts SET suspended_at = '2026-01-01' WHERE id = ?", ann.Account.ID)
	s.App.Auth.Forget(t.Context(), ann.Account.ID)
	ann.API(http.MethodGet, "/user/repos", nil).Want(http.StatusForbidden).Has("suspended")
	dbtest.Exec(t, s.DB, "UPDATE directory.accounts SET suspended_at = NULL, deleted_at = '2026-01-01' WHERE id = ?", ann.Account.ID)
	s.App.Auth.Forget(t.Context(), ann.Account.ID)
	ann.API(http.MethodGet, "/user/repos", nil).Want(http.StatusUnauthorized)
}

func TestLastUseIsWritten(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	ann.API(http.MethodGet, "/user/repos", nil).OK()
	if err := s.App.Auth.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	tokens, err := s.App.Auth.Tokens(t.Context(), ann.Account.ID)
	if err != nil || tokens[0].UsedAt == nil {
		t.Errorf("the token was used at %v, %v", tokens[0].UsedAt, err)
	}
}
