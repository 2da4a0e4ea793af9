package protocol

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/git"
)

// gitRun is one git upload-pack.
type gitRun struct {
	target  Target
	version Version
	in      []byte // the whole request
	out     io.Writer
	args    []string
}

// uploadPack is git upload-pack for t. Any object may be asked for by its id:
// protocol v2 allows that whatever is set, and lazy fetches of partial clones
// need it in the older ones.
func (u *UploadPack) uploadPack(ctx context.Context, t Target, v Version, args ...string) *git.Cmd {
	idle := u.Idle
	if idle <= 0 {
		idle = 10 * time.Minute
	}
	args = append([]string{"--strict", "--timeout=" + strconv.Itoa(int(idle/time.Second))}, args...)
	cmd := t.Repo.Command(ctx, "upload-pack", args...).Revs(t.Repo.Path).
		Env("GIT_PROTOCOL="+v.variable()).
		Config("uploadpack.allowFilter", "true").
		Config("uploadpack.allowAnySHA1InWant", "true").
		Config("uploadpack.keepAlive", "5")
	for _, p := range t.hides() {
		cmd.Config("transfer.hideRefs", strings.TrimSuffix(p, "/"))
	}
	return cmd
}

// run runs git upload-pack over a request that is in memory. When git says
// nothing but fails, the error has what it complained of.
func (u *UploadPack) run(ctx context.Context, r gitRun) error {
	out := &countingWriter{w: r.out}
	err := u.uploadPack(ctx, r.target, r.version, r.args...).Stdin(bytes.NewReader(r.in)).Stdout(out).Run()
	return uploadError(ctx, err, out)
}

// uploadError says what the end of a git upload-pack means for its client.
func uploadError(ctx context.Context, err error, out *countingWriter) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	switch {
	case out.err != nil:
		return brokenError{out.err}
	case out.n > 0:
		return brokenError{err}
	}
	if text := fatalLine(err); text != "" {
		return complaint("upload-pack: %s", text)
	}
	return err
}

// serveV0 hands protocols v0 and v1 to git whole.
func (u *UploadPack) serveV0(ctx context.Context, req UploadRequest) error {
	leave, err := u.Gate.Enter(ctx, req.key(), req.Client)
	if err != nil {
		if !req.Stateless {
			return sendError(req.Out, err)
		}
		return err
	}
	defer leave()
	var args []string
	in := req.In
	if req.Stateless {
		args = append(args, "--stateless-rpc")
		in = limitReader(in, u.maxRequest())
	}
	cmd := u.uploadPack(ctx, req.Target, req.Version, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out := &countingWriter{w: req.Out}
	if err := cmd.Stdout(out).Start(); err != nil {
		return err
	}
	// the client of a session may keep its side open after git has ended, so
	// the copying is not waited for
	failed := make(chan error, 1)
	go func() {
		_, err := io.Copy(stdin, in)
		_ = stdin.Close()
		failed <- err
	}()
	err = uploadError(ctx, cmd.Wait(), out)
	if err == nil {
		return nil
	}
	select {
	case cerr := <-failed:
		if errors.Is(cerr, ErrTooLarge) {
			err = cerr
		}
	default:
	}
	return sendError(req.Out, err)
}

// countingWriter counts what goes through it and keeps the first error.
type countingWriter struct {
	w   io.Writer
	n   int64
	err error
}

// ReadFrom lets the writer behind it read in steps of its own.
func (c *countingWriter) ReadFrom(r io.Reader) (int64, error) {
	rf, ok := c.w.(io.ReaderFrom)
	if !ok {
		return io.Copy(struct{ io.Writer }{c}, r)
	}
	n, err := rf.ReadFrom(r)
	c.n += n
	if c.err == nil {
		c.err = err
	}
	return n, err
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// fatalLine is what git said after "fatal: " before it ended with err, or "".
func fatalLine(err error) string {
	var failed *git.CommandError
	if !errors.As(err, &failed) {
		return ""
	}
	_, text, _ := strings.Cut("\n"+failed.Stderr, "\nfatal: ")
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(text)
}

// limitReader returns a reader of r that fails with ErrTooLarge when there are
// more than n bytes.
func limitReader(r io.Reader, n int64) io.Reader { return &limitedReader{r: r, left: n} }

type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
