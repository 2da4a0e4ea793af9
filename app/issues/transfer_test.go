package issues_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

// A process that dies between the two halves of a move leaves one issue in the
// end, with what was written in between.
func TestTransferDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	mill := dbtest.Repo(t, w.d, w.ada.Viewer.Account, "mill", dbtest.RepoOpts{})
	if _, err := w.issues.Create(ctx, w.ada, issues.CreateInput{Title: "in the mill"}); err != nil {
		t.Fatal(err)
	}
	died := errors.New("died")
	w.issues.AfterCopy = func(context.Context) error { return died }
	for range 2 {
		if _, _, err := w.issues.Transfer(ctx, w.ada, 1, "ada/mill"); !errors.Is(err, died) {
			t.Fatalf("moved in spite of all: %v", err)
		}
	}
	if _, err := w.threads.Comment(ctx, w.ada, 1, threads.CommentInput{Body: "before"}); err != nil {
		t.Fatal(err)
	}
	wrote := 0
	w.issues.AfterCopy = func(ctx context.Context) error {
		if wrote++; wrote > 2 {
			return nil
		}
		_, err := w.threads.Comment(ctx, w.ada, 1, threads.CommentInput{Body: fmt.Sprint("meanwhile ", wrote)})
		return err
	}
	args := issues.TransferArgs{FromID: w.repo.ID, Number: 1, ToID: mill.ID, ActorID: w.ada.Viewer.ID()}
	for range 2 {
		if err := w.issues.FinishTransfer(ctx, args); err != nil {
			t.Fatal(err)
		}
	}
	there := threads.Place{Viewer: w.ada.Viewer, Repo: mill, Role: model.RoleAdmin}
	i, err := w.threads.Find(ctx, there, 1)
	if err != nil || i.Comments != 3 {
		t.Errorf("moved with %d comments, %v", i.Comments, err)
	}
	if _, err := w.threads.Find(ctx, there, 2); err == nil {
		t.Error("the tries left copies")
	}
	counts, err := w.d.Repo(mill.ID).Counts(ctx)
	if err != nil || counts["open_issues"] != 1 {
		t.Errorf("counted %v, %v", counts, err)
	}
	if repo, n, err := w.issues.Moved(ctx, w.ada, 1); err != nil || repo.ID != mill.ID || n != 1 {
		t.Errorf("redirects to %v %d, %v", repo, n, err)
	}
}

// The files of an issue go with it.
func TestTransferFiles(t *testing.T) {
	t.Parallel()
	s, ada := hub(t)
	ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "mill", "private": true}).Want(http.StatusCreated)
	at := attach(t, s, ada, "ada/engine", "plan.txt", "the plan")
	post(ada, "with a file", "See [the plan]("+s.URL+at+")").Want(http.StatusSeeOther)
	ada.Post("/ada/engine/issues/1/transfer", "to", "ada/mill").Want(http.StatusSeeOther)
	page := ada.Get("/ada/mill/issues/1").OK()
	href, found := page.Find(`article a[href*="/ada/mill/attachments/"]`).First().Attr("href")
	if !found {
		t.Fatal(page.Text("article"))
	}
	if got := ada.Get(href[len(s.URL):]).OK(); got.Body != "the plan" {
		t.Errorf("%s is %q", href, got.Body)
	}
	if s.Anon().Get(href[len(s.URL):]).Status == http.StatusOK {
		t.Error("the file of a private repository's issue is public")
	}
}

// attach uploads a file and is its address.
func attach(t *testing.T, s *apptest.Server, c *apptest.Client, repo, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile("file", name)
	check(t, err)
	_, err = part.Write([]byte(content))
	check(t, err)
	check(t, form.Close())
	res := c.Do(http.MethodPost, "/"+repo+"/attachments", &b, "Content-Type", form.FormDataContentType(), "Origin", s.URL, "Sec-Fetch-Site", "same-origin")
	url, _ := res.Want(http.StatusCreated).JSON()["url"].(string)
	return strings.TrimPrefix(url, s.URL)
}
