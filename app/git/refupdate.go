package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Errors of moving refs.
var (
	// ErrRefChanged: a ref is not, or no longer, where the update expected it.
	ErrRefChanged = errors.New("ref has changed")
	// ErrRefConflict: a ref cannot exist beside another, as a and a/b cannot.
	ErrRefConflict = errors.New("ref conflicts with another")
	// ErrRefBusy: someone else is writing the ref just now.
	ErrRefBusy = errors.New("ref is being written")
)

// RefUpdate moves one ref.
type RefUpdate struct {
	// Name is the full name.
	Name string
	// Old is where the ref must be now: zeros for "must not exist", empty for
	// "does not matter".
	Old OID
	// New is where it goes; zeros or empty delete it.
	New OID
}

// RefError says which ref of a transaction failed. It unwraps to ErrRefChanged,
// ErrRefConflict, ErrRefBusy or git's own error.
type RefError struct {
	// Name is the full name, empty when git did not say.
	Name string
	Err  error
}

func (e *RefError) Error() string { return fmt.Sprintf("ref %q: %v", e.Name, e.Err) }

// Unwrap is the reason.
func (e *RefError) Unwrap() error { return e.Err }

// RefTransaction is updates that are checked and locked and wait for Commit or
// Abort, one of which must follow.
type RefTransaction struct {
	cmd  *Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	done bool
	free func() // ends the hold on the repository's objects
}

// RefOptions say how refs move; the zero value is good.
type RefOptions struct {
	// Message, Name and Email are what the reflog says.
	Message, Name, Email string
	// Unflushed leaves it to the caller to flush the refs to the disk, for very
	// many of them.
	Unflushed bool
}

// UpdateRefs moves all refs or none. Every change of refs in this program goes
// through PrepareRefs, which it is made of.
func (r *Repository) UpdateRefs(ctx context.Context, updates []RefUpdate) error {
	return r.UpdateRefsWith(ctx, updates, RefOptions{})
}

// UpdateRefsWith is UpdateRefs with options. A lock that a crash left behind
// long ago is removed.
func (r *Repository) UpdateRefsWith(ctx context.Context, updates []RefUpdate, opts RefOptions) error {
	if len(updates) == 0 {
		return nil
	}
	tx, err := r.PrepareRefs(ctx, updates, opts)
	if errors.Is(err, ErrRefBusy) && r.removeStaleLock(err) {
		tx, err = r.PrepareRefs(ctx, updates, opts)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// PrepareRefs locks the refs and checks that they are where the updates say.
// From then on Commit fails only when the disk does, so other records of the
// move can be written in between. Ending ctx aborts, and so does the death of
// this process: the commit is a command of its own.
func (r *Repository) PrepareRefs(ctx context.Context, updates []RefUpdate, opts RefOptions) (*RefTransaction, error) {
	if r.quarantine != "" {
		return nil, errors.New("refs cannot move while objects are in quarantine")
	}
	var input strings.Builder
	input.WriteString("start\x00")
	for _, u := range updates {
		if err := r.writeUpdate(&input, u); err != nil {
			return nil, err
		}
	}
	input.WriteString("prepare\x00")
	free, err := r.Hold(ctx)
	if err != nil {
		return nil, err
	}
	tx := &RefTransaction{cmd: r.refCommand(ctx, opts), free: free}
	if err := r.begin(tx, input.String()); err != nil {
		free()
		return nil, err
	}
	return tx, nil
}

func (r *Repository) refCommand(ctx context.Context, opts RefOptions) *Cmd {
	options := []string{"--no-deref", "-z", "--stdin"}
	if opts.Message != "" {
		options = append(options, "-m", opts.Message)
	}
	cmd := r.Command(ctx, "update-ref", options...)
	if opts.Name != "" || opts.Email != "" {
		cmd.Env("GIT_COMMITTER_NAME="+opts.Name, "GIT_COMMITTER_EMAIL="+opts.Email)
	}
	if opts.Unflushed {
		cmd.Config("core.fsyncMethod", "writeout-only")
	}
	return cmd
}

// begin runs git and gives it the updates.
func (r *Repository) begin(tx *RefTransaction, input string) (err error) {
	if tx.in, err = tx.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := tx.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	tx.out = bufio.NewReader(out)
	if err := tx.cmd.Start(); err != nil {
		return err
	}
	// git may fail before it has read all; its own word on that counts.
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(tx.in, input)
		sent <- err
	}()
	err = tx.expect("start", "prepare")
	if werr := <-sent; err == nil && werr != nil {
		err = werr
	}
	if err != nil {
		return tx.fail(err)
	}
	return nil
}

// writeUpdate writes one update as update-ref -z reads it.
func (r *Repository) writeUpdate(b *strings.Builder, u RefUpdate) error {
	// A name that is no good can still be deleted, if git takes it.
	if !ValidRefName(u.Name) {
		return &RefError{Name: u.Name, Err: errors.New("name is not valid")}
	}
	hexLen := 2 * r.shared.format.rawLen()
	for _, oid := range []OID{u.Old, u.New} {
		if oid != "" && (len(oid) != hexLen || !oid.Valid()) {
			return &RefError{Name: u.Name, Err: fmt.Errorf("%q is no object id here", oid)}
		}
	}
	if u.New.IsZero() {
		old := u.Old
		if old.IsZero() {
			old = "" // update-ref has no word for deleting what must not exist
		}
		b.WriteString("delete " + u.Name + "\x00" + string(old) + "\x00")
		return nil
	}
	b.WriteString("update " + u.Name + "\x00" + string(u.New) + "\x00" + string(u.Old) + "\x00")
	return nil
}

// expect reads git's "<step>: ok" lines.
func (tx *RefTransaction) expect(steps ...string) error {
	for _, step := range steps {
		line, err := tx.out.ReadString('\n')
		if err != nil {
			return fmt.Errorf("update-ref ended before %s", step)
		}
		if strings.TrimSpace(line) != step+": ok" {
			return fmt.Errorf("update-ref said %q to %s", line, step)
		}
	}
	return nil
}

// Commit moves the refs.
func (tx *RefTransaction) Commit() error {
	if tx.done {
		return errors.New("ref transaction has ended")
	}
	tx.done = true
	defer tx.free()
	if _, err := io.WriteString(tx.in, "commit\x00"); err != nil {
		return tx.fail(err)
	}
	if err := tx.expect("commit"); err != nil {
		return tx.fail(err)
	}
	tx.in.Close()
	return tx.cmd.Wait()
}

// Abort leaves the refs as they are; after Commit it does nothing.
func (tx *RefTransaction) Abort() {
	if tx.done {
		return
	}
	tx.done = true
	defer tx.free()
	_, _ = io.WriteString(tx.in, "abort\x00") // the end of the input aborts as well
	tx.in.Close()
	_ = tx.cmd.Wait() // nothing has moved, whatever it says
}

// fail ends git and makes an error of what it said.
func (tx *RefTransaction) fail(err error) error {
	tx.done = true
	tx.in.Close()
	_, _ = io.Copy(io.Discard, tx.out) // so that git can end
	if werr := tx.cmd.Wait(); werr != nil {
		err = werr
	}
	var ce *CommandError
	if !errors.As(err, &ce) || ce.Code < 0 {
		return err
	}
	return &RefError{Name: quotedRef(ce.Stderr), Err: refReason(ce)}
}

// SetHead makes branch (short name) the default branch.
func (r *Repository) SetHead(ctx context.Context, branch string) error {
	if !ValidBranchName(branch) {
		return fmt.Errorf("default branch %q: name is not valid", branch)
	}
	return r.Command(ctx, "symbolic-ref", "HEAD").Revs(BranchPrefix + branch).Run()
}
