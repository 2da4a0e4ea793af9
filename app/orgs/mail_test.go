package orgs_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
)

// letter waits for the mail to an address.
func letter(t *testing.T, dir, to string) string {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		files, err := filepath.Glob(filepath.Join(dir, "*.eml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(strings.ReplaceAll(string(b), "=\r\n", ""), "=3D", "=")
			if strings.Contains(text, "To: <"+to+">") {
				return text
			}
		}
		select {
		case <-deadline:
			t.Fatalf("no mail to %s", to)
		case <-tick.C:
		}
	}
}

// TestInvitationMails follows the links in the mails.
func TestInvitationMails(t *testing.T) {
	t.Parallel()
	var dir string
	s := apptest.NewWorking(t, func(c *app.Config) { dir = filepath.Join(c.DataDir, "mail") })
	ann, bob, eve := s.User(t, "ann"), s.User(t, "bob"), s.User(t, "eve")
	dbtest.Repo(t, s.DB, ann.Account, "secret", dbtest.RepoOpts{Private: true})
	ann.Post("/organizations/new", "name", "acme").Want(303)

	ann.API(http.MethodPut, "/repos/ann/secret/collaborators/bob", nil).Want(201)
	mail := letter(t, dir, "bob@example.com")
	if !strings.Contains(mail, "Subject: ann invites you to ann/secret") || !strings.Contains(mail, "/ann/secret/invitations") {
		t.Errorf("%s", mail)
	}
	bob.Get("/ann/secret/invitations").OK()

	ann.Post("/orgs/acme/people/invite", "email", "somebody@example.org", "role", "member").Want(303)
	path := regexp.MustCompile(`/invitations/[0-9A-Za-z_-]+`).FindString(letter(t, dir, "somebody@example.org"))
	eve.Get(path).OK().Has("You are invited to acme")
}
