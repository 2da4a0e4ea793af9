// Package codes shows what is in a repository: its home, folders, files,
// commits, branches and tags, and the same through the API.
//
// Routes: /{owner}/{repo} and tree, blob, raw, commits, commit, branches,
// tags, archive below it. It reads git in this process and starts none for a
// page; what is costly (the last commit of each entry, archives) comes after
// the page or as a stream.
package codes
