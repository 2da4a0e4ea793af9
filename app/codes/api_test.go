package codes_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/git/gittest"
	"github.com/google/go-github/v89/github"
)

func must[T any](t *testing.T) func(v T, res *github.Response, err error) T {
	return func(v T, _ *github.Response, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestContentsWithGoGitHub(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.repo("r", commit("one", text("README.md", "# Hello\n"), text("dir/a.txt", "a\r\nb\r\n"), gittest.Link("link", "dir/a.txt"),
		gittest.Link("out", "../../etc/passwd"), gittest.Submodule("sub", strings.Repeat("1", 40)),
		text(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ../sib.git\n")))
	c, ctx := s.client(s.ann), t.Context()
	file, list, _, err := c.Repositories.GetContents(ctx, "ann", "r", "dir/a.txt", nil)
	if err != nil || list != nil {
		t.Fatal(err, list)
	}
	if body, err := file.GetContent(); err != nil || body != "a\r\nb\r\n" || file.GetType() != "file" || file.GetSize() != 6 {
		t.Errorf("%q %v %+v", body, err, file)
	}
	_, list, _, err = c.Repositories.GetContents(ctx, "ann", "r", "", nil)
	if err != nil || len(list) != 6 {
		t.Fatal(err, list)
	}
	// A link to a file is the file; one that leads out is only a link.
	file, _, _, err = c.Repositories.GetContents(ctx, "ann", "r", "link", nil)
	if err != nil || file.GetType() != "file" || file.GetPath() != "dir/a.txt" {
		t.Errorf("%v %+v", err, file)
	}
	file, _, _, err = c.Repositories.GetContents(ctx, "ann", "r", "out", nil)
	if err != nil || file.GetType() != "symlink" || file.GetTarget() != "../../etc/passwd" {
		t.Errorf("%v %+v", err, file)
	}
	file, _, _, err = c.Repositories.GetContents(ctx, "ann", "r", "sub", nil)
	if err != nil || file.GetType() != "submodule" || file.GetSubmoduleGitURL() != "../sib.git" ||
		!strings.HasSuffix(file.GetHTMLURL(), "/ann/sib/tree/"+strings.Repeat("1", 40)) {
		t.Errorf("%v %+v", err, file)
	}
	readme, _, err := c.Repositories.GetReadme(ctx, "ann", "r", nil)
	if err != nil || readme.GetName() != "README.md" {
		t.Errorf("%v %+v", err, readme)
	}

	// Write, with the checks of what was there.
	opts := &github.RepositoryContentFileOptions{Message: github.Ptr("add"), Content: []byte("new\n"), Branch: github.Ptr("main"),
		Author: &github.CommitAuthor{Name: github.Ptr("Zoë"), Email: github.Ptr("zoe@example.com")}}
	made, res, err := c.Repositories.CreateFile(ctx, "ann", "r", "new dir/ü 41.txt", opts)
	if err != nil || res.StatusCode != http.StatusCreated || made.Content.GetPath() != "new dir/ü 41.txt" || made.Commit.Author.GetName() != "Zoë" {
		t.Fatalf("%v %+v", err, made)
	}
	if _, res, err = c.Repositories.CreateFile(ctx, "ann", "r", "new dir/ü 41.txt", opts); err == nil || res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("without sha: %v", err)
	}
	opts.SHA = github.Ptr(strings.Repeat("0", 39) + "1")
	if _, res, err = c.Repositories.UpdateFile(ctx, "ann", "r", "new dir/ü 41.txt", opts); err == nil || res.StatusCode != http.StatusConflict {
		t.Errorf("wrong sha: %v", err)
	}
	opts.SHA, opts.Content = made.Content.SHA, []byte("newer")
	changed, res, err := c.Repositories.UpdateFile(ctx, "ann", "r", "new dir/ü 41.txt", opts)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	file, _, _, err = c.Repositories.GetContents(ctx, "ann", "r", "new dir/ü 41.txt", nil)
	if body, _ := file.GetContent(); err != nil || body != "newer" {
		t.Errorf("%q %v", body, err)
	}
	opts = &github.RepositoryContentFileOptions{Message: github.Ptr("gone"), SHA: changed.Content.SHA}
	if _, _, err = c.Repositories.DeleteFile(ctx, "ann", "r", "new dir/ü 41.txt", opts); err != nil {
		t.Error(err)
	}
	if _, _, res, err = c.Repositories.GetContents(ctx, "ann", "r", "new dir/ü 41.txt", nil); err == nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("deleted: %v", err)
	}
	// Who may only read is refused.
	if _, res, err = s.client(s.bob).Repositories.CreateFile(ctx, "ann", "r", "x", opts); err == nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("a reader: %v", err)
	}
}

func TestContentsForms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.repo("r", commit("one", text("README.md", "# Hello\n\n[x](docs/x.md)\n"), text("docs/x.md", "x"),
		text("LICENSE", "MIT License\n\nCopyright (c) 2020 A\n\nPermission is hereby granted")))
	get := func(path, accept string) string {
		t.Helper()
		return s.ann.Do(http.MethodGet, "/api/v3/repos/ann/r/contents/"+path, nil, "Accept", accept).OK().Body
	}
	if got := get("README.md", "application/vnd.github.v3.raw"); got != "# Hello\n\n[x](docs/x.md)\n" {
		t.Errorf("raw: %q", got)
	}
	if got := get("README.md", "application/vnd.github.html+json"); !strings.Contains(got, `href="/ann/r/blob/main/docs/x.md"`) {
		t.Errorf("html: %q", got)
	}
	if got := get("docs", "application/vnd.github.object+json"); !strings.Contains(got, `"entries":[{"type":"file"`) {
		t.Errorf("object: %q", got)
	}
	var file struct{ Content, Encoding string }
	s.ann.API(http.MethodGet, "/repos/ann/r/contents/README.md", nil).OK().Into(&file)
	if data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(file.Content, "\n", "")); err != nil || !strings.HasSuffix(file.Content, "\n") || string(data[:7]) != "# Hello" {
		t.Errorf("%q %v", file.Content, err)
	}
	s.ann.API(http.MethodGet, "/repos/ann/r/contents/none", nil).Want(http.StatusNotFound)
	s.ann.API(http.MethodGet, "/repos/ann/r/contents/README.md?ref=none", nil).Want(http.StatusNotFound)
	for format, end := range map[string]string{"tarball": ".tar.gz", "zipball/main": ".zip"} {
		r := s.ann.API(http.MethodGet, "/repos/ann/r/"+format, nil).Want(http.StatusFound)
		if r.Location() != s.URL+"/ann/r/archive/main"+end {
			t.Errorf("%s: %s", format, r.Location())
		}
	}
	s.repo("empty")
	s.ann.API(http.MethodGet, "/repos/ann/empty/contents", nil).Want(http.StatusNotFound)
	s.ann.API(http.MethodGet, "/repos/ann/empty/commits", nil).Want(http.StatusConflict)
	s.ann.API(http.MethodPut, "/repos/ann/empty/contents/a", map[string]any{"message": "m", "content": "YQ=="}).Want(http.StatusCreated)
	s.ann.API(http.MethodGet, "/repos/ann/empty/commits", nil).OK()
	made := s.ann.API(http.MethodPut, "/repos/ann/empty/contents/d/%2541%20%23", map[string]any{"message": "m", "content": "YQ=="}).Want(http.StatusCreated)
	if made.JSON()["content"].(map[string]any)["path"] != "d/%41 #" {
		t.Errorf("path of %s", made.Body)
	}
	s.ann.API(http.MethodPut, "/repos/ann/r/contents/.git/config", map[string]any{"message": "m", "content": "YQ=="}).Want(http.StatusUnprocessableEntity)
	s.ann.API(http.MethodPut, "/repos/ann/r/contents/a", map[string]any{"message": "m", "content": "?"}).Want(http.StatusUnprocessableEntity)
	s.ann.API(http.MethodPut, "/repos/ann/r/contents/a", map[string]any{"message": "m", "content": "YQ==", "branch": "none"}).Want(http.StatusNotFound)
}

func TestOddNamesInAPI(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var files []gittest.File
	for _, name := range gittest.OddNames() {
		files = append(files, text("d/"+name, "content of "+name))
	}
	s.repo("r", commit("odd", files...))
	var list []struct{ Name, URL string }
	s.ann.API(http.MethodGet, "/repos/ann/r/contents/d", nil).OK().Into(&list)
	if len(list) != len(files) {
		t.Fatalf("%d of %d entries", len(list), len(files))
	}
	bodies := map[string]bool{}
	for _, e := range list {
		u, err := url.Parse(e.URL)
		if err != nil {
			t.Fatal(err)
		}
		raw := s.ann.Do(http.MethodGet, u.RequestURI(), nil, "Accept", "application/vnd.github.raw").OK()
		bodies[raw.Body] = true
	}
	for _, name := range gittest.OddNames() {
		if !bodies["content of "+name] {
			t.Errorf("%q was not reached by its address", name)
		}
	}
}

func TestCommitsWithGoGitHub(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.repo("r")
	var all []gittest.Commit
	for i := range 45 {
		all = append(all, commit("commit "+string(rune('a'+i%26)), text("f"+string(rune('a'+i%3)), strings.Repeat("x\n", i+1))))
	}
	all[3].Author = "Ann <ann@example.com>"
	ids := w.Commits(all...)
	w.Commit(gittest.Commit{Branch: "feature/x", Parents: []string{ids[40]}, Message: "on a branch", Files: []gittest.File{text("g", "1\n2\n")}})
	s.push(w, "r")
	c, ctx := s.client(s.ann), t.Context()
	list, res, err := c.Repositories.ListCommits(ctx, "ann", "r", &github.CommitsListOptions{ListOptions: github.ListOptions{PerPage: 20}})
	if err != nil || len(list) != 20 || res.NextPage != 2 || list[0].GetSHA() != ids[44] {
		t.Fatalf("%v %d %d", err, len(list), res.NextPage)
	}
	by := must[[]*github.RepositoryCommit](t)(c.Repositories.ListCommits(ctx, "ann", "r", &github.CommitsListOptions{Author: "ann"}))
	if len(by) != 1 || by[0].GetSHA() != ids[3] || by[0].GetAuthor().GetLogin() != "ann" {
		t.Errorf("by author: %v", by)
	}
	by = must[[]*github.RepositoryCommit](t)(c.Repositories.ListCommits(ctx, "ann", "r", &github.CommitsListOptions{Path: "fb", SHA: "main"}))
	if len(by) != 15 {
		t.Errorf("by path: %d", len(by))
	}
	since := list[10].Commit.Committer.GetDate().Time
	by = must[[]*github.RepositoryCommit](t)(c.Repositories.ListCommits(ctx, "ann", "r", &github.CommitsListOptions{Since: since}))
	if len(by) != 11 {
		t.Errorf("since: %d", len(by))
	}
	by = must[[]*github.RepositoryCommit](t)(c.Repositories.ListCommits(ctx, "ann", "r", &github.CommitsListOptions{Until: since.Add(-time.Second), SHA: "feature/x"}))
	if len(by) != 30 {
		t.Errorf("until: %d", len(by))
	}
	one := must[*github.RepositoryCommit](t)(c.Repositories.GetCommit(ctx, "ann", "r", "feature/x", nil))
	if one.GetStats().GetAdditions() != 2 || len(one.Files) != 1 || one.Files[0].GetPatch() != "@@ -0,0 +1,2 @@\n+1\n+2" || one.Files[0].GetStatus() != "added" {
		t.Errorf("%+v", one)
	}
	if one.Commit.GetVerification().GetReason() != "unsigned" {
		t.Errorf("%+v", one.Commit.Verification)
	}
	sha := must[string](t)(c.Repositories.GetCommitSHA1(ctx, "ann", "r", "feature/x", ""))
	if sha != one.GetSHA() {
		t.Errorf("sha %q", sha)
	}
	diff := must[string](t)(c.Repositories.GetCommitRaw(ctx, "ann", "r", sha, github.RawOptions{Type: github.Diff}))
	if !strings.HasPrefix(diff, "diff --git a/g b/g") {
		t.Errorf("diff %q", diff)
	}
	cmp := must[*github.CommitsComparison](t)(c.Repositories.CompareCommits(ctx, "ann", "r", "main", "feature/x", nil))
	if cmp.GetStatus() != "diverged" || cmp.GetAheadBy() != 1 || cmp.GetBehindBy() != 4 || len(cmp.Files) != 1 || cmp.MergeBaseCommit.GetSHA() != ids[40] {
		t.Errorf("%+v", cmp)
	}
	people := must[[]*github.Contributor](t)(c.Repositories.ListContributors(ctx, "ann", "r", &github.ListContributorsOptions{Anon: "true"}))
	if len(people) != 2 || people[0].GetType() != "Anonymous" || people[0].GetContributions() != 44 || people[1].GetLogin() != "ann" {
		t.Errorf("%+v", people)
	}
	stats := must[[]*github.ContributorStats](t)(c.Repositories.ListContributorsStats(ctx, "ann", "r"))
	if len(stats) != 2 || stats[0].GetAuthor().GetLogin() != "ann" || stats[0].GetTotal() != 1 || stats[1].Author != nil || stats[1].GetTotal() != 44 {
		t.Fatalf("%+v", stats)
	}
	var added, commits int
	for _, week := range stats[0].Weeks {
		if at := week.GetWeek(); at.UTC().Weekday() != time.Sunday || at.Unix()%86400 != 0 {
			t.Errorf("a week begins at %v", at)
		}
		added += week.GetAdditions()
		commits += week.GetCommits()
	}
	if added != 3 || commits != 1 {
		t.Errorf("ann added %d lines in %d commits", added, commits)
	}
}

func TestRefsWithGoGitHub(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.repo("r")
	ids := w.Commits(commit("one", text("a", "a")), commit("two", text("a", "b")))
	names := []string{"solve-#33_match", "🧬", "100%+done", "a/b/c", "日本語", strings.Repeat("ab", 20), "refs/heads/x", "e\u0301", "é"}
	for _, n := range names {
		w.Git("update-ref", "refs/heads/"+n, ids[0])
	}
	s.push(w, "r")
	c, ctx := s.client(s.ann), t.Context()
	for _, n := range names {
		b, _, err := c.Repositories.GetBranch(ctx, "ann", "r", n, 0)
		if err != nil || b.GetName() != n || b.GetCommit().GetSHA() != ids[0] {
			t.Errorf("branch %q: %v %+v", n, err, b)
		}
		s.ann.API(http.MethodGet, "/repos/ann/r/branches/"+(&url.URL{Path: n}).EscapedPath(), nil).OK()
		file, _, _, err := c.Repositories.GetContents(ctx, "ann", "r", "a", &github.RepositoryContentGetOptions{Ref: n})
		if body, _ := file.GetContent(); err != nil || body != "a" {
			t.Errorf("contents at %q: %q %v", n, body, err)
		}
	}
	ref := must[*github.Reference](t)(c.Git.CreateRef(ctx, "ann", "r", github.CreateRef{Ref: "refs/heads/new/one", SHA: ids[1]}))
	if ref.GetRef() != "refs/heads/new/one" || ref.GetObject().GetType() != "commit" {
		t.Errorf("%+v", ref)
	}
	wantStatus := func(what string, status int, err error) {
		t.Helper()
		var refused *github.ErrorResponse
		if !as(err, &refused) || refused.Response.StatusCode != status {
			t.Errorf("%s: %v, want %d", what, err, status)
		}
	}
	_, _, err := c.Git.CreateRef(ctx, "ann", "r", github.CreateRef{Ref: "refs/heads/new/one", SHA: ids[1]})
	wantStatus("made twice", 422, err)
	_, _, err = c.Git.CreateRef(ctx, "ann", "r", github.CreateRef{Ref: "refs/heads/new", SHA: ids[1]})
	wantStatus("a folder's name", 422, err)
	_, _, err = c.Git.CreateRef(ctx, "ann", "r", github.CreateRef{Ref: "refs/heads/..x", SHA: ids[1]})
	wantStatus("a bad name", 422, err)
	_, _, err = c.Git.CreateRef(ctx, "ann", "r", github.CreateRef{Ref: "refs/heads/y", SHA: strings.Repeat("5", 40)})
	wantStatus("no object", 422, err)
	_, _, err = c.Git.UpdateRef(ctx, "ann", "r", "heads/new/one", github.UpdateRef{SHA: ids[0]})
	wantStatus("backwards", 422, err)
	ref = must[*github.Reference](t)(c.Git.UpdateRef(ctx, "ann", "r", "heads/new/one", github.UpdateRef{SHA: ids[0], Force: github.Ptr(true)}))
	if ref.GetObject().GetSHA() != ids[0] {
		t.Errorf("%+v", ref)
	}
	list := must[[]*github.Reference](t)(c.Git.ListMatchingRefs(ctx, "ann", "r", "heads/new"))
	if len(list) != 1 {
		t.Errorf("%+v", list)
	}
	if _, err := c.Git.DeleteRef(ctx, "ann", "r", "heads/new/one"); err != nil {
		t.Error(err)
	}
	_, err = c.Git.DeleteRef(ctx, "ann", "r", "heads/main")
	wantStatus("the default branch", 422, err)
	renamed, _, err := c.Repositories.RenameBranch(ctx, "ann", "r", "a/b/c", "d#/%41")
	if err != nil || renamed.GetName() != "d#/%41" {
		t.Errorf("%v %+v", err, renamed)
	}
	renamed, _, err = c.Repositories.RenameBranch(ctx, "ann", "r", "main", "trunk")
	if err != nil || renamed.GetName() != "trunk" {
		t.Errorf("%v %+v", err, renamed)
	}
	repo := must[*github.Repository](t)(c.Repositories.Get(ctx, "ann", "r"))
	if repo.GetDefaultBranch() != "trunk" {
		t.Errorf("default branch %q", repo.GetDefaultBranch())
	}
}

func TestObjectsWithGoGitHub(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.repo("r", commit("one", text("a", "a"), text("d/b", "b")))
	c, ctx := s.client(s.ann), t.Context()
	head := w.Git("rev-parse", "main")
	blob := must[*github.Blob](t)(c.Git.CreateBlob(ctx, "ann", "r", github.Blob{Content: github.Ptr("AP8="), Encoding: github.Ptr("base64")}))
	tree := must[*github.Tree](t)(c.Git.CreateTree(ctx, "ann", "r", head, []*github.TreeEntry{
		{Path: github.Ptr("d/bin"), Mode: github.Ptr("100755"), Type: github.Ptr("blob"), SHA: blob.SHA},
		{Path: github.Ptr("d/b")},
		{Path: github.Ptr("t"), Mode: github.Ptr("100644"), Type: github.Ptr("blob"), Content: github.Ptr("text")}}))
	made := must[*github.Commit](t)(c.Git.CreateCommit(ctx, "ann", "r", github.Commit{Message: github.Ptr("by hand"), Tree: tree,
		Parents: []*github.Commit{{SHA: &head}}}, nil))
	must[*github.Reference](t)(c.Git.UpdateRef(ctx, "ann", "r", "heads/main", github.UpdateRef{SHA: made.GetSHA()}))
	tag := must[*github.Tag](t)(c.Git.CreateTag(ctx, "ann", "r", github.CreateTag{Tag: "v1", Message: "first", Object: made.GetSHA(), Type: "commit"}))
	must[*github.Reference](t)(c.Git.CreateRef(ctx, "ann", "r", github.CreateRef{Ref: "refs/tags/v1", SHA: tag.GetSHA()}))
	deep := must[*github.Tree](t)(c.Git.GetTree(ctx, "ann", "r", "main", true))
	var paths []string
	for _, e := range deep.Entries {
		paths = append(paths, e.GetMode()+" "+e.GetPath())
	}
	if got := strings.Join(paths, ", "); got != "100644 a, 040000 d, 100755 d/bin, 100644 t" {
		t.Errorf("tree %s", got)
	}
	got := must[*github.Blob](t)(c.Git.GetBlob(ctx, "ann", "r", blob.GetSHA()))
	if got.GetContent() != "AP8=\n" || got.GetSize() != 2 {
		t.Errorf("%+v", got)
	}
	tags := must[[]*github.RepositoryTag](t)(c.Repositories.ListTags(ctx, "ann", "r", nil))
	if len(tags) != 1 || tags[0].GetCommit().GetSHA() != made.GetSHA() {
		t.Errorf("%+v", tags)
	}
	s.fetch(w, "r")
	if got := w.Git("cat-file", "-p", "v1"); !strings.Contains(got, "tagger ann <ann@example.com>") && !strings.Contains(got, "tagger ann <") {
		t.Errorf("tag %s", got)
	}
	w.Git("fsck", "--strict")

	// Merges.
	base := w.Git("rev-parse", "main")
	w.Commit(gittest.Commit{Branch: "side", Parents: []string{base}, Files: []gittest.File{text("s", "s")}})
	w.Commit(gittest.Commit{Branch: "clash", Parents: []string{base}, Files: []gittest.File{text("a", "other")}})
	w.Commit(gittest.Commit{Branch: "main", Files: []gittest.File{text("a", "mine")}})
	s.push(w, "r")
	merged, res, err := c.Repositories.Merge(ctx, "ann", "r", &github.RepositoryMergeRequest{Base: github.Ptr("main"), Head: github.Ptr("side")})
	if err != nil || res.StatusCode != http.StatusCreated || len(merged.Parents) != 2 {
		t.Errorf("%v %+v", err, merged)
	}
	if _, res, err = c.Repositories.Merge(ctx, "ann", "r", &github.RepositoryMergeRequest{Base: github.Ptr("main"), Head: github.Ptr("side")}); err != nil || res.StatusCode != http.StatusNoContent {
		t.Errorf("again: %v", err)
	}
	if _, res, err = c.Repositories.Merge(ctx, "ann", "r", &github.RepositoryMergeRequest{Base: github.Ptr("main"), Head: github.Ptr("clash")}); err == nil || res.StatusCode != http.StatusConflict {
		t.Errorf("conflict: %v", err)
	}
	if _, res, err = c.Repositories.Merge(ctx, "ann", "r", &github.RepositoryMergeRequest{Base: github.Ptr("main"), Head: github.Ptr("none")}); err == nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("missing: %v", err)
	}
	s.fetch(w, "r")
	if who := w.Git("log", "-1", "--format=%an", "main"); who != "ann" {
		t.Errorf("merged by %q", who)
	}
}
