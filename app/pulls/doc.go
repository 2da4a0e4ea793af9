// Package pulls is pull requests: proposals to merge one branch into another,
// of the same repository or of a fork. Their conversation is package threads',
// their reviews are package reviews'.
//
//	pulls.go      Service, Place, Find
//	heads.go      the branches that are meant by "owner:branch"
//	facts.go      what git knows of a proposal: merge base, counts, conflicts
//	open.go       Open
//	edit.go       title, base, draft, state
//	sync.go       what a push changes: new rounds, merged by a push, branches
//	              that are gone
//	needs.go      what is missing for a merge, and who can do it
//	merge.go      Merge; merge_build.go makes the commits, merge_done.go ends it
//	branch.go     deleting and restoring the head's branch, updating it
//	keep.go       hidden refs that keep heads and rounds alive
//	http*.go      pages below /{owner}/{repo}/pulls and /pull
//	api*.go       GitHub's REST endpoints
//
// Tables: the domain "pulls" of a repository's scope, and rows of "issues".
// Events: pull.*. Views: views/pullview.
package pulls
