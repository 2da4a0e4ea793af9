// Command gitfor is the gitfor server and its administration commands.
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
)

// version is set by the linker (-X main.version=…).
var version = "dev"

// failPoint is called at the steps of a push; only tests set it, to end the
// process there.
var failPoint func(step string)

// usageError marks what is wrong with how a command was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := rootCommand().ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "gitfor:", err)
	var usage usageError
	if errors.As(err, &usage) {
		os.Exit(exitUsage)
	}
	os.Exit(exitFailed)
}
