package mcp

import "net/http"

// param is an argument of a tool.
type param struct {
	name, about string
	// kind is its JSON type; "strings" is an array of them. "" is a string.
	kind     string
	required bool
}

// tool is an operation of the API under a name for agents. Arguments that the
// path names go there, the others into the query of a GET, else into the body.
type tool struct {
	name, about  string
	method, path string
	params       []param
	// destroys says that something is taken away that does not come back.
	destroys bool
	// text says that the answer is a file's content rather than JSON.
	text bool
}

// Arguments that many tools have.
var (
	owner  = param{name: "owner", about: "The account that owns the repository.", required: true}
	repo   = param{name: "repo", about: "The repository's name.", required: true}
	number = param{name: "number", about: "The number of the issue or pull request.", kind: "integer", required: true}
	page   = param{name: "page", about: "The page of the list, from 1.", kind: "integer"}
	size   = param{name: "per_page", about: "How many a page has, 30 unless said, at most 100.", kind: "integer"}
	ref    = param{name: "ref", about: "A branch, tag or commit; the default branch unless said."}
)

func on(more ...param) []param { return append([]param{owner, repo}, more...) }

// tools are all tools, by what they are about.
func tools() []tool {
	var list []tool
	list = append(list, eventTools()...)
	list = append(list, repoTools()...)
	list = append(list, issueTools()...)
	return append(list, pullTools()...)
}

func eventTools() []tool {
	log := []param{
		{name: "type", about: "Only these types, such as issue.opened or git.push; issue.* is all of a noun.", kind: "strings"},
		{name: "after", about: "The id of the last event that was seen: what came since, the oldest first. To follow, call again with the id of the last event of each answer."},
		{name: "wait", about: "With after: how many seconds to wait when there is nothing yet, at most 25.", kind: "integer"},
		{name: "per_page", about: "How many at once, 50 unless said, at most 200.", kind: "integer"},
		page,
	}
	return []tool{
		{name: "list_events", about: "What happened in a repository: pushes, issues, comments, reviews and all else, each once and in order. Without after the newest first.",
			method: http.MethodGet, path: "/repos/{owner}/{repo}/event-log", params: on(log...)},
		{name: "get_me", about: "Who the token belongs to.", method: http.MethodGet, path: "/user"},
		{name: "list_notifications", about: "The inbox of the person whose token this is: what needs them.", method: http.MethodGet, path: "/notifications",
			params: []param{{name: "all", about: "With those that were read.", kind: "boolean"}, page, size}},
	}
}

func repoTools() []tool {
	path := param{name: "path", about: "The file's or folder's path, without a slash at its beginning."}
	file := path
	file.required = true
	message := param{name: "message", about: "The commit's message.", required: true}
	branch := param{name: "branch", about: "The branch; the default one unless said."}
	return []tool{
		{name: "list_repositories", about: "The repositories that you own or work on.", method: http.MethodGet, path: "/user/repos", params: []param{page, size}},
		{name: "search_repositories", about: "Finds repositories by name and description.", method: http.MethodGet, path: "/search/repositories",
			params: []param{{name: "q", about: "What to look for.", required: true}, page, size}},
		{name: "get_repository", about: "A repository: description, default branch, visibility, counts.", method: http.MethodGet, path: "/repos/{owner}/{repo}", params: on()},
		{name: "create_repository", about: "Makes a repository of your own.", method: http.MethodPost, path: "/user/repos", params: []param{
			{name: "name", about: "Its name.", required: true}, {name: "description", about: "What it is, in a sentence."},
			{name: "private", about: "Only for those who are let in.", kind: "boolean"}, {name: "auto_init", about: "Begin with a README.", kind: "boolean"}}},
		{name: "list_branches", about: "The branches of a repository.", method: http.MethodGet, path: "/repos/{owner}/{repo}/branches", params: on(page, size)},
		{name: "list_commits", about: "The history of a branch or of a path, the newest first.", method: http.MethodGet, path: "/repos/{owner}/{repo}/commits",
			params: on(param{name: "sha", about: "A branch, tag or commit to begin with."}, path, page, size)},
		{name: "get_commit", about: "A commit with its files and patches.", method: http.MethodGet, path: "/repos/{owner}/{repo}/commits/{sha}",
			params: on(param{name: "sha", about: "A commit, branch or tag.", required: true})},
		{name: "list_files", about: "What is in a folder.", method: http.MethodGet, path: "/repos/{owner}/{repo}/contents/{path}", params: on(path, ref)},
		{name: "read_file", about: "The text of a file.", method: http.MethodGet, path: "/repos/{owner}/{repo}/contents/{path}", params: on(file, ref), text: true},
		{name: "write_file", about: "Makes or changes a file in one commit. To change one, give its sha as list_files shows it.", method: http.MethodPut,
			path: "/repos/{owner}/{repo}/contents/{path}", params: on(file, message, branch,
				param{name: "content", about: "The new text.", required: true}, param{name: "sha", about: "The sha of the file that is replaced."})},
		{name: "delete_file", about: "Deletes a file in one commit.", method: http.MethodDelete, destroys: true,
			path:   "/repos/{owner}/{repo}/contents/{path}",
			params: on(file, message, branch, param{name: "sha", about: "The file's sha.", required: true})},
		{name: "create_branch", about: "Makes a branch at a commit.", method: http.MethodPost, path: "/repos/{owner}/{repo}/git/refs", params: on(
			param{name: "ref", about: "refs/heads/ and the branch's name.", required: true}, param{name: "sha", about: "The commit's full id.", required: true})},
		{name: "compare", about: "What head has that base lacks: commits and files.", method: http.MethodGet, path: "/repos/{owner}/{repo}/compare/{range}",
			params: on(param{name: "range", about: "base...head, such as main...feature.", required: true})},
	}
}

func issueTools() []tool {
	title := param{name: "title", about: "The title, at most 256 characters."}
	titled := title
	titled.required = true
	body := param{name: "body", about: "The text, in Markdown."}
	labels := param{name: "labels", about: "Names of labels.", kind: "strings"}
	assignees := param{name: "assignees", about: "Names of people.", kind: "strings"}
	return []tool{
		{name: "list_issues", about: "Issues of a repository, the newest first. Pull requests are among them, as on GitHub.", method: http.MethodGet, path: "/repos/{owner}/{repo}/issues",
			params: on(param{name: "state", about: "open (unless said), closed or all."}, param{name: "labels", about: "Names of labels with commas between."},
				param{name: "assignee", about: "A name, or * for any and none for nobody."}, param{name: "since", about: "Changed since, as 2026-01-02T03:04:05Z."}, page, size)},
		{name: "search_issues", about: "Finds issues and pull requests: words and qualifiers such as repo:owner/name is:open label:bug author:name.", method: http.MethodGet,
			path: "/search/issues", params: []param{{name: "q", about: "What to look for.", required: true}, page, size}},
		{name: "get_issue", about: "An issue with its text.", method: http.MethodGet, path: "/repos/{owner}/{repo}/issues/{number}", params: on(number)},
		{name: "list_comments", about: "The comments of an issue or pull request.", method: http.MethodGet, path: "/repos/{owner}/{repo}/issues/{number}/comments", params: on(number, page, size)},
		{name: "create_issue", about: "Opens an issue.", method: http.MethodPost, path: "/repos/{owner}/{repo}/issues", params: on(titled, body, labels, assignees)},
		{name: "update_issue", about: "Changes an issue, or closes and reopens it. What is left out stays.", method: http.MethodPatch, path: "/repos/{owner}/{repo}/issues/{number}",
			params: on(number, title, body, labels, assignees, param{name: "state", about: "open or closed."}, param{name: "state_reason", about: "completed, not_planned or reopened."})},
		{name: "add_comment", about: "Comments on an issue or pull request.", method: http.MethodPost, path: "/repos/{owner}/{repo}/issues/{number}/comments",
			params: on(number, param{name: "body", about: "The comment, in Markdown.", required: true})},
	}
}

func pullTools() []tool {
	return []tool{
		{name: "list_pulls", about: "Pull requests of a repository.", method: http.MethodGet, path: "/repos/{owner}/{repo}/pulls",
			params: on(param{name: "state", about: "open (unless said), closed or all."}, param{name: "base", about: "Only those into this branch."}, page, size)},
		{name: "get_pull", about: "A pull request: branches, whether it can be merged, counts.", method: http.MethodGet, path: "/repos/{owner}/{repo}/pulls/{number}", params: on(number)},
		{name: "list_pull_files", about: "The files that a pull request changes, with patches.", method: http.MethodGet, path: "/repos/{owner}/{repo}/pulls/{number}/files", params: on(number, page, size)},
		{name: "list_reviews", about: "The reviews of a pull request.", method: http.MethodGet, path: "/repos/{owner}/{repo}/pulls/{number}/reviews", params: on(number, page, size)},
		{name: "create_pull", about: "Opens a pull request.", method: http.MethodPost, path: "/repos/{owner}/{repo}/pulls", params: on(
			param{name: "title", about: "The title.", required: true}, param{name: "body", about: "The text, in Markdown; Closes #12 closes an issue with the merge."},
			param{name: "head", about: "The branch with the changes; owner:branch for a fork's.", required: true},
			param{name: "base", about: "The branch to merge into.", required: true}, param{name: "draft", about: "Not ready yet.", kind: "boolean"})},
		{name: "review_pull", about: "Reviews a pull request.", method: http.MethodPost, path: "/repos/{owner}/{repo}/pulls/{number}/reviews", params: on(number,
			param{name: "event", about: "APPROVE, REQUEST_CHANGES or COMMENT.", required: true}, param{name: "body", about: "What you say of the whole."})},
		{name: "merge_pull", about: "Merges a pull request, when nothing is missing.", method: http.MethodPut, path: "/repos/{owner}/{repo}/pulls/{number}/merge", params: on(number,
			param{name: "merge_method", about: "merge (unless said), squash or rebase."}, param{name: "sha", about: "The head that was looked at; another one is refused."})},
	}
}
