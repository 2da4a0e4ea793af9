package protocol

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

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
		if failed.Name == c.Ref {
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
		culprit := failed.Name
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
func (r *receipt) updateRefs(ctx context.Context, list []*Command) (refused *git.RefError, err error) {
	updates := make([]git.RefUpdate, len(list))
	for i, c := range list {
		updates[i] = git.RefUpdate{Name: c.Ref, Old: c.Old, New: c.New}
	}
	err = r.req.Repo.UpdateRefsWith(ctx, updates, git.RefOptions{Message: "push",
		Name: r.req.Identity.Name, Email: r.req.Identity.Email, Unflushed: len(list) >= manyRefs})
	if errors.As(err, &refused) {
		return refused, nil
	}
	return nil, err
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

// refReason puts git's refusal into a few words.
func refReason(failed *git.RefError) string {
	text := fatalLine(failed)
	switch {
	case errors.Is(failed, git.ErrRefChanged):
		return "the ref has moved meanwhile; fetch first"
	case strings.Contains(text, "cannot create"):
		_, why, _ := strings.Cut(text, ": ")
		return oneLine(why)
	case strings.Contains(text, "non-commit object"):
		return "a branch can only hold a commit"
	case strings.Contains(text, "nonexistent object"):
		return "missing necessary objects"
	case errors.Is(failed, git.ErrRefBusy):
		return "another push is moving this ref; try again"
	}
	return "failed to update ref"
}
