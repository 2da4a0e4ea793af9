package auth_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/dbtest"
)

// What is revoked in one process ends in the others.
func TestRevokeReachesOtherProcesses(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	first := apptest.Over(t, dbtest.OpenURL(t, url, db.Options{}))
	second := apptest.Over(t, dbtest.OpenURL(t, url, db.Options{}), apptest.SameKey(first))
	ann := first.User(t, "ann")
	other := second.Anon()
	get := func() int {
		return other.Do(http.MethodGet, "/api/v3/user/repos", nil, "Authorization", "Bearer "+ann.Token).Status
	}
	if got := get(); got != 200 {
		t.Fatalf("the token in the other process: %d", got)
	}
	tokens, err := first.App.Auth.Tokens(t.Context(), ann.Account.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.App.Auth.RevokeToken(t.Context(), ann.Account.ID, tokens[0].ID); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for get() == 200 {
		if time.Now().After(deadline) {
			t.Fatal("a revoked token works in another process after 5 seconds")
		}
		<-time.After(10 * time.Millisecond)
	}
}

// Sessions that are over are deleted, and the alarm is told when the next one
// ends.
func TestExpire(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	s.As(t, ann.Account)
	acc := s.DB.Account(ann.Account.ID)
	dbtest.Exec(t, s.DB, "UPDATE "+acc.Scope().String()+".sessions SET expires_at = '2020-01-01' WHERE hash IN (SELECT hash FROM "+
		acc.Scope().String()+".sessions LIMIT 1)")
	next, err := s.App.Auth.Expire(t.Context(), ann.Account.ID, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	left, err := accountdb.Sessions(t.Context(), acc, time.Time{})
	if err != nil || len(left) != 1 || !left[0].ExpiresAt.Equal(next) {
		t.Errorf("left are %v, the next ends at %v, %v", left, next, err)
	}
	var armed int
	if err := s.DB.Cell().NewRaw("SELECT count(*) FROM cell.alarms WHERE scope = ?", acc.Scope().String()).Scan(t.Context(), &armed); err != nil || armed != 1 {
		t.Errorf("%d alarms, %v", armed, err)
	}
}
