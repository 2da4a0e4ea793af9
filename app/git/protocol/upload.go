package protocol

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// UploadPack serves fetches and clones. The zero value works, without a cache
// and without bounds.
type UploadPack struct {
	// Cache shares packs among equal fetches; nil for none.
	Cache *PackCache
	// Gate bounds the processes that compute packs; nil for none.
	Gate *Gate
	// MaxRequest bounds one request in bytes after decompression: the ids a
	// client wants and has. 0 is 32 MB.
	MaxRequest int64
	// Idle ends a git process whose client is silent for so long. 0 is 10
	// minutes.
	Idle time.Duration

	mu      sync.Mutex
	adverts map[string]string // by object format
}

// UploadRequest is one fetch: over HTTP one request of it, over SSH a session.
type UploadRequest struct {
	Target
	Version Version
	// Client names who asks, for Gate: an account or an address.
	Client string
	In     io.Reader
	Out    io.Writer
	// Stateless is true over HTTP: the answer is to this one request and the
	// advertisement was a request of its own.
	Stateless bool
}

// sizer is a writer that would like to know the size of the whole answer.
type sizer interface{ SetSize(n int64) }

func (u *UploadPack) maxRequest() int64 {
	if u.MaxRequest > 0 {
		return u.MaxRequest
	}
	return 32 << 20
}

// Advertise writes what the server can do and, in protocols v0 and v1, its refs.
func (u *UploadPack) Advertise(ctx context.Context, w io.Writer, t Target, v Version) error {
	if v == V2 {
		text, err := u.advertV2(ctx, t)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		return err
	}
	return u.run(ctx, gitRun{target: t, version: v, out: w, args: []string{"--http-backend-info-refs"}})
}

// advertV2 is the capability advertisement of protocol v2. It is the same for
// all repositories of an object format, so git is asked for it once.
func (u *UploadPack) advertV2(ctx context.Context, t Target) (string, error) {
	format := t.format()
	u.mu.Lock()
	defer u.mu.Unlock()
	text, ok := u.adverts[format]
	if !ok {
		var out strings.Builder
		run := gitRun{target: t, version: V2, out: &out, args: []string{"--http-backend-info-refs"}}
		if err := u.run(ctx, run); err != nil {
			return "", err
		}
		text = strings.TrimSuffix(out.String(), "0000")
		if !strings.Contains(text, "version 2\n") {
			return "", fmt.Errorf("git's advertisement is not of version 2: %q", text)
		}
		if u.adverts == nil {
			u.adverts = map[string]string{}
		}
		u.adverts[format] = text
	}
	if len(t.Bundles) > 0 && !strings.Contains(text, "bundle-uri") {
		text = string(appendPacket([]byte(text), "bundle-uri\n"))
	}
	return text + "0000", nil
}

// Serve answers one request, or over SSH a whole session. The client has been
// told of what went wrong; the error is for the log, and nil where the client is
// to blame. Only *BusyError is not yet told over HTTP, which has a status for it.
func (u *UploadPack) Serve(ctx context.Context, req UploadRequest) error {
	if req.Version != V2 {
		return u.serveV0(ctx, req)
	}
	if !req.Stateless {
		if err := u.Advertise(ctx, req.Out, req.Target, V2); err != nil {
			return sendError(req.Out, err)
		}
	}
	in := NewPacketReader(req.In, 0)
	for {
		in.Limit(u.maxRequest())
		q, err := readRequestV2(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = u.command(ctx, req, q)
		}
		if busy := (*BusyError)(nil); errors.As(err, &busy) && req.Stateless {
			return err
		}
		if err != nil {
			return sendError(req.Out, err)
		}
		if req.Stateless {
			return nil
		}
	}
}

// command answers one command of protocol v2.
func (u *UploadPack) command(ctx context.Context, req UploadRequest, q *requestV2) error {
	if f, ok := q.caps.Get("object-format"); ok && f != req.format() || !ok && req.format() != "sha1" {
		if f == "" {
			f = "sha1"
		}
		return complaint("this repository uses %s and the client %s; use a git that knows %s", req.format(), f, req.format())
	}
	switch q.command {
	case "ls-refs":
		return listRefs(ctx, req.Out, req.Target, q.args)
	case "fetch":
		return u.fetch(ctx, req, q)
	case "bundle-uri":
		return listBundles(req.Out, req.Bundles)
	case "object-info":
		return u.run(ctx, gitRun{target: req.Target, version: V2, out: req.Out, in: q.encode(), args: []string{"--stateless-rpc"}})
	}
	return complaint("unknown command %q", q.command)
}

// fetch answers the command of that name from the cache or by git.
func (u *UploadPack) fetch(ctx context.Context, req UploadRequest, q *requestV2) error {
	produce := func(ctx context.Context, w io.Writer) error {
		leave, err := u.Gate.Enter(ctx, req.key(), req.Client)
		if err != nil {
			return err
		}
		defer leave()
		return u.run(ctx, gitRun{target: req.Target, version: V2, out: w, in: q.encode(), args: []string{"--stateless-rpc"}})
	}
	if u.Cache == nil {
		return produce(ctx, req.Out)
	}
	key, err := fetchKeyOf(ctx, req.Target, q)
	if err != nil {
		return err
	}
	e := u.Cache.open(ctx, req.key(), key, produce)
	defer e.leave()
	wrote, err := e.copyTo(ctx, req.Out, func(size int64) {
		if s, ok := req.Out.(sizer); ok && size >= 0 {
			s.SetSize(size)
		}
	})
	if err != nil && wrote {
		return brokenError{err}
	}
	return err
}

// fetchKeyOf is the key under which the answer to q is kept. Tags that point to
// what is sent come along with include-tag, so then it holds the tags too.
func fetchKeyOf(ctx context.Context, t Target, q *requestV2) (fetchKey, error) {
	h := sha256.New()
	fmt.Fprintf(h, "repo %q format %s\n", t.key(), t.format())
	q.writeKey(h)
	for _, a := range q.args {
		if a != "include-tag" {
			continue
		}
		snap, err := t.refs(ctx)
		if err != nil {
			return fetchKey{}, err
		}
		for _, r := range snap.refs {
			if strings.HasPrefix(r.Name, "refs/tags/") {
				_, _ = io.WriteString(h, string(r.OID)+" "+r.Name+"\n")
			}
		}
		break
	}
	return fetchKey(h.Sum(nil)), nil
}

// brokenError is a failure in the midst of an answer: nothing can be said to
// the client any more.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

// sendError tells the client's user of err in an ERR packet. It returns err
// unless that was the client's own fault.
func sendError(w io.Writer, err error) error {
	if broken := (brokenError{}); errors.As(err, &broken) || errors.Is(err, context.Canceled) {
		return err
	}
	p := NewPacketWriter(w)
	p.Printf("ERR %s", messageFor(err))
	if clientsFault(err) {
		return p.Err()
	}
	return err
}

// clientsFault says whether err is for the client to know and not for the log.
func clientsFault(err error) bool {
	var refusal *Refusal
	var said complaintError
	var busy *BusyError
	return errors.As(err, &refusal) || errors.As(err, &said) || errors.As(err, &busy) ||
		errors.Is(err, ErrMalformed) || errors.Is(err, ErrTooLarge) || errors.Is(err, io.ErrUnexpectedEOF)
}

// messageFor is what a client's user is told of err.
func messageFor(err error) string {
	var busy *BusyError
	var said complaintError
	switch {
	case errors.As(err, &busy):
		return busy.Error()
	case errors.As(err, &said):
		return said.Error()
	case errors.Is(err, ErrMalformed), errors.Is(err, io.ErrUnexpectedEOF):
		return "the request is not git's protocol: " + err.Error()
	case errors.Is(err, ErrTooLarge):
		return ErrTooLarge.Error()
	}
	return "internal error of the server"
}
