// Command g1t is gitfor's client for people and agents: repositories, issues,
// pull requests, the event log and every other call of the API, from a
// terminal or a script.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
	// exitAuth says that nobody is signed in, or the token is no good.
	exitAuth = 4
)

// version is set by the linker (-X main.version=…).
var version = "dev"

// usageError marks what is wrong with how a command was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newTool(os.Stdin, os.Stdout, os.Stderr).root().ExecuteContext(ctx)
	interrupted := ctx.Err() != nil
	stop()
	if err == nil {
		return
	}
	if interrupted && errors.Is(err, context.Canceled) {
		os.Exit(130)
	}
	fmt.Fprintln(os.Stderr, "g1t:", clean(err.Error()))
	var usage usageError
	var status *statusError
	switch {
	case errors.As(err, &usage):
		os.Exit(exitUsage)
	case errors.Is(err, errNoToken), errors.As(err, &status) && status.Status == 401:
		os.Exit(exitAuth)
	}
	os.Exit(exitFailed)
}
