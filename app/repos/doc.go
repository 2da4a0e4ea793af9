// Package repos is the life of a repository as the directory knows it: made,
// described, renamed, moved, archived, hidden, deleted and restored.
//
// Routes: /new, /{owner}/{repo}/settings, the repository endpoints of the API.
// Tables: directory.repos, repo_redirects, collaborators. Events: repo.*.
// The git folder of a repository is made at its first use, so creating one is
// a single directory transaction.
package repos
