package auth

import (
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
)

// Scope is something that a token may be allowed.
type Scope struct {
	Name, About string
	// Includes are the scopes that this one brings with it.
	Includes []string
}

// Scopes are all scopes, as GitHub names them
// (https://docs.github.com/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps).
func Scopes() []Scope {
	return []Scope{
		{"repo", "Read and write repositories, private ones too, with their issues and pull requests",
			[]string{"public_repo", "repo:status", "repo_deployment", "repo:invite", "security_events"}},
		{"public_repo", "Read and write public repositories", nil},
		{"repo:status", "Read and write commit statuses", nil},
		{"repo_deployment", "Read and write deployments", nil},
		{"repo:invite", "Accept and decline invitations to repositories", nil},
		{"security_events", "Read and write security alerts", nil},
		{"delete_repo", "Delete repositories", nil},
		{"workflow", "Change workflow files", nil},
		{"admin:repo_hook", "Manage webhooks of repositories", []string{"write:repo_hook", "read:repo_hook"}},
		{"write:repo_hook", "Create and change webhooks of repositories", []string{"read:repo_hook"}},
		{"read:repo_hook", "Read webhooks of repositories", nil},
		{"user", "Read and change your profile and email addresses", []string{"read:user", "user:email", "user:follow"}},
		{"read:user", "Read your profile, private parts too", nil},
		{"user:email", "Read your email addresses", nil},
		{"user:follow", "Follow and unfollow people", nil},
		{"notifications", "Read your inbox and mark it as read", nil},
		{"admin:public_key", "Manage your SSH keys", []string{"write:public_key", "read:public_key"}},
		{"write:public_key", "Add SSH keys", []string{"read:public_key"}},
		{"read:public_key", "List SSH keys", nil},
		{"admin:gpg_key", "Manage your GPG keys", []string{"write:gpg_key", "read:gpg_key"}},
		{"write:gpg_key", "Add GPG keys", []string{"read:gpg_key"}},
		{"read:gpg_key", "List GPG keys", nil},
		{"admin:org", "Manage organisations that you own", []string{"write:org", "read:org"}},
		{"write:org", "Change membership of organisations", []string{"read:org"}},
		{"read:org", "Read membership of organisations", nil},
		{"admin:org_hook", "Manage webhooks of organisations", nil},
		{"project", "Read and write projects", []string{"read:project"}},
		{"read:project", "Read projects", nil},
		{"write:discussion", "Write discussions", []string{"read:discussion"}},
		{"read:discussion", "Read discussions", nil},
		{"write:packages", "Publish packages", []string{"read:packages"}},
		{"read:packages", "Download packages", nil},
		{"delete:packages", "Delete packages", nil},
		{"gist", "Write snippets", nil},
		{"codespace", "Use workspaces", nil},
		{"site_admin", "Administer this instance, where you are an administrator", nil},
	}
}

// ParseScopes reads a list divided by commas or spaces. fault.Invalid for a
// scope that does not exist.
func ParseScopes(text string) ([]string, error) {
	var out []string
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.ContainsFunc(Scopes(), func(s Scope) bool { return s.Name == name }) {
			return nil, fault.Field("scopes", "There is no scope “"+name+"”.")
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// expand adds the scopes that the given ones bring with them.
func expand(given []string) []string {
	out := slices.Clone(given)
	for _, s := range Scopes() {
		if slices.Contains(given, s.Name) {
			for _, more := range s.Includes {
				if !slices.Contains(out, more) {
					out = append(out, more)
				}
			}
		}
	}
	return out
}

// top leaves out the scopes that others of the list bring with them.
func top(given []string) []string {
	covered := map[string]bool{}
	for _, s := range Scopes() {
		if slices.Contains(given, s.Name) {
			for _, more := range s.Includes {
				covered[more] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(given), func(name string) bool { return covered[name] })
}

// Top leaves out the scopes that others of the list bring with them.
func Top(given []string) []string { return top(given) }

// Expand adds the scopes that the given ones bring with them.
func Expand(given []string) []string { return expand(given) }
