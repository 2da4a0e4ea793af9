package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestCreateUser(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	s := accounts.New(d, nil)
	ann, err := s.CreateUser(t.Context(), accounts.CreateInput{Name: " Ann ", Email: "ann@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if !ann.Admin || ann.Account.Name != "Ann" {
		t.Errorf("the first account is %+v, want an administrator called Ann", ann)
	}
	bob, err := s.CreateUser(t.Context(), accounts.CreateInput{Name: "bob", Email: "ann@example.com"})
	if err != nil || bob.Admin {
		t.Errorf("the second account with the same unconfirmed address: %+v, %v", bob, err)
	}
	dbtest.Exec(t, d, "INSERT INTO directory.retired_names VALUES ('popular-one', '', '2020-01-01')")
	dbtest.Exec(t, d, "INSERT INTO directory.account_redirects VALUES ('former', ?, '2020-01-01')", ann.AccountID)
	for name, want := range map[string]string{"aNN": "taken", "popular-ONE": "retired", "admin": "reserved", "a/b": "slash"} {
		_, err := s.CreateUser(t.Context(), accounts.CreateInput{Name: name, Email: "x@example.com"})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.From(err).Fields["username"], want) {
			t.Errorf("%q: %v, want a message with %q", name, err, want)
		}
	}
	if _, err := s.CreateUser(t.Context(), accounts.CreateInput{Name: "former", Email: "f@example.com"}); err != nil {
		t.Errorf("a name that only redirects cannot be taken: %v", err)
	}
	if _, err := accountdb.Redirect(t.Context(), d.Directory(), "former"); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("the redirect of a taken name is still there: %v", err)
	}
}

// Of many who sign up first at the same moment, exactly one becomes the
// administrator, and of many who want one name exactly one gets it.
func TestCreateUserTogether(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	s := accounts.New(d, nil)
	var mu sync.Mutex
	var wg sync.WaitGroup
	admins, same := 0, 0
	for i := range 8 {
		wg.Go(func() {
			u, err := s.CreateUser(t.Context(), accounts.CreateInput{Name: fmt.Sprintf("user%d", i), Email: "u@example.com"})
			_, second := s.CreateUser(context.WithoutCancel(t.Context()), accounts.CreateInput{Name: "Same", Email: "s@example.com"})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			} else if u.Admin {
				admins++
			}
			if second == nil {
				same++
			} else if !fault.Is(second, fault.Invalid) {
				t.Errorf("a taken name: %v", second)
			}
		})
	}
	wg.Wait()
	if same != 1 || admins > 1 {
		t.Errorf("%d got the same name, %d are administrators", same, admins)
	}
}

func TestEmailsFindPeople(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	s := accounts.New(d, nil)
	make := func(name, email string) int64 {
		u, err := s.CreateUser(t.Context(), accounts.CreateInput{Name: name, Email: email})
		if err != nil {
			t.Fatal(err)
		}
		return u.AccountID
	}
	ann := make("ann", "Ann@example.com")
	make("bob", "shared@example.com")
	make("eve", "shared@example.com")
	got, err := accountdb.ByEmails(t.Context(), d.Directory(), []string{"ann@EXAMPLE.com", "shared@example.com", "no@example.com"})
	if err != nil || len(got) != 1 || got["ann@example.com"] == nil || got["ann@example.com"].ID != ann || got["ann@example.com"].Name != "ann" {
		t.Fatalf("found %v, %v", got, err)
	}
	eve, err := accountdb.ByName(t.Context(), d.Directory(), "eve")
	if err != nil {
		t.Fatal(err)
	}
	verify := func(id int64) error {
		return d.InDirectory(t.Context(), func(ctx context.Context, tx db.DirectoryTx) error {
			return accountdb.VerifyEmail(ctx, tx, id, "shared@example.com", tx.Now())
		})
	}
	if err := verify(eve.ID); err != nil {
		t.Fatal(err)
	}
	got, err = accountdb.ByEmails(t.Context(), d.Directory(), []string{"shared@example.com"})
	if err != nil || got["shared@example.com"] == nil || got["shared@example.com"].ID != eve.ID {
		t.Errorf("a confirmed address finds %v, %v", got, err)
	}
	bob, _ := accountdb.ByName(t.Context(), d.Directory(), "bob")
	if err := verify(bob.ID); err == nil {
		t.Error("two people confirmed the same address")
	}
}
