// Package activity shows what happened in a repository, from the event log: a
// page, an Atom feed, and GitHub's list of pushes.
//
//	activity.go   Service, the kinds of activity, reading the log
//	http_words.go an event in words
//	http.go       the page and the feed
//	api.go        GitHub's repository activities
//
// Views: views/activityview.
package activity

import (
	"context"

	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
)

// Service shows activity.
type Service struct {
	DB    *db.DB
	Gate  *perms.Gate
	Repos *repos.Service
}

// kind is a choice of what is shown.
type kind struct {
	key, label string
	types      []string
}

// kinds are all choices; the first is what is worth telling of everything.
var kinds = []kind{
	{"", "All", []string{"git.push", "branch.renamed", "issue.opened", "issue.closed", "issue.reopened", "issue.transferred", "pull.opened", "pull.closed",
		"pull.merged", "pull.reopened", "pull.ready_for_review", "comment.created", "review.submitted", "release.published", "repo.*", "star.created",
		"discussion.created", "discussion.answered"}},
	{"pushes", "Pushes", []string{"git.push", "branch.renamed"}},
	{"pulls", "Pull requests", []string{"pull.opened", "pull.closed", "pull.merged", "pull.reopened", "pull.ready_for_review", "review.submitted"}},
	{"issues", "Issues", []string{"issue.opened", "issue.closed", "issue.reopened", "issue.transferred", "comment.created"}},
	{"releases", "Releases", []string{"release.published"}},
}

// find is the kind with a key, the first where there is none such.
func find(key string) kind {
	for _, k := range kinds {
		if k.key == key {
			return k
		}
	}
	return kinds[0]
}

// asked says which events are wanted, and who asks.
type asked struct {
	types         []string
	actor         int64
	viewer        int64
	role          model.Role
	limit, offset int
}

func (s *Service) list(ctx context.Context, repo *model.Repo, a asked) ([]*model.Event, error) {
	return eventdb.List(ctx, s.DB.Events(), eventdb.Filter{RepoID: repo.ID, ActorID: a.actor, Types: a.types,
		Hidden: !a.role.AtLeast(model.RoleTriage), SeenBy: a.viewer, Limit: a.limit, Offset: a.offset})
}
