package auth_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
)

// letters waits until n mails are in the folder and returns them, oldest
// first.
func letters(t *testing.T, dir string, n int) []string {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		files, err := filepath.Glob(filepath.Join(dir, "*.eml"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) >= n {
			out := make([]string, len(files))
			for i, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				out[i] = strings.ReplaceAll(strings.ReplaceAll(string(b), "=\r\n", ""), "=3D", "=")
			}
			return out
		}
		select {
		case <-deadline:
			t.Fatalf("%d of %d mails after 20 s", len(files), n)
		case <-tick.C:
		}
	}
}

// TestMails confirms an address by the link in the mail, and is told of new
// recovery codes and of one that was used.
func TestMails(t *testing.T) {
	t.Parallel()
	var dir string
	s := apptest.NewWorking(t, func(c *app.Config) { dir = filepath.Join(c.DataDir, "mail") })
	ann := s.User(t, "ann")
	ann.Post("/settings/emails", "email", "two@example.com").Want(303)
	mail := letters(t, dir, 1)[0]
	if !strings.Contains(mail, "two@example.com") || !strings.Contains(mail, "Subject: Confirm your address for ann") {
		t.Fatal(mail)
	}
	path := regexp.MustCompile(`/verify-email/[0-9A-Za-z_.~-]+`).FindString(mail)
	s.Anon().Get(path).OK()
	s.Anon().Post(path).Want(303)
	if got := ann.Get("/settings/emails").OK().Text("main"); !strings.Contains(got, "Confirmed") {
		t.Error(got)
	}
	if err := s.App.Auth.NewRecoveryCodes(t.Context(), ann.Account.ID); err != nil {
		t.Fatal(err)
	}
	codes, err := s.App.Auth.ShownCodes(t.Context(), ann.Account.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.Anon().Post("/login/recovery", "username", "ann", "code", codes[0]).Want(303)
	all := strings.Join(letters(t, dir, 3), "\n")
	for _, want := range []string{"Subject: You have new recovery codes", "Subject: A recovery code was used", "To: <ann@example.com>"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %s", want, all)
		}
	}
	if strings.Contains(all, codes[1]) {
		t.Error("a recovery code is in a mail")
	}
}
