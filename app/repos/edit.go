package repos

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// EditInput changes a repository; nil fields stay as they are. JSON names are
// GitHub's (https://docs.github.com/rest/repos/repos#update-a-repository).
type EditInput struct {
	Name          *string   `form:"name" json:"name"`
	Description   *string   `form:"description" json:"description"`
	Website       *string   `form:"website" json:"homepage"`
	DefaultBranch *string   `form:"default_branch" json:"default_branch"`
	Visibility    *string   `form:"visibility" json:"visibility"`
	Private       *bool     `form:"-" json:"private"`
	Archived      *bool     `form:"archived" json:"archived"`
	Topics        *[]string `form:"topics" json:"topics"`
	HasIssues     *bool     `form:"has_issues" json:"has_issues"`
	AllowMerge    *bool     `form:"allow_merge" json:"allow_merge_commit"`
	AllowSquash   *bool     `form:"allow_squash" json:"allow_squash_merge"`
	AllowRebase   *bool     `form:"allow_rebase" json:"allow_rebase_merge"`
	AutoMerge     *bool     `form:"auto_merge" json:"allow_auto_merge"`
	DeleteOnMerge *bool     `form:"delete_on_merge" json:"delete_branch_on_merge"`
	Template      *bool     `form:"template" json:"is_template"`
	// ImmutableReleases keeps the tag and files of what is published from now
	// on for good.
	ImmutableReleases *bool `form:"immutable_releases" json:"-"`
}

// Validate returns what is wrong, by field.
func (in *EditInput) Validate() fault.Fields {
	f := fault.Fields{}
	if in.Name != nil {
		f.Add("name", CheckName(*in.Name))
	}
	if in.Description != nil {
		f.Add("description", checkText(*in.Description, MaxDescription))
	}
	if in.Website != nil {
		f.Add("website", checkWebsite(*in.Website))
	}
	if in.Private != nil && in.Visibility == nil {
		v := model.Public
		if *in.Private {
			v = model.Private
		}
		in.Visibility = &v
	}
	if in.Visibility != nil && *in.Visibility != model.Public && *in.Visibility != model.Private {
		f.Add("visibility", "Choose public or private.")
	}
	if in.Topics != nil {
		if len(*in.Topics) > MaxTopics {
			f.Add("topics", "There may be at most 20 topics.")
		}
		for i, t := range *in.Topics {
			(*in.Topics)[i] = strings.ToLower(strings.TrimSpace(t))
			if !checkTopic((*in.Topics)[i]) {
				f.Add("topics", "A topic has lower-case letters, digits and hyphens only, at most 50.")
			}
		}
	}
	return f
}

// set gives *dst the value of src, when there is one, and reports a change.
func set[T comparable](dst, src *T) bool {
	if src == nil || *dst == *src {
		return false
	}
	*dst = *src
	return true
}

// setNot is set for switches that are stored the other way round.
func setNot(dst, src *bool) bool {
	if src == nil || *dst != *src {
		return false
	}
	*dst = !*src
	return true
}

// Edit changes a repository; each kind of change has its own event. The
// viewer's right is checked by the route.
func (s *Service) Edit(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in EditInput) error {
	if err := in.Validate().Err(); err != nil {
		return err
	}
	if repo.Archived() && (in.Archived == nil || *in.Archived) {
		return fault.New(fault.Forbidden, "This repository is archived and read-only. Unarchive it first.")
	}
	if in.DefaultBranch != nil && *in.DefaultBranch != repo.DefaultBranch {
		if err := s.checkBranch(ctx, repo, *in.DefaultBranch); err != nil {
			return err
		}
	}
	before := *repo
	before.Topics = slices.Clone(repo.Topics)
	err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		*repo = before
		return s.edit(ctx, tx, viewer, repo, in)
	})
	if errors.Is(err, db.ErrConflict) {
		return fault.Field("name", repo.Owner.Name+" already has a repository of that name.")
	}
	if err == nil && repo.DefaultBranch != before.DefaultBranch {
		err = s.pointHead(ctx, repo)
	}
	return err
}

func (s *Service) edit(ctx context.Context, tx db.DirectoryTx, viewer *model.Viewer, repo *model.Repo, in EditInput) error {
	var payloads []events.Payload
	from, before := repo.FullName(), *repo
	if in.Name != nil && *in.Name != repo.Name {
		if err := repodb.Move(ctx, tx, repo, repo.OwnerID, *in.Name); err != nil {
			return err
		}
		payloads = append(payloads, Renamed{facts(repo), from})
	}
	if old := repo.Visibility; set(&repo.Visibility, in.Visibility) {
		payloads = append(payloads, VisibilityChanged{facts(repo), old})
	}
	if old := repo.DefaultBranch; set(&repo.DefaultBranch, in.DefaultBranch) {
		payloads = append(payloads, DefaultBranchChanged{facts(repo), old})
	}
	if in.Archived != nil && *in.Archived != repo.Archived() {
		if *in.Archived {
			now := tx.Now()
			repo.ArchivedAt = &now
			payloads = append(payloads, Archived{facts(repo)})
		} else {
			repo.ArchivedAt = nil
			payloads = append(payloads, Unarchived{facts(repo)})
		}
	}
	if changed := editFields(repo, in); len(changed) > 0 {
		payloads = append(payloads, Edited{facts(repo), changed})
	}
	if len(payloads) == 0 {
		return nil
	}
	err := repodb.Update(ctx, tx, repo, "description", "website", "topics", "visibility", "default_branch", "archived_at",
		"template", "settings")
	if err == nil {
		err = auditEdit(ctx, tx, viewer, &before, repo)
	}
	for _, p := range payloads {
		if err == nil {
			err = events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, p)
		}
	}
	return err
}

func editFields(repo *model.Repo, in EditInput) (changed []string) {
	note := func(name string, ok bool) {
		if ok {
			changed = append(changed, name)
		}
	}
	st := &repo.Settings
	note("description", set(&repo.Description, in.Description))
	note("website", set(&repo.Website, in.Website))
	note("template", set(&repo.Template, in.Template))
	note("has_issues", setNot(&st.NoIssues, in.HasIssues))
	note("allow_merge", setNot(&st.NoMerge, in.AllowMerge))
	note("allow_squash", setNot(&st.NoSquash, in.AllowSquash))
	note("allow_rebase", setNot(&st.NoRebase, in.AllowRebase))
	note("auto_merge", set(&st.AutoMerge, in.AutoMerge))
	note("delete_on_merge", set(&st.DeleteOnMerge, in.DeleteOnMerge))
	note("immutable_releases", set(&st.ImmutableReleases, in.ImmutableReleases))
	if in.Topics != nil && !slices.Equal(repo.Topics, *in.Topics) {
		repo.Topics = *in.Topics
		note("topics", true)
	}
	return changed
}

// Transfer gives the repository to another account that the viewer may create
// repositories in.
func (s *Service) Transfer(ctx context.Context, viewer *model.Viewer, repo *model.Repo, to string) error {
	owner, err := s.mayCreate(ctx, viewer, to)
	if errors.Is(err, db.ErrNotFound) {
		return fault.Field("new_owner", "There is no account “"+to+"”.")
	}
	if err != nil {
		return err
	}
	from, fromID := repo.FullName(), repo.OwnerID
	err = s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := repodb.Move(ctx, tx, repo, owner.ID, repo.Name); err != nil {
			return err
		}
		repo.Owner = owner
		// Both owners find it in their logs.
		for _, account := range []int64{fromID, owner.ID} {
			if err := audit.Record(ctx, tx, audit.Entry{Action: "repo.transfer", Actor: viewer, Repo: repo, AccountID: account,
				Before: audit.Facts{"name": from}, After: audit.Facts{"name": repo.FullName()}}); err != nil {
				return err
			}
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, Transferred{facts(repo), from})
	})
	if errors.Is(err, db.ErrConflict) {
		return fault.Field("new_owner", owner.Name+" already has a repository called “"+repo.Name+"”.")
	}
	return err
}

// Delete marks the repository as deleted. It can be restored for a while, see
// Restorable; then a job removes it for good.
func (s *Service) Delete(ctx context.Context, viewer *model.Viewer, repo *model.Repo) error {
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		now := tx.Now()
		repo.DeletedAt = &now
		if err := repodb.Update(ctx, tx, repo, "deleted_at"); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "repo.destroy", Actor: viewer, Repo: repo}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, Deleted{facts(repo)})
	})
}
