package protocol

import (
	"context"
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/git"
)

// connected checks that nothing is missing behind the new tips. When something
// is, it finds the refs concerned and refuses them alone.
func (r *receipt) connected(ctx context.Context) error {
	var tips []*Command
	for _, c := range r.push.Pending() {
		if c.Kind != Delete {
			tips = append(tips, c)
		}
	}
	budget := 64
	return r.connectedTips(ctx, tips, &budget)
}

// connectedTips halves the tips until the bad ones stand alone. Once the budget
// of processes is spent, all that are left are refused.
func (r *receipt) connectedTips(ctx context.Context, tips []*Command, budget *int) error {
	if len(tips) == 0 {
		return nil
	}
	ok := false
	if *budget--; *budget >= 0 {
		var err error
		if ok, err = r.reachable(ctx, tips); err != nil {
			return err
		}
	}
	switch {
	case ok:
		return nil
	case len(tips) == 1 || *budget <= 0:
		reason := "missing necessary objects"
		if len(r.asked.shallow) > 0 {
			reason = "shallow update not allowed"
			r.push.Remote("your clone is shallow and the history behind %s is not on the server; run git fetch --unshallow and push again", tips[0].Ref)
		}
		for _, c := range tips {
			c.Reject("%s", reason)
		}
		return nil
	}
	half := len(tips) / 2
	if err := r.connectedTips(ctx, tips[:half], budget); err != nil {
		return err
	}
	return r.connectedTips(ctx, tips[half:], budget)
}

// reachable says whether git finds all objects behind tips that the refs do not
// already hold.
func (r *receipt) reachable(ctx context.Context, tips []*Command) (bool, error) {
	var in strings.Builder
	for _, c := range tips {
		in.WriteString(string(c.New) + "\n")
	}
	err := r.push.Repo.Command(ctx, "rev-list", "--objects", "--stdin", "--not", "--all", "--quiet", "--alternate-refs").
		Stdin(strings.NewReader(in.String())).Run()
	if err == nil {
		return true, nil
	}
	var failed *git.CommandError
	if errors.As(err, &failed) && failed.Code > 0 {
		return false, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return false, cause
	}
	return false, err
}
