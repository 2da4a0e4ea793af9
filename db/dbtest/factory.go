package dbtest

import (
	"context"
	"testing"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Account makes a user or organisation of this name and kind.
func Account(t testing.TB, d *db.DB, name string, kind model.AccountKind) *model.Account {
	t.Helper()
	a := &model.Account{Kind: kind, Name: name, NameKey: model.Key(name), Settings: map[string]any{}, BaseRole: ""}
	err := d.InDirectory(t.Context(), func(ctx context.Context, tx db.DirectoryTx) error {
		a.CreatedAt, a.UpdatedAt = tx.Now(), tx.Now()
		if _, err := tx.NewInsert().Model(a).ExcludeColumn("id").Returning("id").Exec(ctx); err != nil {
			return err
		}
		if kind != model.KindUser {
			return nil
		}
		u := &model.User{AccountID: a.ID, Email: name + "@example.com", Theme: "system"}
		if _, err := tx.NewInsert().Model(u).Exec(ctx); err != nil {
			return err
		}
		e := &model.Email{EmailKey: model.Key(u.Email), Email: u.Email, AccountID: a.ID, CreatedAt: tx.Now()}
		_, err := tx.NewInsert().Model(e).Exec(ctx)
		return err
	})
	if err != nil {
		t.Fatalf("make account %s: %v", name, err)
	}
	return a
}

// User makes a user of this name.
func User(t testing.TB, d *db.DB, name string) *model.Account {
	t.Helper()
	return Account(t, d, name, model.KindUser)
}

// RepoOpts vary a repository made by Repo.
type RepoOpts struct {
	Private bool
	Branch  string
}

// Repo makes a repository of owner in the directory; its git folder is made at
// the first use.
func Repo(t testing.TB, d *db.DB, owner *model.Account, name string, opts RepoOpts) *model.Repo {
	t.Helper()
	r := &model.Repo{OwnerID: owner.ID, Name: name, NameKey: model.Key(name), Visibility: model.Public,
		DefaultBranch: "main", Topics: []string{}, Languages: map[string]int64{}, Owner: owner}
	if opts.Private {
		r.Visibility = model.Private
	}
	if opts.Branch != "" {
		r.DefaultBranch = opts.Branch
	}
	err := d.InDirectory(t.Context(), func(ctx context.Context, tx db.DirectoryTx) error {
		r.CreatedAt, r.UpdatedAt = tx.Now(), tx.Now()
		_, err := tx.NewInsert().Model(r).ExcludeColumn("id").Returning("id").Exec(ctx)
		return err
	})
	if err != nil {
		t.Fatalf("make repository %s: %v", name, err)
	}
	return r
}

// Exec runs a statement on the directory, for what has no factory.
func Exec(t testing.TB, d *db.DB, sql string, args ...any) {
	t.Helper()
	if _, err := d.Directory().NewRaw(sql, args...).Exec(t.Context()); err != nil {
		t.Fatal(sql, err)
	}
}
