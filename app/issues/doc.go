// Package issues is what is particular to issues among the threads: making,
// moving and deleting them, the labels and milestones that pull requests use
// too, lists by a query language, and their pages and API.
//
//	issues.go     Service
//	create.go     Create; update.go changes through package threads
//	label.go      labels; milestone.go milestones
//	query.go      the query language: text to a tree; resolve.go tree to filter
//	list.go       List
//	relation.go   sub-issues and dependencies
//	transfer.go   moving to another repository
//	http*.go      pages below /{owner}/{repo}/issues, /labels, /milestones
//	api*.go       GitHub's REST endpoints for issues
//
// Tables: those of the domain "issues" of a repository's scope. Events:
// issue.*, comment.*, label.*, milestone.*. Jobs: threads.refer. Views:
// views/issueview, views/threadview.
package issues
