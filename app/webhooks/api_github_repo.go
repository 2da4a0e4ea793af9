package webhooks

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// githubOwn sets the payloads of what lies on the ground: pushes and
// repositories.
func (s *Service) githubOwn() {
	s.AddGitHub(s.githubPush, repos.Pushed{}.EventType())
	for eventType, action := range map[string]string{
		"repo.created": "created", "repo.deleted": "deleted", "repo.archived": "archived", "repo.unarchived": "unarchived",
		"repo.edited": "edited", "repo.renamed": "renamed", "repo.transferred": "transferred",
	} {
		s.AddGitHub(func(_ context.Context, _ *web.Ctx, e *model.Event, _ *model.Repo) ([]GitHubEvent, error) {
			return []GitHubEvent{{Name: "repository", Action: action, Fields: changes(e, action)}}, nil
		}, eventType)
	}
	s.AddGitHub(func(_ context.Context, _ *web.Ctx, e *model.Event, repo *model.Repo) ([]GitHubEvent, error) {
		action := "publicized"
		if repo != nil && repo.IsPrivate() {
			action = "privatized"
		}
		list := []GitHubEvent{{Name: "repository", Action: action}}
		if action == "publicized" {
			list = append(list, GitHubEvent{Name: "public"})
		}
		return list, nil
	}, repos.VisibilityChanged{}.EventType())
}

func changes(e *model.Event, action string) map[string]any {
	if action != "renamed" && action != "transferred" {
		return nil
	}
	var data struct {
		From string `json:"from"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil
	}
	if action == "renamed" {
		return map[string]any{"changes": map[string]any{"repository": map[string]any{"name": map[string]any{"from": data.From}}}}
	}
	return map[string]any{"changes": map[string]any{"owner": map[string]any{"from": map[string]any{"user": map[string]any{"login": data.From}}}}}
}

// maxRefEvents is how many refs of one push are told one by one.
const maxRefEvents = 20

// githubPush tells a push as GitHub does: a create or delete for each ref that
// was made or deleted, and a push for each that moved.
func (s *Service) githubPush(ctx context.Context, c *web.Ctx, e *model.Event, repo *model.Repo) ([]GitHubEvent, error) {
	var p repos.Pushed
	if err := json.Unmarshal(e.Data, &p); err != nil || repo == nil {
		return nil, err
	}
	pusher, err := s.pusher(ctx, e.ActorID)
	if err != nil {
		return nil, err
	}
	authors, err := s.namedAuthors(ctx, p.Commits)
	if err != nil {
		return nil, err
	}
	var out []GitHubEvent
	commits := p.Commits
	for i, ref := range p.Refs {
		if i == maxRefEvents {
			break
		}
		kind, name := "branch", strings.TrimPrefix(ref.Ref, git.BranchPrefix)
		if strings.HasPrefix(ref.Ref, git.TagPrefix) {
			kind, name = "tag", strings.TrimPrefix(ref.Ref, git.TagPrefix)
		} else if name == ref.Ref {
			continue // neither a branch nor a tag
		}
		if ref.Created {
			out = append(out, GitHubEvent{Name: "create", Fields: map[string]any{"ref": name, "ref_type": kind,
				"master_branch": repo.DefaultBranch, "description": orNil(repo.Description), "pusher_type": "user"}})
		}
		if ref.Deleted {
			out = append(out, GitHubEvent{Name: "delete", Fields: map[string]any{"ref": name, "ref_type": kind, "pusher_type": "user"}})
		}
		var mine []repos.PushCommit
		if kind == "branch" && !ref.Deleted {
			mine, commits = commits, nil // the event lists those of its first branch
		}
		out = append(out, GitHubEvent{Name: "push", Fields: s.pushFields(ctx, c, repo, ref, commitsOf(c, repo, mine, authors), pusher)})
	}
	return out, nil
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

type pushPerson struct {
	Name  string `json:"name"`
	Email any    `json:"email"`
}

func (s *Service) pusher(ctx context.Context, id int64) (pushPerson, error) {
	people, err := accountdb.ByIDs(ctx, s.DB.Directory(), id)
	if err != nil || people[id] == nil {
		return pushPerson{Name: "ghost"}, err
	}
	return pushPerson{people[id].Name, emailOf(people[id])}, nil
}

// pushAuthor has the name of an account where the address is one's.
type pushAuthor struct {
	Name     string `json:"name"`
	Email    string `json:"email"`
	Username string `json:"username,omitempty"`
}

type pushCommit struct {
	ID        string     `json:"id"`
	Tree      string     `json:"tree_id"`
	Distinct  bool       `json:"distinct"`
	Message   string     `json:"message"`
	Timestamp string     `json:"timestamp"`
	URL       string     `json:"url"`
	Author    pushAuthor `json:"author"`
	Committer pushAuthor `json:"committer"`
	Added     []string   `json:"added"`
	Removed   []string   `json:"removed"`
	Modified  []string   `json:"modified"`
}

// namedAuthors are the accounts behind the addresses of commits.
func (s *Service) namedAuthors(ctx context.Context, list []repos.PushCommit) (map[string]*model.Account, error) {
	var emails []string
	for _, pc := range list {
		emails = append(emails, pc.Author.Email, pc.Committer.Email)
	}
	return accountdb.ByEmails(ctx, s.DB.Directory(), emails)
}

func authorOf(p repos.PushPerson, known map[string]*model.Account) pushAuthor {
	out := pushAuthor{Name: p.Name, Email: p.Email}
	if a := known[model.Key(p.Email)]; a != nil {
		out.Username = a.Name
	}
	return out
}

func commitsOf(c *web.Ctx, repo *model.Repo, list []repos.PushCommit, authors map[string]*model.Account) []pushCommit {
	commits := make([]pushCommit, len(list))
	for i, pc := range list {
		commits[i] = pushCommit{ID: pc.ID, Tree: pc.Tree, Distinct: true, Message: strings.TrimRight(pc.Message, "\n"), Timestamp: pc.Timestamp,
			URL: c.URL(link.Commit(repo.Owner.Name, repo.Name, pc.ID)), Author: authorOf(pc.Author, authors), Committer: authorOf(pc.Committer, authors),
			Added: []string{}, Removed: []string{}, Modified: []string{}}
	}
	return commits
}

func (s *Service) pushFields(ctx context.Context, c *web.Ctx, repo *model.Repo, ref repos.PushedRef, commits []pushCommit, pusher pushPerson) map[string]any {
	if g, err := s.Repos.Open(ctx, repo); err == nil {
		for i := range commits {
			paths(ctx, g, &commits[i])
		}
	}
	var head *pushCommit
	if len(commits) > 0 {
		head = &commits[len(commits)-1]
	}
	return map[string]any{"ref": ref.Ref, "before": ref.Before, "after": ref.After, "created": ref.Created, "deleted": ref.Deleted,
		"forced": ref.Forced, "base_ref": nil, "compare": c.URL(link.Compare(repo.Owner.Name, repo.Name, short(ref.Before), short(ref.After))),
		"commits": commits, "head_commit": head, "pusher": pusher}
}

func short(sha string) string { return sha[:min(12, len(sha))] }

// paths lists what a commit changed. A commit that is gone meanwhile changed
// nothing that a receiver could fetch.
func paths(ctx context.Context, g *git.Repository, pc *pushCommit) {
	oid, ok := git.ParseOID(pc.ID)
	if !ok {
		return
	}
	commit, err := g.Commit(ctx, oid)
	if err != nil {
		return
	}
	files, err := g.DiffFiles(ctx, git.DiffOptions{Base: g.DiffBase(commit), Head: oid, NoRenames: true})
	if err != nil {
		return
	}
	for _, f := range files[:min(len(files), 300)] {
		name := git.Display(f.Name())
		switch f.Status {
		case git.StatusAdded:
			pc.Added = append(pc.Added, name)
		case git.StatusDeleted:
			pc.Removed = append(pc.Removed, name)
		default:
			pc.Modified = append(pc.Modified, name)
		}
	}
}
