package releases_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/git/gittest"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/google/go-github/v89/github"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// site is an instance with ada's repository engine, which has one commit, and
// bob, who may read it.
type site struct {
	*apptest.Server
	t        *testing.T
	ada, bob *apptest.Client
	work     *gittest.Repo
}

func newSite(t *testing.T, working bool) *site {
	t.Helper()
	start := apptest.New
	if working {
		start = apptest.NewWorking
	}
	s := &site{Server: start(t), t: t, work: gittest.New(t)}
	s.ada, s.bob = s.User(t, "ada"), s.User(t, "bob")
	s.ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "engine"}).Want(http.StatusCreated)
	s.work.Commits(gittest.Commit{Message: "start", Files: []gittest.File{gittest.Text("README.md", "# Engine\n")}})
	s.push()
	return s
}

func (s *site) remote() string {
	return strings.Replace(s.URL, "http://", "http://x:"+s.ada.Token+"@", 1) + "/ada/engine.git"
}

func (s *site) push() {
	s.t.Helper()
	s.work.Git("push", "-q", s.remote(), "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*")
}

// client is GitHub's official Go client with c's token.
func (s *site) client(c *apptest.Client) *github.RepositoriesService {
	s.t.Helper()
	client, err := github.NewClient(github.WithAuthToken(c.Token), github.WithEnterpriseURLs(s.URL, s.URL), github.WithDisableRateLimitCheck())
	if err != nil {
		s.t.Fatal(err)
	}
	return client.Repositories
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }

func status(err error) int {
	var e *github.ErrorResponse
	if errors.As(err, &e) {
		return e.Response.StatusCode
	}
	return 0
}

func TestGitHubClient(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ctx, ada, bob := t.Context(), s.client(s.ada), s.client(s.bob)
	if _, _, err := ada.GetLatestRelease(ctx, "ada", "engine"); status(err) != http.StatusNotFound {
		t.Errorf("latest of none: %v", err)
	}
	draft, _, err := ada.CreateRelease(ctx, "ada", "engine", github.CreateReleaseRequest{TagName: "v1.0.0", Draft: ptr(true), Name: ptr("First")})
	check(t, err)
	if _, _, err := bob.GetRelease(ctx, "ada", "engine", draft.GetID()); status(err) != http.StatusNotFound {
		t.Errorf("a reader sees a draft: %v", err)
	}
	if out := s.work.Git("ls-remote", "--tags", s.remote()); out != "" {
		t.Errorf("a draft made a tag: %s", out)
	}
	one, _, err := ada.UpdateRelease(ctx, "ada", "engine", draft.GetID(), github.UpdateReleaseRequest{Draft: ptr(false), Body: ptr("Works.")})
	check(t, err)
	if one.GetDraft() || one.PublishedAt == nil || one.GetBody() != "Works." || one.GetName() != "First" || one.GetTargetCommitish() != "main" ||
		one.GetHTMLURL() != s.URL+"/ada/engine/releases/tag/v1.0.0" {
		t.Errorf("published %v", one)
	}
	if out := s.work.Git("ls-remote", "--tags", s.remote()); !strings.Contains(out, "refs/tags/v1.0.0") {
		t.Errorf("no tag was made: %q", out)
	}
	_, _, err = ada.CreateRelease(ctx, "ada", "engine", github.CreateReleaseRequest{TagName: "v2.0.0-rc1", Prerelease: ptr(true)})
	check(t, err)
	_, _, err = ada.CreateRelease(ctx, "ada", "engine", github.CreateReleaseRequest{TagName: "v2.0.0"})
	check(t, err)
	_, _, err = ada.CreateRelease(ctx, "ada", "engine", github.CreateReleaseRequest{TagName: "v1.0.1"})
	check(t, err)
	latest, _, err := bob.GetLatestRelease(ctx, "ada", "engine")
	check(t, err)
	if latest.GetTagName() != "v2.0.0" {
		t.Errorf("the latest is %s: a fix of an older line took its place", latest.GetTagName())
	}
	_, _, err = ada.UpdateRelease(ctx, "ada", "engine", one.GetID(), github.UpdateReleaseRequest{MakeLatest: ptr("true")})
	check(t, err)
	if latest, _, err = bob.GetLatestRelease(ctx, "ada", "engine"); err != nil || latest.GetTagName() != "v1.0.0" {
		t.Errorf("marked, the latest is %v, %v", latest, err)
	}
	list, _, err := bob.ListReleases(ctx, "ada", "engine", &github.ListOptions{PerPage: 2})
	check(t, err)
	if len(list) != 2 || list[0].GetTagName() != "v1.0.1" {
		t.Errorf("listed %v", list)
	}
	if byTag, _, err := bob.GetReleaseByTag(ctx, "ada", "engine", "v2.0.0-rc1"); err != nil || !byTag.GetPrerelease() {
		t.Errorf("by tag %v, %v", byTag, err)
	}
	for name, in := range map[string]github.CreateReleaseRequest{
		"taken": {TagName: "v1.0.0"}, "no tag": {}, "bad tag": {TagName: "a..b"}, "no target": {TagName: "v9", TargetCommitish: ptr("nowhere")},
	} {
		if _, _, err := ada.CreateRelease(ctx, "ada", "engine", in); status(err) != http.StatusUnprocessableEntity {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := bob.CreateRelease(ctx, "ada", "engine", github.CreateReleaseRequest{TagName: "v3"}); status(err) != http.StatusForbidden {
		t.Errorf("a reader made a release: %v", err)
	}
	_, err = ada.DeleteRelease(ctx, "ada", "engine", one.GetID())
	check(t, err)
	if out := s.work.Git("ls-remote", "--tags", s.remote()); !strings.Contains(out, "refs/tags/v1.0.0") {
		t.Errorf("the tag went with the release: %q", out)
	}
}

func TestTagsAndReleases(t *testing.T) {
	t.Parallel()
	s := newSite(t, true)
	ctx, ada := t.Context(), s.client(s.ada)
	_, _, err := ada.CreateRelease(ctx, "ada", "engine", github.CreateReleaseRequest{TagName: "tool/v1"})
	check(t, err)
	s.ada.Get("/ada/engine/releases/tag/tool/v1").OK()
	s.work.Git("push", "-q", s.remote(), ":refs/tags/tool/v1")
	deadline := time.Now().Add(20 * time.Second)
	for {
		list, _, err := ada.ListReleases(ctx, "ada", "engine", nil)
		check(t, err)
		if len(list) == 1 && list[0].Draft {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the tag is deleted, the release stays: %v", list)
		}
		<-time.After(20 * time.Millisecond)
	}
	s.ada.API(http.MethodPut, "/repos/ada/engine/immutable-releases", nil).Want(http.StatusNoContent)
	last, _, err := ada.CreateRelease(ctx, "ada", "engine", github.CreateReleaseRequest{TagName: "v2"})
	check(t, err)
	cmd := exec.CommandContext(ctx, "git", "--git-dir="+s.work.Path, "push", "-q", s.remote(), ":refs/tags/v2")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "immutable release") {
		t.Errorf("an immutable release's tag was deleted: %s %v", out, err)
	}
	if _, _, err := ada.UpdateRelease(ctx, "ada", "engine", last.GetID(), github.UpdateReleaseRequest{TagName: ptr("v3")}); status(err) != http.StatusUnprocessableEntity {
		t.Errorf("an immutable release got another tag: %v", err)
	}
	_, _, err = ada.UpdateRelease(ctx, "ada", "engine", last.GetID(), github.UpdateReleaseRequest{Body: ptr("New words.")})
	check(t, err)
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	const at = "/ada/engine/releases"
	s.bob.Get(at).OK().Has("There are no releases yet")
	s.bob.Get(at + "/new").Want(http.StatusForbidden)
	s.ada.Get(at + "/new?tag=v1").OK().Has(`value="v1"`)
	bad := s.ada.Post(at, "tag_name", "a b", "name", "Kept", "body", "Kept too", "do", "publish").Want(http.StatusUnprocessableEntity).Has(`value="Kept"`).Has("Kept too")
	if bad.Find(`[data-field=tag_name] [id=tag_name-note]`).Length() == 0 {
		t.Error("no error beside the tag")
	}
	notes := s.ada.Post(at, "tag_name", "v1", "body", "Mine.", "do", "notes").OK()
	if text := notes.Find("textarea[name=body]").Text(); !strings.HasPrefix(text, "Mine.") || !strings.Contains(text, s.URL+"/ada/engine/commits/v1") {
		t.Errorf("notes %q", text)
	}
	edit := s.ada.Post(at, "tag_name", "v1", "name", "<b>One</b>", "body", "**Bold**", "do", "draft").Want(http.StatusSeeOther).Location()
	s.ada.Get(at).OK().Has("Draft").Has("&lt;b&gt;One")
	if strings.Contains(s.bob.Get(at).OK().Text("main"), "One") {
		t.Error("a reader sees a draft in the list")
	}
	form := s.ada.Get(edit).OK()
	version, _ := form.Find("input[name=version]").Attr("value")
	action := strings.TrimSuffix(edit, "/edit")
	to := s.ada.Post(action, "tag_name", "v1", "name", "One", "body", "**Bold**", "version", version, "do", "publish").Want(http.StatusSeeOther).Location()
	if to != at+"/tag/v1" {
		t.Errorf("published at %s", to)
	}
	s.bob.Get(to).OK().Has("<strong>Bold</strong>").Has("Latest").Has("/ada/engine/archive/")
	s.ada.Post(action, "tag_name", "v1", "name", "Two", "body", "x", "version", version, "do", "publish").Want(http.StatusConflict).Has("Somebody else has changed").Has(`value="Two"`)
	if loc := s.bob.Get(at + "/latest").Want(http.StatusFound).Location(); loc != to {
		t.Errorf("latest leads to %s", loc)
	}
	s.bob.Get(at + ".atom").OK().Has("<title>One</title>")
	s.bob.Get("/ada/engine/tags").OK().Has("A release was made of it")
	s.bob.Get("/ada/engine").OK().Has("All releases")
	s.work.Git("tag", "plain")
	s.push()
	s.bob.Get(at + "/tag/plain").OK().Has("A tag without a release")
	s.bob.Get(at + "/tag/nothing").Want(http.StatusNotFound)
	s.ada.Post(action + "/delete").Want(http.StatusSeeOther)
	s.bob.Get(to).OK().Has("A tag without a release")
}

func TestNotes(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ctx, ada := t.Context(), s.client(s.ada)
	_, _, err := ada.CreateRelease(ctx, "ada", "engine", github.CreateReleaseRequest{TagName: "v1"})
	check(t, err)
	s.work.Git("fetch", "-q", s.remote(), "main")
	merge := func(branch, title string, labels ...string) {
		t.Helper()
		s.work.Git("push", "-q", s.remote(), s.work.Git("commit-tree", "-p", "FETCH_HEAD", "-m", title, "FETCH_HEAD^{tree}")+":refs/heads/"+branch)
		pr := s.ada.API(http.MethodPost, "/repos/ada/engine/pulls", map[string]any{"title": title, "head": branch, "base": "main"}).Want(http.StatusCreated).JSON()
		n := fmt.Sprint(int(pr["number"].(float64)))
		if len(labels) > 0 {
			s.ada.API(http.MethodPost, "/repos/ada/engine/issues/"+n+"/labels", map[string]any{"labels": labels}).OK()
		}
		s.ada.API(http.MethodPut, "/repos/ada/engine/pulls/"+n+"/merge", map[string]any{"merge_method": "merge"}).OK()
	}
	merge("fix", "Fix the *valve*", "bug")
	merge("more", "More steam", "enhancement")
	merge("hidden", "Typos", "invalid")
	config := "changelog:\n  exclude:\n    labels: [invalid]\n  categories:\n    - title: Repairs\n      labels: [bug]\n    - title: Rest\n      labels: ['*']\n"
	s.ada.API(http.MethodPut, "/repos/ada/engine/contents/.github/release.yml", map[string]any{"message": "config", "content": base64.StdEncoding.EncodeToString([]byte(config))}).Want(http.StatusCreated)
	notes, _, err := ada.GenerateReleaseNotes(ctx, "ada", "engine", github.GenerateNotesRequest{TagName: "v2"})
	check(t, err)
	want := "## What changed\n### Repairs\n* Fix the \\*valve\\* by @ada in " + s.URL + "/ada/engine/pull/1\n### Rest\n* More steam by @ada in " + s.URL +
		"/ada/engine/pull/2\n\n## New contributors\n* @ada made their first contribution in " + s.URL + "/ada/engine/pull/1\n\n**All changes**: " + s.URL + "/ada/engine/compare/v1...v2"
	if notes.Body != want {
		t.Errorf("notes\n%s\nwant\n%s", notes.Body, want)
	}
	if _, _, err := ada.GenerateReleaseNotes(ctx, "ada", "engine", github.GenerateNotesRequest{TagName: "v2", PreviousTagName: ptr("nope")}); status(err) != http.StatusUnprocessableEntity {
		t.Errorf("an unknown tag before: %v", err)
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ctx, ada, bob := t.Context(), s.client(s.ada), s.client(s.bob)
	r, _, err := ada.CreateRelease(ctx, "ada", "engine", github.CreateReleaseRequest{TagName: "v1", Draft: ptr(true)})
	check(t, err)
	file := filepath.Join(t.TempDir(), "engine.tar.gz")
	check(t, os.WriteFile(file, []byte("steam"), 0o600))
	upload := func(name string) (*github.ReleaseAsset, error) {
		t.Helper()
		f, err := os.Open(file)
		check(t, err)
		defer f.Close()
		a, _, err := ada.UploadReleaseAsset(ctx, "ada", "engine", r.ID, &github.UploadOptions{Name: name, Label: "For all", MediaType: "application/gzip"}, f)
		return a, err
	}
	a, err := upload("engine one.tar.gz")
	check(t, err)
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("steam")))
	if a.GetName() != "engine.one.tar.gz" || a.GetSize() != 5 || a.GetState() != "uploaded" || a.GetLabel() != "For all" ||
		a.GetDigest() != sum || a.GetUploader().GetLogin() != "ada" {
		t.Errorf("uploaded %v", a)
	}
	if _, err := upload("engine one.tar.gz"); status(err) != http.StatusUnprocessableEntity {
		t.Errorf("the same name twice: %v", err)
	}
	if _, _, err := bob.GetReleaseAsset(ctx, "ada", "engine", a.GetID()); status(err) != http.StatusNotFound {
		t.Errorf("a reader sees a draft's file: %v", err)
	}
	at := fmt.Sprintf("/ada/engine/releases/%d", r.ID)
	s.ada.Get(at + "/edit").OK().Has("engine.one.tar.gz")
	_, _, err = ada.UpdateRelease(ctx, "ada", "engine", r.ID, github.UpdateReleaseRequest{Draft: ptr(false)})
	check(t, err)
	down := s.bob.Get("/ada/engine/releases/download/v1/engine.one.tar.gz").OK()
	if down.Body != "steam" || !strings.HasPrefix(down.Header.Get("Content-Disposition"), "attachment") ||
		!strings.Contains(down.Header.Get("Content-Security-Policy"), "sandbox") || down.Header.Get("Content-Type") != "application/gzip" {
		t.Errorf("downloaded %q %v", down.Body, down.Header)
	}
	if part := s.bob.Do(http.MethodGet, "/ada/engine/releases/download/v1/engine.one.tar.gz", nil, "Range", "bytes=1-2").Want(http.StatusPartialContent); part.Body != "te" {
		t.Errorf("a range is %q", part.Body)
	}
	if to := s.bob.Get("/ada/engine/releases/latest/download/engine.one.tar.gz").Want(http.StatusFound).Location(); to != "/ada/engine/releases/download/v1/engine.one.tar.gz" {
		t.Errorf("the latest is at %s", to)
	}
	body, _, err := bob.DownloadReleaseAsset(ctx, "ada", "engine", a.GetID(), nil)
	check(t, err)
	content, err := io.ReadAll(body)
	check(t, err)
	if string(content) != "steam" {
		t.Errorf("the API sends %q", content)
	}
	s.bob.Get("/ada/engine/releases").OK().Has("engine.one.tar.gz").Has("2 downloads").Has(a.GetDigest())
	a, _, err = ada.UpdateReleaseAsset(ctx, "ada", "engine", a.GetID(), github.UpdateReleaseAssetRequest{Name: ptr("new.gz")})
	check(t, err)
	if a.GetName() != "new.gz" || a.GetLabel() != "For all" {
		t.Errorf("renamed %v", a)
	}
	_, err = ada.DeleteReleaseAsset(ctx, "ada", "engine", a.GetID())
	check(t, err)
	s.bob.Get("/ada/engine/releases/download/v1/new.gz").Want(http.StatusNotFound)
	s.swept(a.GetDigest())
}

// swept fails the test unless a content without a file is deleted after a day,
// and not before.
func (s *site) swept(digest string) {
	s.t.Helper()
	ctx := s.t.Context()
	repo, _, err := repodb.Find(ctx, s.DB.Directory(), "ada", "engine", s.ada.Account.ID)
	check(s.t, err)
	space, sha := s.App.Blobs.Space(fmt.Sprintf("releases/%d", repo.ID)), strings.TrimPrefix(digest, "sha256:")
	next, err := s.App.Releases.Sweep(ctx, repo.ID, time.Now())
	check(s.t, err)
	if _, err := space.Stat(ctx, sha); err != nil || next.IsZero() {
		s.t.Errorf("the content went at once: %v, next %v", err, next)
	}
	next, err = s.App.Releases.Sweep(ctx, repo.ID, time.Now().Add(25*time.Hour))
	check(s.t, err)
	if _, err := space.Stat(ctx, sha); !errors.Is(err, blob.ErrNotFound) || !next.IsZero() {
		s.t.Errorf("the content stays: %v, next %v", err, next)
	}
}

func TestAttachOnPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	r, _, err := s.client(s.ada).CreateRelease(t.Context(), "ada", "engine", github.CreateReleaseRequest{TagName: "v1"})
	check(t, err)
	at := fmt.Sprintf("/ada/engine/releases/%d", r.ID)
	send := func() *apptest.Response {
		t.Helper()
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for _, name := range []string{"a.bin", "<b>.bin"} {
			part, err := w.CreateFormFile("files", name)
			check(t, err)
			_, err = part.Write([]byte("content of " + name))
			check(t, err)
		}
		check(t, w.Close())
		return s.ada.Do(http.MethodPost, at+"/assets", &b, "Content-Type", w.FormDataContentType(), "Origin", s.URL, "Sec-Fetch-Site", "same-origin")
	}
	send().Want(http.StatusSeeOther)
	page := s.ada.Get(at + "/edit").OK().Has("a.bin").Has(".b..bin")
	send().Want(http.StatusUnprocessableEntity).Has("already")
	remove, _ := page.Find(`form[action$="/delete"][action*="/assets/"]`).First().Attr("action")
	s.ada.Post(remove).Want(http.StatusSeeOther)
	if n := s.ada.Get(at + "/edit").OK().Find(`form[action*="/assets/"]`).Length(); n != 1 {
		t.Errorf("%d files are left", n)
	}
}
