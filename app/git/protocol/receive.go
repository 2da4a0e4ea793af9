package protocol

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// ReceivePack takes pushes in. Quarantine must be set; all else has defaults.
type ReceivePack struct {
	// Quarantine is the folder in which the objects of a push lie until they
	// are accepted. It must be on the file system of the repositories.
	Quarantine string
	// Gate bounds the pushes under way; nil for none.
	Gate *Gate
	// MaxPack bounds one pack in bytes as sent; 0 is 2 GB.
	MaxPack int64
	// MaxCommands bounds the refs of one push; 0 is 50,000.
	MaxCommands int
	// MaxOptions bounds the push options; 0 is 100.
	MaxOptions int
	// UnpackLimit is the number of objects from which on a pack is kept as a
	// pack; smaller ones become loose objects. 0 is 100, as git has it.
	UnpackLimit int
	// Namespaces are the prefixes of the refs that may be pushed; nil is
	// refs/heads/, refs/tags/ and refs/notes/.
	Namespaces []string
	// Fsck overrides severities of git fsck's checks ("badTimezone=ignore");
	// nil is DefaultFsck.
	Fsck []string
	// KeepAlive is how long the answer may be silent; 0 is 5 seconds.
	KeepAlive time.Duration
	// Agent is what the server calls itself, such as "gitfor/1.0".
	Agent string
	// FailPoint, if set, is called between the steps of a push. Tests stop the
	// process there. The names are the Point constants.
	FailPoint func(name string)
}

// The steps between which FailPoint is called, in their order.
const (
	PointQuarantined = "push-quarantined" // the objects are whole, in quarantine
	PointPrepared    = "push-prepared"    // Prepare has returned
	PointMigrated    = "push-migrated"    // the objects are in the repository
	PointRefsMoved   = "push-refs-moved"  // the refs have moved
	PointDone        = "push-done"        // Done has returned
	PointAnswered    = "push-answered"    // the client has its answer
)

// Points lists the fail points in the order in which a push meets them.
func Points() []string {
	return []string{PointQuarantined, PointPrepared, PointMigrated, PointRefsMoved, PointDone, PointAnswered}
}

// DefaultFsck tolerates what old histories of well-known projects contain.
func DefaultFsck() []string {
	return []string{"badTimezone=ignore", "missingSpaceBeforeDate=ignore", "zeroPaddedFilemode=ignore"}
}

// Identity is who the reflog says has moved the refs.
type Identity struct{ Name, Email string }

// Hooks are what the caller does in the course of a push. Each may be nil.
type Hooks struct {
	// Check decides about the push while its objects are in quarantine. It
	// refuses single refs by Command.Reject, all of them by returning a
	// *Refusal.
	Check func(ctx context.Context, p *Push) error
	// Prepare is called once for the refs that are left (Push.Pending, never
	// none), just before they move: the place to record the intent. From here
	// on the push goes to its end even when the client has gone.
	Prepare func(ctx context.Context, p *Push) error
	// Done is called when Prepare was and the refs have moved, or have failed
	// to: results has every command of the push. The messages are shown to the
	// person who pushes. An error does not undo the push; it is returned by
	// Serve.
	Done func(ctx context.Context, p *Push, results []Result) (messages []string, err error)
}

// ReceiveRequest is one push: over HTTP the request with the pack, over SSH a
// session.
type ReceiveRequest struct {
	Target
	Hooks
	Version Version
	// Client names who asks, for Gate: an account or an address.
	Client   string
	Identity Identity
	In       io.Reader
	Out      io.Writer
	// Stateless is true over HTTP: the advertisement was a request of its own.
	Stateless bool
}

func (s *ReceivePack) limits() pushLimits {
	l := pushLimits{commands: s.MaxCommands, options: s.MaxOptions}
	if l.commands <= 0 {
		l.commands = 50_000
	}
	if l.options <= 0 {
		l.options = 100
	}
	return l
}

func (s *ReceivePack) point(name string) {
	if s.FailPoint != nil {
		s.FailPoint(name)
	}
}

// CleanQuarantine removes what pushes of processes that have died left behind.
// Call it at start; pushes that are under way in other processes are spared.
func (s *ReceivePack) CleanQuarantine() error {
	if err := removeUnlocked(s.Quarantine, quarantinePrefix); err != nil {
		return fmt.Errorf("clean the quarantine: %w", err)
	}
	return nil
}

// Serve takes one push in. A push that is refused is no error: the client was
// told. Only *BusyError is not yet told over HTTP, which has a status for it.
func (s *ReceivePack) Serve(ctx context.Context, req ReceiveRequest) error {
	leave, err := s.Gate.Enter(ctx, req.key(), req.Client)
	if err != nil {
		if !req.Stateless {
			return sendError(req.Out, err)
		}
		return err
	}
	defer leave()
	if !req.Stateless {
		if err := s.Advertise(ctx, req.Out, req.Target, req.Version); err != nil {
			return sendError(req.Out, err)
		}
	}
	limits := s.limits()
	in := NewPacketReader(req.In, int64(limits.commands)*(2*64+1024)+int64(limits.options)*4096)
	asked, err := readPushRequest(in, req.hexLen(), limits)
	if err != nil && asked == nil {
		return s.refuseUnread(ctx, req, in, err)
	}
	if err == nil && len(asked.commands) == 0 {
		return nil
	}
	r := newReceipt(s, req, asked, in.Rest())
	defer r.close()
	return r.run(ctx, err)
}

// refuseUnread tells of a request that could not be understood. The client
// sends its pack before it listens, so that is read first.
func (s *ReceivePack) refuseUnread(ctx context.Context, req ReceiveRequest, in *PacketReader, err error) error {
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		s.drain(ctx, in.Rest())
	}
	sb := newSideband(req.Out, MaxPacket)
	_ = sb.send(bandError, []byte(messageFor(err)+"\n"))
	if werr := sb.end(); clientsFault(err) {
		return werr
	}
	return err
}

func (s *ReceivePack) maxPack() int64 {
	if s.MaxPack > 0 {
		return s.MaxPack
	}
	return 2 << 30
}

// drain reads and drops what a client still sends, for a while.
func (s *ReceivePack) drain(ctx context.Context, r *bufio.Reader) {
	rc := &receipt{s: s, pack: r}
	rc.skipPack()
	rc.awaitRest(ctx)
}
