package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/webhookdb"
)

// GitHubEvent is an event as GitHub's webhooks tell it
// (https://docs.github.com/webhooks/webhook-events-and-payloads).
type GitHubEvent struct {
	// Name is the event's name there, such as "issues"; Action what
	// happened, "" where its payload has no action.
	Name, Action string
	// Fields are what the payload has beside action, repository,
	// organization and sender.
	Fields map[string]any
}

// GitHubPayload makes GitHub's events of one of ours: none where GitHub has no
// such event, several where it tells the parts one by one. c gives addresses
// and is of no request.
type GitHubPayload func(ctx context.Context, c *web.Ctx, e *model.Event, repo *model.Repo) ([]GitHubEvent, error)

// AddGitHub sets how events of these types are told in GitHub's format; before
// the jobs start only.
func (s *Service) AddGitHub(p GitHubPayload, types ...string) {
	for _, t := range types {
		if s.github[t] != nil {
			panic("webhooks: two payloads for " + t)
		}
		s.github[t] = p
	}
}

func (s *Service) githubMessages(ctx context.Context, e *model.Event, sub subject) ([]*message, error) {
	payload := s.github[e.Type]
	if payload == nil {
		return nil, nil
	}
	c := s.Kit.Detached(ctx)
	list, err := payload(ctx, c, e, sub.repo)
	if err != nil {
		return nil, fmt.Errorf("github payload of %s: %w", e.Type, err)
	}
	var out []*message
	for _, g := range list {
		msg, err := s.githubBody(ctx, c, g, sub)
		if err != nil {
			return nil, err
		}
		out = append(out, msg)
	}
	return out, nil
}

// githubBody adds to an event what all payloads have.
func (s *Service) githubBody(ctx context.Context, c *web.Ctx, g GitHubEvent, sub subject) (*message, error) {
	doc := g.Fields
	if doc == nil {
		doc = map[string]any{}
	}
	if g.Action != "" {
		doc["action"] = g.Action
	}
	msg := &message{event: g.Name, action: g.Action, target: map[string]string{}}
	if sub.repo != nil {
		repo, err := s.githubRepo(ctx, c, sub.repo, g.Name == "push")
		if err != nil {
			return nil, err
		}
		doc["repository"] = repo
		msg.target["X-GitHub-Hook-Installation-Target-Type"] = "repository"
		msg.target["X-GitHub-Hook-Installation-Target-ID"] = strconv.FormatInt(sub.repo.ID, 10)
	}
	if sub.account != nil && !sub.account.IsUser() {
		doc["organization"] = organizationOf(c, sub.account)
	}
	doc["sender"] = api.UserOf(c, sub.actor)
	body, err := encode(doc)
	msg.body = body
	return msg, err
}

// githubRepo is the repository as payloads have it; the push event's has
// seconds for times and more about the owner.
func (s *Service) githubRepo(ctx context.Context, c *web.Ctx, r *model.Repo, push bool) (map[string]any, error) {
	counts, err := s.DB.Repo(r.ID).Counts(ctx)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(s.Repos.Wire(c, r, model.RoleNone, counts))
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	for _, key := range []string{"permissions", "network_count", "subscribers_count"} {
		delete(doc, key)
	}
	doc["id"], doc["custom_properties"] = r.ID, map[string]any{}
	if owner, ok := doc["owner"].(map[string]any); ok {
		owner["id"] = r.OwnerID
		if push {
			owner["name"], owner["email"] = r.Owner.Name, emailOf(r.Owner)
		}
	}
	if push {
		doc["created_at"] = r.CreatedAt.Unix()
		if r.PushedAt != nil {
			doc["pushed_at"] = r.PushedAt.Unix()
		}
		doc["stargazers"], doc["master_branch"] = r.Stars, r.DefaultBranch
		doc["url"] = doc["html_url"]
	}
	return doc, nil
}

func emailOf(a *model.Account) any {
	if a.PublicEmail == "" {
		return nil
	}
	return a.PublicEmail
}

// organization is GitHub's short organisation object.
type organization struct {
	Login            string `json:"login"`
	ID               int64  `json:"id"`
	NodeID           string `json:"node_id"`
	URL              string `json:"url"`
	ReposURL         string `json:"repos_url"`
	EventsURL        string `json:"events_url"`
	HooksURL         string `json:"hooks_url"`
	IssuesURL        string `json:"issues_url"`
	MembersURL       string `json:"members_url"`
	PublicMembersURL string `json:"public_members_url"`
	AvatarURL        string `json:"avatar_url"`
	Description      string `json:"description"`
}

func organizationOf(c *web.Ctx, a *model.Account) organization {
	u := c.URL(web.APIPrefix + "/orgs/" + a.Name)
	return organization{Login: a.Name, ID: a.ID, NodeID: api.NodeID("Organization", a.ID), URL: u, ReposURL: u + "/repos",
		EventsURL: u + "/events", HooksURL: u + "/hooks", IssuesURL: u + "/issues", MembersURL: u + "/members{/member}",
		PublicMembersURL: u + "/public_members{/member}", AvatarURL: c.URL(web.Avatar(a)), Description: a.Bio}
}

func (s *Service) githubPing(ctx context.Context, sub subject, h *model.Hook, p webhookdb.Place) (*message, error) {
	c := s.Kit.Detached(ctx)
	base := web.APIPrefix
	switch {
	case p.Kind == db.RepoKind && sub.repo != nil:
		base += "/repos/" + sub.repo.FullName()
	case sub.account != nil:
		base += "/orgs/" + sub.account.Name
	}
	return s.githubBody(ctx, c, GitHubEvent{Name: "ping", Fields: map[string]any{
		"zen": zen, "hook_id": h.ID, "hook": hookOf(c, h, p, base),
	}}, sub)
}
