package protocol

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// HTTP serves git's smart protocol (gitprotocol-http(5)). Who may do what is
// decided before its methods are called; each writes the whole answer, and
// returns an error only to be logged.
type HTTP struct {
	Upload  *UploadPack
	Receive *ReceivePack
	// Stall ends an answer of which the client takes nothing for so long; 0 is
	// 2 minutes.
	Stall time.Duration
}

// The services that a client names in info/refs and in the last part of the
// path.
const (
	UploadService  = "git-upload-pack"
	ReceiveService = "git-receive-pack"
)

// InfoRefs answers GET info/refs?service=…; the caller has looked at Service to
// decide whether the client may.
func (h *HTTP) InfoRefs(w http.ResponseWriter, r *http.Request, t Target) error {
	service := Service(r)
	version := ParseVersion(r.Header.Get("Git-Protocol"))
	noCache(w)
	if service != UploadService && service != ReceiveService {
		http.Error(w, "this server speaks git's smart HTTP protocol only; use git 1.6.6 or later", http.StatusForbidden)
		return nil
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
	out := bufio.NewWriterSize(h.writer(w), 32<<10)
	var err error
	if service == UploadService {
		if version != V2 {
			_, _ = out.WriteString("001e# service=git-upload-pack\n0000")
		}
		err = h.Upload.Advertise(r.Context(), out, t, version)
	} else {
		_, _ = out.WriteString("001f# service=git-receive-pack\n0000")
		err = h.Receive.Advertise(r.Context(), out, t, version)
	}
	if err != nil {
		err = sendError(out, err)
	}
	return errors.Join(err, out.Flush())
}

// Service is the service that an info/refs request asks for, "" for the dumb
// protocol.
func Service(r *http.Request) string { return r.URL.Query().Get("service") }

// UploadPack answers POST git-upload-pack: one step of a fetch. client names
// who asks, for the bounds on what is computed at once.
func (h *HTTP) UploadPack(w http.ResponseWriter, r *http.Request, t Target, client string) error {
	body, ok := h.begin(w, r, UploadService, h.Upload.maxRequest())
	if !ok {
		return nil
	}
	defer body.Close()
	out := h.writer(w)
	err := h.Upload.Serve(r.Context(), UploadRequest{
		Target: t, Version: ParseVersion(r.Header.Get("Git-Protocol")), Client: client,
		In: body, Out: out, Stateless: true,
	})
	if r.Context().Err() != nil {
		return nil // the client has gone
	}
	return h.end(out, r, err)
}

// ReceivePack answers POST git-receive-pack: a push.
func (h *HTTP) ReceivePack(w http.ResponseWriter, r *http.Request, req ReceiveRequest) error {
	body, ok := h.begin(w, r, ReceiveService, math.MaxInt64)
	if !ok {
		return nil
	}
	defer body.Close()
	// progress is sent while the end of the pack is still on its way
	_ = http.NewResponseController(w).EnableFullDuplex()
	out := h.writer(w)
	req.Version, req.Stateless = ParseVersion(r.Header.Get("Git-Protocol")), true
	req.In, req.Out = body, out
	return h.end(out, r, h.Receive.Serve(r.Context(), req))
}

// begin checks a POST and opens its body, which git compresses when it is long.
func (h *HTTP) begin(w http.ResponseWriter, r *http.Request, service string, limit int64) (io.ReadCloser, bool) {
	noCache(w)
	if got := r.Header.Get("Content-Type"); got != "application/x-"+service+"-request" {
		http.Error(w, "this address takes git's own requests only", http.StatusUnsupportedMediaType)
		return nil, false
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-result")
	plain := &bodyReader{ReadCloser: r.Body, control: http.NewResponseController(w), stall: or(h.Stall, 2*time.Minute)}
	body := io.ReadCloser(plain)
	switch r.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip", "x-gzip":
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			http.Error(w, "the body is not gzip", http.StatusBadRequest)
			return nil, false
		}
		body = unzipped
	default:
		http.Error(w, "the body's encoding is not supported", http.StatusUnsupportedMediaType)
		return nil, false
	}
	// what does not fit is refused where it is read, so that git can be told
	return readCloser{limitReader(body, limit), body}, true
}

type readCloser struct {
	io.Reader
	io.Closer
}

// end turns what was not yet said to the client into an answer.
func (h *HTTP) end(out *responseWriter, r *http.Request, err error) error {
	var busy *BusyError
	if !errors.As(err, &busy) {
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	if out.wrote {
		return nil
	}
	out.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(busy.RetryAfter.Seconds()))))
	if knowsRetry(r.UserAgent()) {
		http.Error(out.w, busy.Error(), http.StatusTooManyRequests)
		return nil
	}
	// older clients show no text of an answer with an error status
	p := NewPacketWriter(out)
	if strings.HasSuffix(out.w.Header().Get("Content-Type"), ReceiveService+"-result") {
		sb := newSideband(out, MaxPacket)
		_ = sb.send(bandError, []byte(busy.Error()+"\n"))
		return sb.end()
	}
	p.Printf("ERR %s", busy.Error())
	return p.Err()
}

// knowsRetry says whether a client waits and tries again on status 429, as git
// does from 2.54 on.
func knowsRetry(agent string) bool {
	version, ok := strings.CutPrefix(agent, "git/")
	if !ok {
		return false
	}
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	return err1 == nil && err2 == nil && (a > 2 || a == 2 && b >= 54)
}

// noCache says what git's own server says.
func noCache(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Expires", "Fri, 01 Jan 1980 00:00:00 GMT")
	h.Set("Pragma", "no-cache")
	h.Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
}
