package activity

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/activityview"
	"github.com/gitfor/gitfor/views/link"
)

// facts are the parts of events' data that are told.
type facts struct {
	repos.Pushed
	Number      int64  `json:"number"`
	Kind        string `json:"kind"`
	Title       string `json:"title"`
	CommentID   int64  `json:"commentId"`
	ReviewState string `json:"reviewState"`
	Tag         string `json:"tag"`
	Name        string `json:"name"`
	From        string `json:"from"`
	Default     string `json:"default_branch"`
	Parent      string `json:"parent"`
	OldName     string `json:"old"`
	NewName     string `json:"new"`
}

// Bounds of what is said of one push.
const (
	maxRefs    = 3
	maxCommits = 3
)

// phrase is how a type is told.
type phrase struct{ icon, verb string }

var phrases = map[string]phrase{
	"issue.opened": {"circle-dot", "opened issue"}, "issue.closed": {"circle-check", "closed issue"}, "issue.reopened": {"rotate-ccw", "reopened issue"},
	"issue.transferred": {"arrow-right", "moved issue"},
	"pull.opened":       {"git-pull-request", "opened pull request"}, "pull.closed": {"git-pull-request-closed", "closed pull request"},
	"pull.merged": {"git-merge", "merged pull request"}, "pull.reopened": {"rotate-ccw", "reopened pull request"},
	"pull.ready_for_review": {"git-pull-request", "marked as ready pull request"},
	"comment.created":       {"message-square", "commented on"},
	"discussion.created":    {"messages-square", "started the discussion"}, "discussion.answered": {"circle-check", "marked an answer in"},
	"release.published": {"tag", "published release"}, "star.created": {"star", "starred the repository"},
	"repo.created": {"book-marked", "made the repository"}, "repo.forked": {"git-fork", "forked it from"}, "repo.renamed": {"pencil", "renamed it from"},
	"repo.transferred": {"arrow-right", "brought it here from"}, "repo.visibility_changed": {"eye", "changed who can see the repository"},
	"repo.default_branch_changed": {"git-branch", "made the default branch"}, "repo.archived": {"archive", "archived the repository"},
	"repo.unarchived": {"archive", "took the repository out of the archive"}, "repo.edited": {"pencil", "changed the description or settings"},
	"repo.deleted": {"trash-2", "deleted the repository"}, "repo.restored": {"rotate-ccw", "restored the repository"},
}

// entry is an event as the page tells it.
func entry(repo *model.Repo, e *model.Event, actor *model.Account) activityview.Entry {
	var f facts
	_ = json.Unmarshal(e.Data, &f) // what cannot be read is left out
	out := activityview.Entry{Actor: actor, At: e.Time, Icon: "history", Verb: strings.ReplaceAll(e.Type, ".", " ")}
	if p, ok := phrases[e.Type]; ok {
		out.Icon, out.Verb = p.icon, p.verb
	}
	o, n := repo.Owner.Name, repo.Name
	noun, _, _ := strings.Cut(e.Type, ".")
	switch noun {
	case "git":
		push(o, n, &f, &out)
	case "branch":
		out.Icon, out.Verb, out.Subject = "git-branch", "renamed the branch "+f.OldName+" to", f.NewName
		out.Href = link.Tree(o, n, f.NewName, "")
	case "review":
		out.Icon, out.Verb = "eye", map[string]string{"approved": "approved", "changes_requested": "asked for changes of"}[f.ReviewState]
		if out.Verb == "" {
			out.Verb = "reviewed"
		}
		thread(o, n, &f, &out)
	case "issue", "pull", "comment", "discussion":
		thread(o, n, &f, &out)
	case "release":
		out.Subject, out.Href = f.Tag, link.Release(o, n, f.Tag)
		if f.Name != "" {
			out.Subject = f.Name
		}
	case "repo":
		switch e.Type {
		case "repo.forked":
			out.Subject = f.Parent
		case "repo.renamed", "repo.transferred":
			out.Subject = f.From
		case "repo.default_branch_changed":
			out.Subject = f.Default
		}
	}
	return out
}

func thread(owner, name string, f *facts, out *activityview.Entry) {
	out.Subject = fmt.Sprintf("%s #%d", f.Title, f.Number)
	switch f.Kind {
	case model.KindPull:
		out.Href = link.Pull(owner, name, f.Number)
	case model.KindDiscussion:
		out.Href = link.Discussion(owner, name, f.Number)
	default:
		out.Href = link.Issue(owner, name, f.Number)
	}
	if f.CommentID != 0 {
		out.Href += "#comment-" + strconv.FormatInt(f.CommentID, 10)
	}
}

// push tells of a push: the ref that moved and its newest commits, or how many
// refs there were.
func push(owner, name string, f *facts, out *activityview.Entry) {
	out.Icon = "git-commit-horizontal"
	switch {
	case len(f.Refs) == 1:
		out.Icon, out.Verb, out.Subject, out.Href = refWords(owner, name, &f.Refs[0])
	case len(f.Refs) == 0:
		out.Verb = "pushed"
	default:
		out.Verb = fmt.Sprintf("pushed %d branches and tags", max(f.RefsTotal, len(f.Refs)))
		for i := range f.Refs[:min(len(f.Refs), maxRefs)] {
			_, verb, subject, _ := refWords(owner, name, &f.Refs[i])
			out.More = append(out.More, activityview.More{Text: verb + " " + subject})
		}
		return
	}
	for i := len(f.Commits) - 1; i >= 0 && len(out.More) < maxCommits; i-- {
		title, _, _ := strings.Cut(f.Commits[i].Message, "\n")
		out.More = append(out.More, activityview.More{Code: git.OID(f.Commits[i].ID).Short(), Text: title, Href: link.Commit(owner, name, f.Commits[i].ID)})
	}
}

func refWords(owner, name string, r *repos.PushedRef) (icon, verb, subject, href string) {
	short, tag := strings.CutPrefix(r.Ref, git.TagPrefix)
	if !tag {
		short = strings.TrimPrefix(r.Ref, git.BranchPrefix)
	}
	href = link.Tree(owner, name, short, "")
	what := "branch"
	icon = "git-branch"
	if tag {
		what, icon = "tag", "tag"
	}
	switch {
	case r.Deleted:
		return "trash-2", "deleted the " + what, short, ""
	case r.Created:
		return icon, "made the " + what, short, href
	case r.Forced:
		return "git-commit-horizontal", "force-pushed", short, link.Compare(owner, name, r.Before, r.After)
	}
	return "git-commit-horizontal", "pushed to", short, link.Compare(owner, name, r.Before, r.After)
}
