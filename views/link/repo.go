package link

import "strings"

// Repo is a repository's home.
func Repo(owner, name string) string { return "/" + Segment(owner) + "/" + Segment(name) }

// RepoPage is a page below a repository whose segments are encoded one by one;
// empty segments are left out.
func RepoPage(owner, name string, segments ...string) string {
	p := Repo(owner, name)
	for _, s := range segments {
		if s != "" {
			p += "/" + Segment(s)
		}
	}
	return p
}

// at is a page about a path at a ref. Slashes in both are kept, as the longest
// existing ref wins when the address is read.
func at(owner, name, page, ref, path string) string {
	p := Repo(owner, name) + "/" + page + "/" + Path(ref)
	if path != "" {
		p += "/" + Path(path)
	}
	return p
}

// Tree is a folder at a ref; an empty path is the root.
func Tree(owner, name, ref, path string) string { return at(owner, name, "tree", ref, path) }

// Blob is a file's page at a ref.
func Blob(owner, name, ref, path string) string { return at(owner, name, "blob", ref, path) }

// Raw is a file's bytes at a ref.
func Raw(owner, name, ref, path string) string { return at(owner, name, "raw", ref, path) }

// Blame shows who last changed each line of a file.
func Blame(owner, name, ref, path string) string { return at(owner, name, "blame", ref, path) }

// Find goes to a file at a ref by parts of its name.
func Find(owner, name, ref string) string { return at(owner, name, "find", ref, "") }

// Edit is the web editor of a file on a branch.
func Edit(owner, name, ref, path string) string { return at(owner, name, "edit", ref, path) }

// NewFile is the web editor of a file that does not exist, in folder path.
func NewFile(owner, name, ref, path string) string { return at(owner, name, "new", ref, path) }

// Upload is the form that adds files to folder path.
func Upload(owner, name, ref, path string) string { return at(owner, name, "upload", ref, path) }

// Delete is the form that removes a file from a branch.
func Delete(owner, name, ref, path string) string { return at(owner, name, "delete", ref, path) }

// Commits is the history of a path at a ref; an empty ref is the default branch.
func Commits(owner, name, ref, path string) string {
	if ref == "" {
		return Repo(owner, name) + "/commits"
	}
	return at(owner, name, "commits", ref, path)
}

// Commit is one commit's page.
func Commit(owner, name, sha string) string { return Repo(owner, name) + "/commit/" + Segment(sha) }

// CommitDiff is a commit as a plain diff.
func CommitDiff(owner, name, sha string) string { return Commit(owner, name, sha) + ".diff" }

// CommitPatch is a commit as a mailable patch.
func CommitPatch(owner, name, sha string) string { return Commit(owner, name, sha) + ".patch" }

// Branches lists a repository's branches.
func Branches(owner, name string) string { return Repo(owner, name) + "/branches" }

// Tags lists a repository's tags.
func Tags(owner, name string) string { return Repo(owner, name) + "/tags" }

// Compare is the comparison of two refs. An empty base gives the page that
// asks for both; an empty head compares base with the default branch's reader's
// choice, as GitHub does.
func Compare(owner, name, base, head string) string {
	p := Repo(owner, name) + "/compare"
	switch {
	case base == "" && head == "":
		return p
	case base == "":
		return p + "/" + Path(head)
	case head == "":
		return p + "/" + Path(base)
	}
	return p + "/" + Path(base) + "..." + Path(head)
}

// Archive is a snapshot of a ref; format is "zip" or "tar.gz".
func Archive(owner, name, ref, format string) string {
	return Repo(owner, name) + "/archive/" + Path(ref) + "." + format
}

// Stargazers lists who starred a repository.
func Stargazers(owner, name string) string { return RepoPage(owner, name, "stargazers") }

// Watchers lists who watches a repository.
func Watchers(owner, name string) string { return RepoPage(owner, name, "watchers") }

// Forks lists a repository's forks.
func Forks(owner, name string) string { return RepoPage(owner, name, "forks") }

// Fork is the form that forks a repository.
func Fork(owner, name string) string { return RepoPage(owner, name, "fork") }

// Star is the viewer's star of a repository; it takes POST and DELETE.
func Star(owner, name string) string { return RepoPage(owner, name, "star") }

// Subscription is the viewer's watch of a repository; it takes POST and DELETE.
func Subscription(owner, name string) string { return RepoPage(owner, name, "subscription") }

// Activity is what happened in a repository.
func Activity(owner, name string) string { return RepoPage(owner, name, "activity") }

// RepoSearch searches a repository's code.
func RepoSearch(owner, name, q string) string { return Q("q", q).On(RepoPage(owner, name, "search")) }

// RepoSettings is a section of a repository's settings; empty is the general one.
func RepoSettings(owner, name, section string) string {
	p := Repo(owner, name) + "/settings"
	if section == "" {
		return p
	}
	return p + "/" + Path(section)
}

// Releases lists a repository's releases.
func Releases(owner, name string) string { return RepoPage(owner, name, "releases") }

// Release is the release of a tag.
func Release(owner, name, tag string) string { return Releases(owner, name) + "/tag/" + Path(tag) }

// NewRelease is the form that makes a release.
func NewRelease(owner, name string) string { return RepoPage(owner, name, "releases", "new") }

// ReleaseAsset is a file attached to a release.
func ReleaseAsset(owner, name, tag, file string) string {
	return Releases(owner, name) + "/download/" + Path(tag) + "/" + Segment(file)
}

// Attachments takes the files of a repository's texts.
func Attachments(owner, name string) string { return RepoPage(owner, name, "attachments") }

// Uploads is Attachments for a repository's full name, "" without one.
func Uploads(fullName string) string {
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok {
		return ""
	}
	return Attachments(owner, name)
}

// Attachment is a file of a repository's texts.
func Attachment(owner, name, id, file string) string {
	return Attachments(owner, name) + "/" + Segment(id) + "/" + Segment(file)
}

// Actions lists a repository's workflow runs.
func Actions(owner, name string) string { return RepoPage(owner, name, "actions") }

// Run is one workflow run.
func Run(owner, name string, id int64) string {
	return RepoPage(owner, name, "actions", "runs", num(id))
}

// RunJob is one job of a workflow run.
func RunJob(owner, name string, run, job int64) string {
	return Run(owner, name, run) + "/job/" + num(job)
}

// Security is a page of a repository's security tab; empty is the overview.
func Security(owner, name, page string) string {
	p := Repo(owner, name) + "/security"
	if page == "" {
		return p
	}
	return p + "/" + Path(page)
}

// Git is the address that git clones over HTTP, below the public address.
func Git(owner, name string) string { return Repo(owner, name) + ".git" }
