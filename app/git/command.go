package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stderrLimit is how much of a command's error output is kept, in bytes.
const stderrLimit = 8 << 10

// stopDelay is how long a command that was told to stop may still run.
const stopDelay = 2 * time.Second

// Cmd is one run of git. Add revisions and paths with Revs and Paths, then use
// it as an exec.Cmd through Start and Wait, or Run, Output and Stream.
type Cmd struct {
	exec    *exec.Cmd
	name    string
	spec    subcommand
	ctx     context.Context
	config  [][2]string
	stderr  limitedBuffer
	err     error
	ended   bool
	started time.Time
	observe func(ctx context.Context, name string, d time.Duration)
}

// CommandError says that git ended with a failure.
type CommandError struct {
	// Subcommand is the git command, such as "diff-tree".
	Subcommand string
	// Code is the exit status, -1 when it was killed or did not start.
	Code int
	// Stderr is the beginning of what git wrote to standard error.
	Stderr string
	Err    error
}

func (e *CommandError) Error() string {
	text := strings.TrimSpace(e.Stderr)
	if text == "" {
		return fmt.Sprintf("git %s: %v", e.Subcommand, e.Err)
	}
	return fmt.Sprintf("git %s: %v: %s", e.Subcommand, e.Err, text)
}

// Is tells that git found the disk full, as the system's own errors do.
func (e *CommandError) Is(target error) bool {
	switch target { //nolint:errorlint // the very error that errors.Is asks about
	case syscall.ENOSPC:
		return strings.Contains(e.Stderr, "No space left on device")
	case syscall.EDQUOT:
		return strings.Contains(e.Stderr, "Disk quota exceeded")
	}
	return false
}

// Unwrap is the cause: an *exec.ExitError, or the context's error.
func (e *CommandError) Unwrap() error { return e.Err }

// Command is git run on this repository with options that the program itself
// chose; each must begin with a dash or be the value of the option before it.
// It gets a fixed environment, none of the machine's configuration, and its
// own process group, which ends when ctx does.
func (r *Repository) Command(ctx context.Context, name string, options ...string) *Cmd {
	c := r.store.command(ctx, name, r.Path, options)
	c.exec.Env = append(c.exec.Env, r.objectEnv()...)
	return c
}

// Command is git run without a repository ("version", "init").
func (s *Store) Command(ctx context.Context, name string, options ...string) *Cmd {
	return s.command(ctx, name, "", options)
}

func (s *Store) command(ctx context.Context, name, gitDir string, options []string) *Cmd {
	spec, ok := subcommands(name)
	args := make([]string, 0, len(options)+4)
	if gitDir != "" && !spec.noRepository {
		args = append(args, "--git-dir="+gitDir)
	}
	args = append(args, name)
	args = append(args, options...)
	c := &Cmd{name: name, spec: spec, ctx: ctx, observe: s.observe}
	if !ok {
		c.err = fmt.Errorf("git command %q is not declared", name)
	}
	c.exec = exec.CommandContext(ctx, s.git, args...)
	c.exec.Dir = s.root
	c.exec.Env = s.environment()
	c.exec.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.exec.Cancel = c.stop
	c.exec.WaitDelay = stopDelay
	c.exec.Stderr = &c.stderr
	if spec.effect == usesNetwork {
		c.config = append(c.config, [2]string{"protocol.allow", "never"})
	}
	return c
}

// environment is all that git gets to know of the machine.
func (s *Store) environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + s.home,
		"LC_ALL=C.UTF-8",
		"TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_DEFAULT_HASH=sha1",
		"GIT_TEMPLATE_DIR=",
		"GIT_PAGER=cat",
	}
}

// baseConfig holds in every run, over what a repository's own file says.
func baseConfig() [][2]string {
	return [][2]string{
		{"safe.directory", "*"},
		{"core.hooksPath", os.DevNull},
		{"core.fsmonitor", "false"},
		{"core.attributesFile", os.DevNull},
		{"core.excludesFile", os.DevNull},
		{"core.bigFileThreshold", "64m"},
		{"core.quotePath", "true"},
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
		{"receive.autogc", "false"},
		{"log.showSignature", "false"},
		{"diff.noprefix", "false"},
		{"diff.mnemonicPrefix", "false"},
	}
}

// Config sets one configuration value for this run only.
func (c *Cmd) Config(key, value string) *Cmd {
	c.config = append(c.config, [2]string{key, value})
	return c
}

// Env adds one environment variable ("NAME=value") for this run only.
func (c *Cmd) Env(pairs ...string) *Cmd {
	c.exec.Env = append(c.exec.Env, pairs...)
	return c
}

// Revs adds operands that people may have typed. They cannot become options:
// they stand after --end-of-options where the command knows it, and may not
// begin with a dash where it does not.
func (c *Cmd) Revs(revs ...string) *Cmd {
	if !c.ended && c.spec.endOfOptions {
		c.ended = true
		c.exec.Args = append(c.exec.Args, "--end-of-options")
	}
	for _, rev := range revs {
		if rev == "" || (rev[0] == '-' && !c.spec.endOfOptions) || strings.IndexByte(rev, 0) >= 0 {
			c.fail(fmt.Errorf("operand %q cannot be passed to git", rev))
		}
	}
	c.exec.Args = append(c.exec.Args, revs...)
	return c
}

// Paths adds "--" and paths, which git takes literally.
func (c *Cmd) Paths(paths ...string) *Cmd {
	for _, path := range paths {
		if strings.IndexByte(path, 0) >= 0 {
			c.fail(fmt.Errorf("path %q holds a zero byte", path))
		}
	}
	c.exec.Args = append(c.exec.Args, "--")
	c.exec.Args = append(c.exec.Args, paths...)
	return c
}

// Stdin sets what git reads.
func (c *Cmd) Stdin(r io.Reader) *Cmd {
	c.exec.Stdin = r
	return c
}

// Stdout sets where git writes.
func (c *Cmd) Stdout(w io.Writer) *Cmd {
	c.exec.Stdout = w
	return c
}

// Stderr sends the error output to w as well as to the error.
func (c *Cmd) Stderr(w io.Writer) *Cmd {
	c.exec.Stderr = io.MultiWriter(&c.stderr, w)
	return c
}

func (c *Cmd) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Start starts git; Wait must follow when it succeeds.
func (c *Cmd) Start() error {
	if c.err != nil {
		return fmt.Errorf("git %s: %w", c.name, c.err)
	}
	config := append(baseConfig(), c.config...)
	for i, pair := range config {
		n := strconv.Itoa(i)
		c.exec.Env = append(c.exec.Env, "GIT_CONFIG_KEY_"+n+"="+pair[0], "GIT_CONFIG_VALUE_"+n+"="+pair[1])
	}
	c.exec.Env = append(c.exec.Env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(config)))
	c.started = time.Now()
	if err := c.exec.Start(); err != nil {
		return &CommandError{Subcommand: c.name, Code: -1, Err: err}
	}
	return nil
}

// Wait waits for the end and says how it went, as a *CommandError.
func (c *Cmd) Wait() error {
	err := c.exec.Wait()
	if c.observe != nil {
		c.observe(c.ctx, c.name, time.Since(c.started))
	}
	if err == nil {
		return nil
	}
	code := -1
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	if ctxErr := c.ctx.Err(); ctxErr != nil {
		err = ctxErr
	}
	return &CommandError{Subcommand: c.name, Code: code, Stderr: c.stderr.String(), Err: err}
}

// Run is Start and Wait.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Output runs git and is what it wrote to standard output.
func (c *Cmd) Output() ([]byte, error) {
	var out bytes.Buffer
	c.exec.Stdout = &out
	err := c.Run()
	return out.Bytes(), err
}

// StdinPipe is a pipe to git's standard input; see exec.Cmd.
func (c *Cmd) StdinPipe() (io.WriteCloser, error) { return c.exec.StdinPipe() }

// StdoutPipe is a pipe from git's standard output; see exec.Cmd.
func (c *Cmd) StdoutPipe() (io.ReadCloser, error) { return c.exec.StdoutPipe() }

// Stream runs git and gives its standard output to read. When read stops
// early, with ErrStop or an error, git is ended; ErrStop is no failure.
func (c *Cmd) Stream(read func(io.Reader) error) error {
	out, err := c.exec.StdoutPipe()
	if err != nil {
		return fmt.Errorf("git %s: %w", c.name, err)
	}
	if err := c.Start(); err != nil {
		return err
	}
	readErr := read(out)
	if readErr == nil {
		// A reader that is content before the end must not make git fail.
		_, readErr = io.Copy(io.Discard, out)
	} else {
		_ = c.stop()
	}
	waitErr := c.Wait()
	switch {
	case errors.Is(readErr, ErrStop):
		return c.ctx.Err()
	case waitErr != nil && (readErr == nil || c.ctx.Err() != nil):
		return waitErr
	}
	return readErr
}

// stop ends git and all that it started.
func (c *Cmd) stop() error {
	if c.exec.Process == nil {
		return nil
	}
	err := syscall.Kill(-c.exec.Process.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// limitedBuffer keeps the first bytes of what is written and drops the rest.
type limitedBuffer struct{ buf bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := stderrLimit - b.buf.Len(); room > 0 {
		b.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (b *limitedBuffer) String() string { return b.buf.String() }

// quoteAlternate makes path safe in GIT_ALTERNATE_OBJECT_DIRECTORIES, where a
// colon separates and a leading quote begins a C string.
func quoteAlternate(path string) string {
	if !strings.ContainsAny(path, "\":\n\\") {
		return path
	}
	return quoteC(path)
}
