package link

// Issues lists a repository's issues; query holds filters such as q, state,
// label and page.
func Issues(owner, name string, query ...string) string {
	return Q(query...).On(Repo(owner, name) + "/issues")
}

// Issue is one issue's page.
func Issue(owner, name string, n int64) string { return Repo(owner, name) + "/issues/" + num(n) }

// IssuePart is an action or sub-resource of an issue, such as "closure" or
// "comments".
func IssuePart(owner, name string, n int64, part string) string {
	return Issue(owner, name, n) + "/" + Path(part)
}

// NewIssue is the form that opens an issue; query may preset title, body and labels.
func NewIssue(owner, name string, query ...string) string {
	return Q(query...).On(Repo(owner, name) + "/issues/new")
}

// Comment is the place of a comment on the page of its issue.
func Comment(owner, name string, n, comment int64) string {
	return Issue(owner, name, n) + "#comment-" + num(comment)
}

// Labels lists a repository's labels.
func Labels(owner, name string) string { return RepoPage(owner, name, "labels") }

// Label lists the open issues that have a label.
func Label(owner, name, label string) string { return Issues(owner, name, "label", label) }

// Milestones lists a repository's milestones.
func Milestones(owner, name string) string { return RepoPage(owner, name, "milestones") }

// Milestone is one milestone's page.
func Milestone(owner, name string, n int64) string {
	return RepoPage(owner, name, "milestone", num(n))
}

// NewMilestone is the form that makes a milestone.
func NewMilestone(owner, name string) string { return RepoPage(owner, name, "milestones", "new") }

// Pulls lists a repository's pull requests; query holds filters.
func Pulls(owner, name string, query ...string) string {
	return Q(query...).On(Repo(owner, name) + "/pulls")
}

// Pull is a pull request's conversation.
func Pull(owner, name string, n int64) string { return Repo(owner, name) + "/pull/" + num(n) }

// PullPart is an action or sub-resource of a pull request, such as "merge".
func PullPart(owner, name string, n int64, part string) string {
	return Pull(owner, name, n) + "/" + Path(part)
}

// PullCommits lists a pull request's commits.
func PullCommits(owner, name string, n int64) string { return PullPart(owner, name, n, "commits") }

// PullFiles shows a pull request's changes.
func PullFiles(owner, name string, n int64) string { return PullPart(owner, name, n, "files") }

// PullChecks shows a pull request's checks.
func PullChecks(owner, name string, n int64) string { return PullPart(owner, name, n, "checks") }

// PullComment is the place of a comment on the page of its pull request.
func PullComment(owner, name string, n, comment int64) string {
	return Pull(owner, name, n) + "#comment-" + num(comment)
}

// NewPull is the form that proposes head for base.
func NewPull(owner, name, base, head string) string {
	return Q("expand", "1").On(Compare(owner, name, base, head))
}

// Discussions lists a repository's discussions; query holds filters.
func Discussions(owner, name string, query ...string) string {
	return Q(query...).On(Repo(owner, name) + "/discussions")
}

// Discussion is one discussion's page.
func Discussion(owner, name string, n int64) string {
	return Repo(owner, name) + "/discussions/" + num(n)
}
