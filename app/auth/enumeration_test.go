package auth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// addPasskey gives an account a passkey that no key holds.
func addPasskey(t *testing.T, s *apptest.Server, accountID int64, rawID []byte) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"id": rawID})
	if err != nil {
		t.Fatal(err)
	}
	err = s.DB.InAccount(t.Context(), accountID, func(ctx context.Context, tx *db.AccountTx) error {
		return accountdb.InsertCredentials(ctx, tx, &model.Credential{Kind: model.CredentialPasskey, Key: rawID, Name: "x", Data: data})
	})
	if err != nil {
		t.Fatal(err)
	}
}

type loginOptions struct {
	ID      string `json:"id"`
	Options struct {
		Challenge        string `json:"challenge"`
		AllowCredentials []struct {
			Type string `json:"type"`
			ID   string `json:"id"`
		} `json:"allowCredentials"`
	} `json:"options"`
}

func ask(c *apptest.Client, name string) (out loginOptions, raw map[string]any) {
	c.JSON("/login/options", map[string]string{"username": name}).OK().Into(&out).Into(&raw)
	return out, raw
}

// What the sign-in page answers for a name does not tell whether somebody has
// it: the shape is the same, decoys stay the same, and so does the time.
func TestNamesAreNotTold(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	addPasskey(t, s, ann.Account.ID, make([]byte, 32))
	anon := s.Anon()
	known, knownRaw := ask(anon, "ann")
	first, firstRaw := ask(anon, "nobody")
	second, _ := ask(anon, "NOBODY")
	if len(known.Options.AllowCredentials) != 1 || len(first.Options.AllowCredentials) == 0 {
		t.Fatalf("known: %+v, unknown: %+v", known, first)
	}
	if !slices.Equal(first.Options.AllowCredentials, second.Options.AllowCredentials) {
		t.Error("the decoys of one name differ from question to question")
	}
	if first.Options.Challenge == second.Options.Challenge {
		t.Error("a challenge came twice")
	}
	shape := func(v map[string]any) []string {
		options, _ := v["options"].(map[string]any)
		var keys []string
		for k := range options {
			keys = append(keys, k)
		}
		list, _ := options["allowCredentials"].([]any)
		entry, _ := list[0].(map[string]any)
		for k := range entry {
			keys = append(keys, "allow."+k)
		}
		slices.Sort(keys)
		return keys
	}
	if a, b := shape(knownRaw), shape(firstRaw); !slices.Equal(a, b) {
		t.Errorf("known names answer %v, unknown ones %v", a, b)
	}
	// Both cost the same statements, and the answer waits for a fixed time.
	cost := func(name string) (string, time.Duration) {
		start := time.Now()
		timing := anon.JSON("/login/options", map[string]string{"username": name}).OK().Header.Get("Server-Timing")
		queries := regexp.MustCompile(`"\d+ queries"`).FindString(timing)
		return queries, time.Since(start)
	}
	cost("ann")
	a, tookA := cost("ann")
	b, tookB := cost("nobody")
	if a != b || a == "" {
		t.Errorf("a known name costs %s, an unknown one %s", a, b)
	}
	if tookA < 40*time.Millisecond || tookB < 40*time.Millisecond {
		t.Errorf("answers came after %v and %v", tookA, tookB)
	}
	empty, _ := ask(anon, "")
	if len(empty.Options.AllowCredentials) != 0 {
		t.Errorf("without a name: %+v", empty)
	}
}

// Recovery tells nothing either, and tries are counted by where they come
// from: the owner can still sign in from elsewhere.
func TestRecoveryIsLimited(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	s.User(t, "ann")
	anon := s.Anon()
	known := anon.Post("/login/recovery", "username", "ann", "code", "0000-0000-0000").Want(422).Text("form")
	unknown := anon.Post("/login/recovery", "username", "nobody", "code", "0000-0000-0000").Want(422).Text("form")
	if known != unknown {
		t.Errorf("a known name answers %q, an unknown one %q", known, unknown)
	}
	status := 0
	for range 30 {
		status = anon.Post("/login/recovery", "username", "ann", "code", "0000-0000-0000").Status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("the 32nd try answers %d", status)
	}
}

// After signing in one lands on this site only.
func TestOpenRedirect(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	for next, want := range map[string]string{
		"/ann/x?a=b": "/ann/x?a=b", "//evil.example": "/", "https://evil.example": "/", `/\evil.example`: "/", "javascript:alert(1)": "/",
		"/\t/evil.example": "/", "/login": "/", "": "/", "/logout": "/",
	} {
		r := ann.Do(http.MethodGet, "/login?next="+escape(next), nil).Want(http.StatusSeeOther)
		if r.Location() != want {
			t.Errorf("next=%q leads to %q, want %q", next, r.Location(), want)
		}
	}
}

// A browser that signs in gets a new session, and the one it had is over.
func TestNoSessionFixation(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	if err := s.App.Auth.NewRecoveryCodes(t.Context(), bob.Account.ID); err != nil {
		t.Fatal(err)
	}
	codes, err := s.App.Auth.ShownCodes(t.Context(), bob.Account.ID)
	if err != nil || len(codes) != 10 {
		t.Fatalf("%v, %v", codes, err)
	}
	old := ann.Jar.Cookies()["gitfor_session"]
	ann.Post("/login/recovery", "username", "bob", "code", codes[0]).Want(303)
	if now := ann.Jar.Cookies()["gitfor_session"]; now == old || now == "" {
		t.Errorf("the cookie is %q after signing in", now)
	}
	stale := s.Anon()
	stale.Do(http.MethodGet, "/settings/profile", nil, "Cookie", "gitfor_session="+old).Want(303)
	stale.Do(http.MethodGet, "/settings/profile", nil, "Cookie", "gitfor_session=chosen-by-somebody-else").Want(303)
}

func escape(s string) string { return url.QueryEscape(s) }
