package protocol

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"
)

// receipt is one push under way.
type receipt struct {
	s     *ReceivePack
	req   ReceiveRequest
	asked *pushRequest
	pack  *bufio.Reader
	push  *Push
	sb    *sideband // nil when the client wants none
	quar  *quarantine
	free  func() // ends the hold on the repository's objects

	unpack string // why unpacking failed, for the report
	// rest, if set, is closed when the client has sent all that it will, or
	// too much
	rest <-chan struct{}
}

func newReceipt(s *ReceivePack, req ReceiveRequest, asked *pushRequest, pack *bufio.Reader) *receipt {
	r := &receipt{s: s, req: req, asked: asked, pack: pack}
	progress := io.Discard
	if n := asked.sidebandSize(); n > 0 {
		r.sb = newSideband(req.Out, n)
		progress = band{r.sb, bandProgress}
	}
	r.push = &Push{Repo: req.Repo, Commands: asked.commands, Options: asked.options,
		Atomic: asked.caps.Has("atomic"), progress: progress}
	return r
}

func (r *receipt) close() {
	if r.quar != nil {
		r.quar.remove()
	}
	if r.free != nil {
		r.free()
	}
}

// run takes the push through its steps and answers. bad is what was wrong with
// its commands, if they could be read at all.
func (r *receipt) run(ctx context.Context, bad error) error {
	if r.sb != nil {
		// over HTTP nothing is said before the whole request was read
		if r.req.Stateless {
			r.sb.hold()
		}
		every := r.s.KeepAlive
		if every == 0 {
			every = 5 * time.Second
		}
		stop := r.sb.keepAlive(every)
		defer stop()
	}
	err := bad
	if err == nil {
		err = r.receive(ctx)
	}
	if err != nil {
		r.refuseAll(err)
	}
	// an HTTP client listens when it has sent its whole request, one on SSH
	// stops sending when it has heard the answer
	if r.req.Stateless {
		r.awaitRest(ctx)
	} else {
		defer r.awaitRest(ctx)
	}
	r.release()
	var done error
	if err == nil {
		done = r.settle(ctx)
	}
	sent := r.report()
	r.s.point(PointAnswered)
	if done != nil {
		return done
	}
	if err != nil && !clientsFault(err) {
		return err
	}
	return sent
}

// release lets progress through to the client.
func (r *receipt) release() {
	if r.sb != nil {
		r.sb.release()
	}
}

// skipPack drops the pack, in the background.
func (r *receipt) skipPack() {
	gone := make(chan struct{})
	r.rest = gone
	go func() {
		defer close(gone)
		_, _ = io.CopyN(io.Discard, r.pack, r.s.maxPack())
	}()
}

// awaitRest waits, not forever, until a client whose pack was refused has sent
// it all.
func (r *receipt) awaitRest(ctx context.Context) {
	if r.rest == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	select {
	case <-r.rest:
	case <-ctx.Done():
	}
}

// refuseAll refuses what is left of the push because of err.
func (r *receipt) refuseAll(err error) {
	reason := messageFor(err)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		reason = refusal.reason()
		if text := strings.TrimSpace(refusal.Message); text != reason {
			r.push.Remote("%s", text)
		}
	}
	for _, c := range r.push.Commands {
		c.Reject("%s", reason)
	}
}

// receive does all that comes before the refs move.
func (r *receipt) receive(ctx context.Context) error {
	if err := r.screen(ctx); err != nil {
		return err
	}
	// What the push relies on must not go before a ref reaches it.
	free, err := r.req.Repo.Hold(ctx)
	if err != nil {
		return err
	}
	r.free = free
	if !r.asked.needsPack() {
		r.release()
	} else {
		if err := r.takePack(ctx); err != nil {
			return err
		}
		if err := r.connected(ctx); err != nil {
			return err
		}
	}
	r.s.point(PointQuarantined)
	if r.heldBack() || r.req.Check == nil {
		return nil
	}
	return r.req.Check(ctx, r.push)
}

// heldBack refuses the rest of an atomic push of which one ref was refused. It
// reports whether nothing is left to do.
func (r *receipt) heldBack() bool {
	pending := r.push.Pending()
	if r.push.Atomic && len(pending) < len(r.push.Commands) {
		for _, c := range pending {
			c.Reject("atomic push failed because another ref was refused")
		}
		return true
	}
	return len(pending) == 0
}

// settle moves objects and refs and tells the caller. From Prepare on it does
// not depend on the client any more.
func (r *receipt) settle(ctx context.Context) error {
	if r.heldBack() {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if r.req.Prepare != nil {
		if err := r.req.Prepare(ctx, r.push); err != nil {
			r.refuseAll(err)
			if clientsFault(err) {
				return nil
			}
			return err
		}
	}
	r.s.point(PointPrepared)
	err := r.migrate()
	if err == nil {
		r.s.point(PointMigrated)
		err = r.moveRefs(ctx)
	}
	if err != nil {
		r.refuseAll(err)
		return errors.Join(err, r.done(ctx))
	}
	if len(r.push.Pending()) >= manyRefs {
		err = r.packRefs(ctx)
	}
	r.s.point(PointRefsMoved)
	return errors.Join(err, r.done(ctx))
}

// done gives the caller the results and shows its messages.
func (r *receipt) done(ctx context.Context) error {
	if r.req.Done == nil {
		return nil
	}
	results := make([]Result, len(r.push.Commands))
	for i, c := range r.push.Commands {
		results[i] = Result{Command: c, OK: c.reason == ""}
	}
	messages, err := r.req.Done(ctx, r.push, results)
	for _, m := range messages {
		r.push.Remote("%s", m)
	}
	r.s.point(PointDone)
	return err
}

// report answers with report-status (gitprotocol-pack(5)); its second version
// differs only for refs that a server renames.
func (r *receipt) report() error {
	var text []byte
	if r.asked.caps.Has("report-status") || r.asked.caps.Has("report-status-v2") {
		unpack := "ok"
		if r.unpack != "" {
			unpack = r.unpack
		}
		text = appendPacket(text, "unpack "+unpack+"\n")
		for _, c := range r.push.Commands {
			if c.reason == "" {
				text = appendPacket(text, "ok "+c.Ref+"\n")
			} else {
				text = appendPacket(text, "ng "+c.Ref+" "+c.reason+"\n")
			}
		}
		text = append(text, "0000"...)
	}
	if r.sb == nil {
		_, err := r.req.Out.Write(text)
		return err
	}
	if err := r.sb.send(bandData, text); err != nil {
		return err
	}
	return r.sb.end()
}
