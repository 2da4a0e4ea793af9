package protocol

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/git"
)

// migrate moves the objects out of quarantine.
func (r *receipt) migrate() error {
	if r.quar == nil {
		return nil
	}
	r.push.Repo = r.req.Repo
	return r.quar.migrate(filepath.Join(r.req.Repo.Path, "objects"))
}

// moveRefs moves the refs that are left. An atomic push is one transaction of
// git's; otherwise the refs that git refuses are taken out and the rest is tried
// again.
func (r *receipt) moveRefs(ctx context.Context) error {
	list := r.push.Pending()
	if !r.push.Atomic {
		budget := 64
		return r.moveSome(ctx, list, &budget)
	}
	failed, err := r.updateRefs(ctx, list)
	if failed == nil {
		return err
	}
	for _, c := range list {
		if refusedRef(failed) == c.Ref {
			c.Reject("atomic transaction failed: %s", refReason(failed))
		}
	}
	for _, c := range list {
		c.Reject("atomic transaction failed")
	}
	return nil
}

// moveSome moves list in one transaction, or finds out which of it cannot move.
func (r *receipt) moveSome(ctx context.Context, list []*Command, budget *int) error {
	for len(list) > 0 {
		failed, err := r.updateRefs(ctx, list)
		if failed == nil {
			return err
		}
		culprit := refusedRef(failed)
		rest := make([]*Command, 0, len(list))
		for _, c := range list {
			if c.Ref == culprit || len(list) == 1 {
				c.Reject("%s", refReason(failed))
			} else {
				rest = append(rest, c)
			}
		}
		if *budget--; *budget <= 0 {
			for _, c := range rest {
				c.Reject("failed to update ref; too many refs of this push could not move")
			}
			return nil
		}
		if len(rest) == len(list) {
			half := len(list) / 2
			if err := r.moveSome(ctx, list[:half], budget); err != nil {
				return err
			}
			list = list[half:]
			continue
		}
		list = rest
	}
	return nil
}

// manyRefs is from how many refs on they are packed at once rather than each
// flushed to the disk.
const manyRefs = 256

// updateRefs runs one transaction. When git refused it, the refusal comes back;
// any other failure is the error.
func (r *receipt) updateRefs(ctx context.Context, list []*Command) (refused *git.CommandError, err error) {
	refused, err = r.transaction(ctx, list)
	if refused != nil && r.removeStaleLock(refused) {
		return r.transaction(ctx, list)
	}
	return refused, err
}

func (r *receipt) transaction(ctx context.Context, list []*Command) (refused *git.CommandError, err error) {
	// the commit is a command of its own, so that git moves nothing when this
	// process dies in the midst of the list
	var in strings.Builder
	in.WriteString("start\x00")
	for _, c := range list {
		switch c.Kind {
		case Create:
			in.WriteString("create " + c.Ref + "\x00" + string(c.New) + "\x00")
		case Update:
			in.WriteString("update " + c.Ref + "\x00" + string(c.New) + "\x00" + string(c.Old) + "\x00")
		case Delete:
			in.WriteString("delete " + c.Ref + "\x00" + string(c.Old) + "\x00")
		}
	}
	in.WriteString("prepare\x00commit\x00")
	cmd := r.req.Repo.Command(ctx, "update-ref", "-m", "push", "--no-deref", "--stdin", "-z").Stdin(strings.NewReader(in.String()))
	if id := r.req.Identity; id.Name != "" || id.Email != "" {
		cmd.Env("GIT_COMMITTER_NAME="+id.Name, "GIT_COMMITTER_EMAIL="+id.Email)
	}
	if len(list) >= manyRefs {
		cmd.Config("core.fsyncMethod", "writeout-only")
	}
	err = cmd.Run()
	var failed *git.CommandError
	if errors.As(err, &failed) && failed.Code > 0 {
		return failed, nil
	}
	return nil, err
}

// staleLock is the age from which on a lock belongs to nobody: git holds the
// locks of a transaction for seconds.
const staleLock = 10 * time.Minute

// removeStaleLock removes the lock that git could not take when whoever made it
// has died, as with the machine.
func (r *receipt) removeStaleLock(refused *git.CommandError) bool {
	_, rest, ok := strings.Cut(fatalLine(refused), "Unable to create '")
	path, _, ok2 := strings.Cut(rest, "': File exists")
	if !ok || !ok2 || !strings.HasSuffix(path, ".lock") {
		return false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.req.Repo.Path, path)
	}
	inside, err := filepath.Rel(r.req.Repo.Path, path)
	if err != nil || !filepath.IsLocal(inside) {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) > staleLock && os.Remove(path) == nil
}

// packRefs puts the refs into one file after a push of many: git reads them all
// for each push and fetch that follows. The file is flushed to the disk, which
// the many of before were not.
func (r *receipt) packRefs(ctx context.Context) error {
	err := r.req.Repo.Command(ctx, "pack-refs", "--all").Run()
	if err != nil {
		return errors.Join(err, syncFileSystem(r.req.Repo.Path))
	}
	return nil
}

// refusedRef is the ref that git named as the reason, or "".
func refusedRef(failed *git.CommandError) string {
	text := fatalLine(failed)
	for _, before := range []string{"cannot lock ref '", "cannot update ref '", "cannot update the ref '", "unable to resolve reference '"} {
		if _, rest, ok := strings.Cut(text, before); ok {
			ref, _, _ := strings.Cut(rest, "'")
			return ref
		}
	}
	return ""
}

// refReason puts git's refusal into a few words.
func refReason(failed *git.CommandError) string {
	text := fatalLine(failed)
	switch {
	case strings.Contains(text, "but expected"), strings.Contains(text, "reference already exists"),
		strings.Contains(text, "reference is missing"), strings.Contains(text, "unable to resolve reference"):
		return "the ref has moved meanwhile; fetch first"
	case strings.Contains(text, "cannot create"):
		_, why, _ := strings.Cut(text, ": ")
		return oneLine(why)
	case strings.Contains(text, "non-commit object"):
		return "a branch can only hold a commit"
	case strings.Contains(text, "nonexistent object"):
		return "missing necessary objects"
	case strings.Contains(text, "Unable to create"):
		return "another push is moving this ref; try again"
	}
	return "failed to update ref"
}
