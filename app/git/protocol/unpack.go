package protocol

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/gitfor/gitfor/app/git"
)

// takePack unpacks what the client sends into a new quarantine, checking each
// object as receive.fsckObjects does.
func (r *receipt) takePack(ctx context.Context) error {
	objects, err := packObjects(r.pack)
	if err != nil {
		r.unpack = "the pack is broken: " + err.Error()
		r.skipPack()
		return complaint("unpacker error")
	}
	q, err := newQuarantine(r.s.Quarantine)
	if err != nil {
		r.skipPack()
		return err
	}
	r.quar = q
	if r.push.Repo, err = r.req.Repo.Quarantined(q.objects()); err != nil {
		r.skipPack()
		return err
	}
	cmd, err := r.unpacker(ctx, objects)
	if err != nil {
		r.skipPack()
		return err
	}
	stdin, err := cmd.Stderr(progressOnly{r.push.progress}).StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.skipPack()
		return err
	}
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		_, err := io.Copy(stdin, r.pack)
		_ = stdin.Close()
		if err == nil {
			r.release()
			return
		}
		// git ended before the pack did; a client must be heard out before it
		// listens
		_, _ = io.CopyN(io.Discard, r.pack, r.s.maxPack())
	}()
	if err = cmd.Wait(); err == nil {
		return nil
	}
	r.rest = rest
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return r.unpackFailed(err)
}

// unpackFailed finds words for a pack that git did not accept.
func (r *receipt) unpackFailed(err error) error {
	text := fatalLine(err)
	switch {
	case strings.Contains(text, "maximum allowed size"):
		r.push.Remote("the push is larger than the %s that are allowed at once; push in parts, or use git-lfs for large files", size(r.s.maxPack()))
		text = "the pack is larger than allowed"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		r.push.Remote("the disk of the server is full; nothing was changed, tell its operator")
		text = "no space left on the server"
	case text == "":
		text = "git could not unpack it"
	}
	r.unpack = oneLine(text)
	return complaint("unpacker error")
}

// unpacker is the git that unpacks a pack of so many objects.
func (r *receipt) unpacker(ctx context.Context, objects uint32) (*git.Cmd, error) {
	fsck := r.s.Fsck
	if fsck == nil {
		fsck = DefaultFsck()
	}
	strict := "--strict"
	if len(fsck) > 0 {
		strict += "=" + strings.Join(fsck, ",")
	}
	limit := "--max-input-size=" + strconv.FormatInt(r.s.maxPack(), 10)
	few := r.s.UnpackLimit
	if few <= 0 {
		few = 100
	}
	var cmd *git.Cmd
	if objects < uint32(few) {
		// git flushes packs but not loose objects. These are written out here, and
		// the flush of the ref that follows makes them outlast a loss of power
		// too, at no wait of their own
		cmd = r.push.Repo.Command(ctx, "unpack-objects", "-q", strict, limit).
			Config("core.fsync", "loose-object").Config("core.fsyncMethod", "writeout-only")
	} else {
		args := []string{"--stdin", "--fix-thin", strict, limit}
		if !r.asked.caps.Has("quiet") {
			args = append(args, "--show-resolving-progress")
		}
		cmd = r.push.Repo.Command(ctx, "index-pack", args...)
	}
	if len(r.asked.shallow) > 0 {
		file := filepath.Join(r.quar.dir, "shallow")
		if err := os.WriteFile(file, []byte(strings.Join(r.asked.shallow, "\n")+"\n"), 0o600); err != nil {
			return nil, err
		}
		cmd.Env("GIT_SHALLOW_FILE=" + file)
	}
	return cmd, nil
}

// packObjects looks at a pack's header for the number of its objects.
func packObjects(r interface{ Peek(int) ([]byte, error) }) (uint32, error) {
	head, err := r.Peek(12)
	if err != nil {
		return 0, unexpected(err)
	}
	if string(head[:4]) != "PACK" {
		return 0, errors.New("it does not begin with PACK")
	}
	if v := binary.BigEndian.Uint32(head[4:]); v != 2 && v != 3 {
		return 0, errors.New("its version is " + strconv.Itoa(int(v)))
	}
	return binary.BigEndian.Uint32(head[8:]), nil
}

// progressOnly passes git's progress and complaints on to the client. That the
// client has gone is noticed elsewhere.
type progressOnly struct{ w io.Writer }

func (p progressOnly) Write(b []byte) (int, error) {
	_, _ = p.w.Write(b)
	return len(b), nil
}

// size is n bytes in words.
func size(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return strconv.FormatInt(n>>30, 10) + " GB"
	case n >= 1<<20:
		return strconv.FormatInt(n>>20, 10) + " MB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
