package db

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/uptrace/bun"
)

// Kind is the kind of a scope.
type Kind string

// The kinds of scopes; each is the prefix of its schemas' names and the
// folder of its domains under db/schema.
const (
	RepoKind    Kind = "repo"
	AccountKind Kind = "account"
)

// Scope names one world of state: a repository's or an account's. Its schema
// name is made from the number alone, so no user text reaches SQL.
type Scope struct {
	kind Kind
	id   int64
}

// RepoScope is the scope of the repository with this id.
func RepoScope(id int64) Scope { return Scope{RepoKind, id} }

// AccountScope is the scope of the account with this id.
func AccountScope(id int64) Scope { return Scope{AccountKind, id} }

// ParseScope reads what String wrote.
func ParseScope(s string) (Scope, error) {
	kind, num, ok := strings.Cut(s, "_")
	id, err := strconv.ParseInt(num, 10, 64)
	if !ok || err != nil || id <= 0 || (Kind(kind) != RepoKind && Kind(kind) != AccountKind) {
		return Scope{}, fmt.Errorf("scope %q: want repo_<id> or account_<id>", s)
	}
	return Scope{Kind(kind), id}, nil
}

// Kind tells what the scope belongs to.
func (s Scope) Kind() Kind { return s.kind }

// ID is the id of the repository or account.
func (s Scope) ID() int64 { return s.id }

// String is the scope's schema name, such as repo_42.
func (s Scope) String() string { return string(s.kind) + "_" + strconv.FormatInt(s.id, 10) }

// safe is the schema name as bun's named argument: bun puts it inside quotes
// that it adds itself, so it must be bare (bun.Ident would quote it twice).
func (s Scope) safe() bun.Safe { return bun.Safe(s.String()) }
