package codes

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// apiRoutes mounts GitHub's operations on contents, commits, branches, tags
// and git's objects.
func (s *Service) apiRoutes(r *web.Router) {
	s.apiContentRoutes(r.API())
	s.apiCommitRoutes(r.API())
	s.apiBranchRoutes(r.API())
	s.apiObjectRoutes(r.API())
	s.apiStarRoutes(r.API())
}

const apiRepo = "/repos/{owner}/{repo}"

func (s *Service) apiContentRoutes(a *web.Router) {
	read, write := s.Gate.Repo(model.RoleRead), s.Gate.RepoChange(model.RoleWrite)
	get := &web.Doc{ID: "repos/get-content", Summary: "Get repository content", Out: Content{}, Query: []string{"ref"}}
	a.Get(apiRepo+"/contents", read, s.apiContents, get)
	a.Get(apiRepo+"/contents/*", read, s.apiContents, get)
	a.Put(apiRepo+"/contents/*", write, s.apiPutContents,
		&web.Doc{ID: "repos/create-or-update-file-contents", Summary: "Create or update file contents", In: contentsInput{}, Out: contentsChanged{}})
	a.Delete(apiRepo+"/contents/*", write, s.apiDeleteContents,
		&web.Doc{ID: "repos/delete-file", Summary: "Delete a file", In: contentsInput{}, Out: contentsChanged{}})
	a.Get(apiRepo+"/readme", read, s.apiReadme,
		&web.Doc{ID: "repos/get-readme", Summary: "Get a repository README", Out: Content{}, Query: []string{"ref"}})
	a.Get(apiRepo+"/readme/*", read, s.apiReadme,
		&web.Doc{ID: "repos/get-readme-in-directory", Summary: "Get a repository README for a directory", Out: Content{}, Query: []string{"ref"}})
	a.Get(apiRepo+"/license", read, s.apiLicense,
		&web.Doc{ID: "licenses/get-for-repo", Summary: "Get the license for a repository", Out: licenseContent{}, Query: []string{"ref"}})
	a.Get(apiRepo+"/tarball", read, s.apiTarball, &web.Doc{ID: "repos/download-tarball-archive", Summary: "Download a repository archive (tar)", Status: http.StatusFound})
	a.Get(apiRepo+"/tarball/*", read, s.apiTarball, &web.Doc{ID: "repos/download-tarball-archive", Summary: "Download a repository archive (tar)", Status: http.StatusFound})
	a.Get(apiRepo+"/zipball", read, s.apiZipball, &web.Doc{ID: "repos/download-zipball-archive", Summary: "Download a repository archive (zip)", Status: http.StatusFound})
	a.Get(apiRepo+"/zipball/*", read, s.apiZipball, &web.Doc{ID: "repos/download-zipball-archive", Summary: "Download a repository archive (zip)", Status: http.StatusFound})
}

func (s *Service) apiCommitRoutes(a *web.Router) {
	read := s.Gate.Repo(model.RoleRead)
	a.Get(apiRepo+"/commits", read, s.apiCommits, &web.Doc{ID: "repos/list-commits", Summary: "List commits", Out: []Commit{},
		Query: []string{"sha", "path", "author", "committer", "since", "until", "per_page", "page"}})
	a.Get(apiRepo+"/commits/{sha}/branches-where-head", read, s.apiBranchesWhereHead,
		&web.Doc{ID: "repos/list-branches-for-head-commit", Summary: "List branches for HEAD commit", Out: []shortBranch{}})
	a.Get(apiRepo+"/commits/*", read, s.apiCommit, &web.Doc{ID: "repos/get-commit", Summary: "Get a commit", Out: Commit{}, Query: []string{"per_page", "page"}})
	a.Get(apiRepo+"/compare/*", read, s.apiCompare,
		&web.Doc{ID: "repos/compare-commits-with-basehead", Summary: "Compare two commits", Out: Comparison{}, Query: []string{"per_page", "page"}})
	a.Get(apiRepo+"/contributors", read, s.apiContributors,
		&web.Doc{ID: "repos/list-contributors", Summary: "List repository contributors", Out: []contributor{}, Query: []string{"anon", "per_page", "page"}})
	a.Get(apiRepo+"/stats/contributors", read, s.apiContributorStats,
		&web.Doc{ID: "repos/get-contributors-stats", Summary: "Get all contributor commit activity", Out: []contributorStats{}})
}

func (s *Service) apiBranchRoutes(a *web.Router) {
	read, write := s.Gate.Repo(model.RoleRead), s.Gate.RepoChange(model.RoleWrite)
	a.Get(apiRepo+"/branches", read, s.apiBranches,
		&web.Doc{ID: "repos/list-branches", Summary: "List branches", Out: []shortBranch{}, Query: []string{"protected", "per_page", "page"}})
	a.Get(apiRepo+"/branches/*", read, s.apiBranch, &web.Doc{ID: "repos/get-branch", Summary: "Get a branch", Out: Branch{}})
	a.Post(apiRepo+"/branches/*", write, s.apiRenameBranch,
		&web.Doc{ID: "repos/rename-branch", Summary: "Rename a branch", In: renameInput{}, Out: Branch{}, Status: http.StatusCreated})
	a.Post(apiRepo+"/merges", write, s.apiMerge,
		&web.Doc{ID: "repos/merge", Summary: "Merge a branch", In: mergeInput{}, Out: Commit{}, Status: http.StatusCreated})
	a.Get(apiRepo+"/tags", read, s.apiTags, &web.Doc{ID: "repos/list-tags", Summary: "List repository tags", Out: []shortTag{}, Query: []string{"per_page", "page"}})
}

func (s *Service) apiObjectRoutes(a *web.Router) {
	read, write := s.Gate.Repo(model.RoleRead), s.Gate.RepoChange(model.RoleWrite)
	const base = apiRepo + "/git"
	a.Get(base+"/ref/*", read, s.apiRef, &web.Doc{ID: "git/get-ref", Summary: "Get a reference", Out: Ref{}})
	a.Get(base+"/refs", read, s.apiMatchingRefs, &web.Doc{ID: "git/list-refs", Summary: "List references", Out: []Ref{}})
	a.Get(base+"/refs/*", read, s.apiMatchingRefs, &web.Doc{ID: "git/list-refs-below", Summary: "List references below a prefix", Out: []Ref{}})
	a.Get(base+"/matching-refs/*", read, s.apiMatchingRefs, &web.Doc{ID: "git/list-matching-refs", Summary: "List matching references", Out: []Ref{}})
	a.Post(base+"/refs", write, s.apiCreateRef, &web.Doc{ID: "git/create-ref", Summary: "Create a reference", In: refInput{}, Out: Ref{}, Status: http.StatusCreated})
	a.Patch(base+"/refs/*", write, s.apiUpdateRef, &web.Doc{ID: "git/update-ref", Summary: "Update a reference", In: refInput{}, Out: Ref{}})
	a.Delete(base+"/refs/*", write, s.apiDeleteRef, &web.Doc{ID: "git/delete-ref", Summary: "Delete a reference", Status: http.StatusNoContent})
	a.Get(base+"/trees/*", read, s.apiTree, &web.Doc{ID: "git/get-tree", Summary: "Get a tree", Out: Tree{}, Query: []string{"recursive"}})
	a.Post(base+"/trees", write, s.apiCreateTree, &web.Doc{ID: "git/create-tree", Summary: "Create a tree", In: treeInput{}, Out: Tree{}, Status: http.StatusCreated})
	a.Get(base+"/blobs/{sha}", read, s.apiBlob, &web.Doc{ID: "git/get-blob", Summary: "Get a blob", Out: Blob{}})
	a.Post(base+"/blobs", write, s.apiCreateBlob, &web.Doc{ID: "git/create-blob", Summary: "Create a blob", In: blobInput{}, Out: shortBlob{}, Status: http.StatusCreated})
	a.Get(base+"/commits/{sha}", read, s.apiGitCommit, &web.Doc{ID: "git/get-commit", Summary: "Get a commit object", Out: GitCommit{}})
	a.Post(base+"/commits", write, s.apiCreateCommit, &web.Doc{ID: "git/create-commit", Summary: "Create a commit", In: commitInput{}, Out: GitCommit{}, Status: http.StatusCreated})
	a.Get(base+"/tags/{sha}", read, s.apiGitTag, &web.Doc{ID: "git/get-tag", Summary: "Get a tag", Out: GitTag{}})
	a.Post(base+"/tags", write, s.apiCreateTag, &web.Doc{ID: "git/create-tag", Summary: "Create a tag object", In: tagInput{}, Out: GitTag{}, Status: http.StatusCreated})
}

// media is the last word of GitHub's media type that the client asks for
// (https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types),
// such as "raw" of application/vnd.github.v3.raw+json; "" is plain JSON.
func media(c *web.Ctx) string {
	for _, part := range strings.Split(c.R.Header.Get("Accept"), ",") {
		kind, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		kind, ok := strings.CutPrefix(kind, "application/vnd.github.")
		if !ok {
			continue
		}
		kind, _, _ = strings.Cut(kind, "+")
		switch kind = kind[strings.LastIndexByte(kind, '.')+1:]; kind {
		case "raw", "html", "object", "diff", "patch", "sha":
			return kind
		}
	}
	return ""
}

// apiGit opens the repository.
func (s *Service) apiGit(c *web.Ctx) (*git.Repository, error) {
	return s.Repos.Open(c.Context(), c.Repo)
}

// apiRev is the revision of this name in c's repository; "" is the default
// branch. An empty repository is a fault of kind Conflict, as on GitHub.
func (s *Service) apiRev(c *web.Ctx, name string) (*place, error) {
	defer c.Time("git")()
	g, err := s.apiGit(c)
	if err != nil {
		return nil, err
	}
	p := &place{repo: c.Repo, git: g}
	if name == "" {
		name = c.Repo.DefaultBranch
	}
	p.rev, err = g.ResolveRef(c.Context(), name)
	if errors.Is(err, git.ErrNotFound) {
		if err = s.emptyOr(c.Context(), g, "commit for "+git.Display(name)); errors.Is(err, errEmpty) {
			return nil, fault.New(fault.Conflict, "Git Repository is empty.")
		}
		return nil, err
	}
	if err == nil && p.rev.Commit == "" {
		return nil, fault.New(fault.NotFound, "That tag does not lead to a commit.")
	}
	return p, lost(err)
}

// apiURL is the API's address of something below c's repository; the tail is
// encoded already.
func apiURL(c *web.Ctx, tail string) string {
	return c.URL(web.APIPrefix + "/repos" + link.Repo(c.Repo.Owner.Name, c.Repo.Name) + tail)
}

// oidParam reads a path parameter that is a whole object id.
func oidParam(c *web.Ctx, name string) (git.OID, error) {
	oid, ok := git.ParseOID(c.Param(name))
	if !ok {
		return "", fault.New(fault.NotFound, "That is no object id.")
	}
	return oid, nil
}
