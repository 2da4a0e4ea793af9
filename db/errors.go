package db

import (
	"database/sql"
	"errors"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

var (
	// ErrNotFound says that no row matches.
	ErrNotFound = errors.New("not found")
	// ErrConflict says that a unique key is taken; see Constraint.
	ErrConflict = errors.New("already exists")
	// ErrUnavailable says that the database cannot be reached now.
	ErrUnavailable = errors.New("database unavailable")
	// ErrFull says that the database has no space left on its disk.
	ErrFull = errors.New("database out of space")
)

// Error is a database error with its kind (one of the sentinels) and cause.
type Error struct {
	Kind  error
	Cause error
}

func (e *Error) Error() string { return e.Kind.Error() + ": " + e.Cause.Error() }

// Unwrap gives both the kind and the cause to errors.Is and errors.As.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Cause} }

// Constraint is the name of the constraint that err violates, or "".
func Constraint(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.ConstraintName
	}
	return ""
}

// Map gives an error of a query its kind: ErrNotFound, ErrConflict,
// ErrUnavailable or ErrFull. Errors of other packages pass unchanged. Query packages that
// hold a Directory call it; reads of scopes map by themselves.
func Map(err error) error { return mapped(err) }

func mapped(err error) error {
	if err == nil || errors.Is(err, ErrNotFound) {
		return err
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case sqlState(err) == "53100":
		return &Error{ErrFull, err}
	case unavailable(err):
		return &Error{ErrUnavailable, err}
	case sqlState(err) == "23505":
		return &Error{ErrConflict, err}
	}
	return err
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// missing says that a schema or table was not there: the cached register is
// older than the database.
func missing(err error) bool {
	s := sqlState(err)
	return s == "3F000" || s == "42P01"
}

// lockTimeout is Postgres's code of a lock that was waited for too long.
const lockTimeout = "55P03"

// again says that a transaction lost a race that a second try can win.
func again(err error) bool {
	switch sqlState(err) {
	case "40001", "40P01", lockTimeout:
		return true
	}
	return missing(err)
}

func unavailable(err error) bool {
	var connect *pgconn.ConnectError
	var op *net.OpError
	if errors.As(err, &connect) || errors.As(err, &op) {
		return true
	}
	switch sqlState(err) {
	case "57P01", "57P02", "57P03", "53300", "08006", "08003":
		return true
	}
	return pgconn.SafeToRetry(err) && !errors.Is(err, sql.ErrNoRows)
}
