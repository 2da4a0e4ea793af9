package repos

import (
	"context"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// auditEdit notes each kind of change between two states of a repository.
func auditEdit(ctx context.Context, tx db.Tx, viewer *model.Viewer, before, after *model.Repo) error {
	note := func(action, name string, was, is any) error {
		return audit.Record(ctx, tx, audit.Entry{Action: action, Actor: viewer, Repo: after,
			Before: audit.Facts{name: was}, After: audit.Facts{name: is}})
	}
	if before.Name != after.Name {
		if err := note("repo.rename", "name", before.Name, after.Name); err != nil {
			return err
		}
	}
	if before.Visibility != after.Visibility {
		if err := note("repo.access", "visibility", before.Visibility, after.Visibility); err != nil {
			return err
		}
	}
	if before.Archived() != after.Archived() {
		action := "repo.archived"
		if before.Archived() {
			action = "repo.unarchived"
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: action, Actor: viewer, Repo: after}); err != nil {
			return err
		}
	}
	if before.DefaultBranch != after.DefaultBranch {
		if err := note("repo.update_default_branch", "default_branch", before.DefaultBranch, after.DefaultBranch); err != nil {
			return err
		}
	}
	was, is := switches(before), switches(after)
	for name := range was {
		if was[name] == is[name] {
			delete(was, name)
			delete(is, name)
		}
	}
	if len(was) == 0 {
		return nil
	}
	return audit.Record(ctx, tx, audit.Entry{Action: "repo.update", Actor: viewer, Repo: after, Before: was, After: is})
}

// switches are the settings that decide what people may do.
func switches(r *model.Repo) audit.Facts {
	st := r.Settings
	return audit.Facts{"template": r.Template, "issues": !st.NoIssues, "merge_commits": !st.NoMerge, "squash": !st.NoSquash,
		"rebase": !st.NoRebase, "auto_merge": st.AutoMerge, "delete_branch_on_merge": st.DeleteOnMerge,
		"description": r.Description, "website": r.Website}
}
