package events

import (
	"slices"
	"strings"
)

// QueuePrefix begins the name of each service's queue.
const QueuePrefix = "g1t-events-"

// Route says which events a service gets beside the life-cycle events, which
// every service gets. A type that ends in .* stands for all of that source,
// and * for everything.
type Route struct {
	Service string
	Types   []string
}

// Lifecycle are the types that tell of what happens to repositories,
// workspaces and users themselves.
func Lifecycle() []string {
	return []string{
		"repo.renamed", "repo.transferred", "repo.deleted", "repo.restored",
		"workspace.renamed", "workspace.deleted", "workspace.restored",
		"user.renamed", "user.deleted", "user.restored",
	}
}

// Routes is who gets what: the one table by which events are fanned out.
func Routes() []Route {
	return []Route{
		{"work", []string{"git.push", "branch.renamed", "repo.created", "repo.archived", "repo.default_branch_changed",
			"pull.merged", "comment.created"}},
		{"runner", []string{"pull.*", "checks.completed", "queue.changed", "comment.created", "issue.*", "repo.archived"}},
		{"actions", []string{"git.push", "git.deleted", "pull.*", "issue.*", "comment.*", "release.*", "deployment.*",
			"workflow.completed", "repo.archived"}},
		{"webhooks", []string{"*"}},
		{"security", []string{"git.push", "pull.*", "comment.created", "repo.created", "repo.visibility_changed"}},
		{"search", []string{"git.push", "repo.*", "issue.*", "pull.*", "user.*", "workspace.*"}},
		{"deployments", []string{"git.push", "pull.*", "workspace.deleted", "workspace.restored"}},
		{"projects", []string{"repo.*", "package.*", "deployment.*"}},
		{"repos", []string{"pull.merged", "pull.closed", "pull.reopened", "repo.deleted", "repo.restored",
			"workspace.deleted", "workspace.restored"}},
		{"packages", []string{"git.push", "repo.visibility_changed", "workspace.*", "team.*"}},
		{"integrations", []string{"issue.closed", "pull.opened"}},
		{"billing", nil},
		{"docs", []string{"git.push", "pull.merged"}},
		{"merges", []string{"git.push", "pull.*", "review.*", "status.*", "check.*", "protection.*", "comment.created"}},
		{"notify", []string{"*"}},
	}
}

// Matches says whether one of the patterns stands for the type.
func Matches(patterns []string, eventType string) bool {
	for _, p := range patterns {
		if p == "*" || p == eventType {
			return true
		}
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasSuffix(prefix, ".") && strings.HasPrefix(eventType, prefix) {
			return true
		}
	}
	return false
}

// routed are the services that get events of the type, in the table's order.
func (s *Service) routed(eventType string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if to, ok := s.routes[eventType]; ok {
		return to
	}
	all := slices.Contains(Lifecycle(), eventType)
	var to []string
	for _, r := range Routes() {
		if all || Matches(r.Types, eventType) {
			to = append(to, r.Service)
		}
	}
	s.routes[eventType] = to
	return to
}
