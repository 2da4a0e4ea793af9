// Package git reads and writes bare repositories on disk.
//
// Pages are served in process: objects, refs and the commit-graph are read
// straight from their files (packages odb and graph), so looking at a tree, a
// file or a list of commits starts no process. What git does best (diffs,
// blame, archives, merges, repacking) runs git itself, always through
// Repository.Command, which fixes environment and configuration.
//
// Names in git are bytes. They are held in Go strings as they are, whether or
// not they are UTF-8; Display makes one fit for people.
//
// The package knows repositories by number only. Who may do what, and what an
// owner or a pull request is, is decided above it.
package git
