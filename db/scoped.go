package db

import (
	"context"
	"errors"

	"github.com/uptrace/bun"
)

// scoped reads one scope, outside or inside a transaction.
type scoped struct {
	d     *DB
	scope Scope
	q     bun.IDB
	// row is the scope's register row in a transaction, where it is locked
	// and so cannot change; nil outside.
	row *scopeRow
}

func (d *DB) scoped(s Scope) scoped {
	return scoped{d: d, scope: s, q: d.bun.WithNamedArg("scope", s.safe())}
}

// ID is the id of the repository or account.
func (s scoped) ID() int64 { return s.scope.id }

// Scope names the scope.
func (s scoped) Scope() Scope { return s.scope }

// Find runs fn on the scope's tables of domain, for a query that wants one
// row. ErrNotFound when fn finds none or the scope has no such domain.
func (s scoped) Find(ctx context.Context, domain string, fn func(q bun.IDB) error) error {
	ok, err := s.read(ctx, domain, fn)
	if err == nil && !ok {
		return ErrNotFound
	}
	return mapped(err)
}

// List is Find for queries whose result may be empty: where the scope has no
// such domain fn does not run and the result stays empty.
func (s scoped) List(ctx context.Context, domain string, fn func(q bun.IDB) error) error {
	_, err := s.read(ctx, domain, fn)
	return mapped(err)
}

// Version is the version of the scope's domain, 0 where it has none. Code that
// reads a column added by the newest file asks it first.
func (s scoped) Version(ctx context.Context, domain string) (int, error) {
	row, err := s.register(ctx, domain)
	if err != nil {
		return 0, mapped(err)
	}
	return row.Domains[domain], nil
}

func (s scoped) register(ctx context.Context, domain string) (*scopeRow, error) {
	if s.row != nil {
		return s.row, nil
	}
	return s.d.registry.load(ctx, s.d, s.scope, domain)
}

// readTries bounds how often a read finds that its scope went to sleep between
// the look at the register and the query.
const readTries = 3

// read runs fn where the domain exists. The cached register is a hint: when
// the tables turn out to be gone it is read anew and fn runs again.
func (s scoped) read(ctx context.Context, domain string, fn func(q bun.IDB) error) (bool, error) {
	if s.row == nil && reader(ctx) == person {
		s.d.touches.add(s.scope)
	}
	for try := 0; ; try++ {
		row, err := s.register(ctx, domain)
		if err != nil {
			return false, err
		}
		if row.Domains[domain] == 0 {
			return false, nil
		}
		err = fn(s.q)
		if !again(err) || try == readTries || s.row != nil {
			return true, err
		}
		s.d.registry.drop(s.scope)
	}
}

// Counts are the counters that a scope's register row carries, such as the
// number of open issues; read in one query with no touch of the scope.
func (s scoped) Counts(ctx context.Context) (Counts, error) {
	if s.row != nil {
		return s.row.Counts, nil
	}
	row := new(scopeRow)
	err := s.d.bun.NewSelect().Model(row).Column("counts").Where("scope = ?", s.scope.String()).Scan(ctx)
	if err = mapped(err); errors.Is(err, ErrNotFound) {
		return Counts{}, nil
	}
	return row.Counts, err
}
