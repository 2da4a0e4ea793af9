package replies_test

import (
	"errors"
	"net"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/app/replies"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// world is an instance that takes mail, with ann's issue 1 of the private
// repository engine, which bob may read.
type world struct {
	*apptest.Server
	ann, bob *apptest.Client
	repo     *model.Repo
	svc      *replies.Service
	smtp     string
	mail     string
}

func newWorld(t *testing.T, start func(testing.TB, ...apptest.Option) *apptest.Server) *world {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{smtp: ln.Addr().String()}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	w.Server = start(t, func(c *app.Config) { c.SMTPListen, w.mail = w.smtp, filepath.Join(c.DataDir, "mail") })
	w.ann, w.bob = w.User(t, "ann"), w.User(t, "bob")
	w.repo = dbtest.Repo(t, w.DB, w.ann.Account, "engine", dbtest.RepoOpts{Private: true})
	dbtest.Exec(t, w.DB, "INSERT INTO directory.collaborators (repo_id, account_id, role, created_at) VALUES (?, ?, 'read', ?)",
		w.repo.ID, w.bob.Account.ID, w.repo.CreatedAt)
	w.ann.API("POST", "/repos/ann/engine/issues", map[string]any{"title": "It rattles", "body": "@bob, listen"}).Want(201)
	w.svc = &replies.Service{DB: w.DB, Ring: w.App.Ring, Threads: w.App.Threads, Host: w.App.Mail.Host()}
	return w
}

// send hands a mail to the instance, whose lines are those given.
func (w *world) send(from, to string, lines ...string) error {
	body := strings.Join(lines, "\r\n") + "\r\n"
	c, err := smtp.Dial(w.smtp)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // the server may have closed it
	return c.SendMail(from, []string{to}, strings.NewReader(body))
}

// announce begins a mail of this size.
func (w *world) announce(t *testing.T, size int64) error {
	t.Helper()
	c, err := smtp.Dial(w.smtp)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // nothing was sent
	return c.Mail("bob@example.com", &smtp.MailOptions{Size: size})
}

func (w *world) comments(t *testing.T) []string {
	t.Helper()
	var list []struct {
		Body string `json:"body"`
		User struct {
			Login string `json:"login"`
		} `json:"user"`
	}
	w.ann.API("GET", "/repos/ann/engine/issues/1/comments", nil).OK().Into(&list)
	var out []string
	for _, c := range list {
		out = append(out, c.User.Login+": "+c.Body)
	}
	return out
}

func code(err error) int {
	var e *smtp.SMTPError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apptest.New)
	to := w.svc.Address(w.bob.Account.ID, w.repo.ID, 1)
	if local, _, _ := strings.Cut(to, "@"); len(local) > 64 {
		t.Errorf("%s is longer than addresses may be", local)
	}
	answer := []string{"From: Bob <list@lists.example.org>", "Subject: Re: It rattles", "Content-Type: text/plain; charset=utf-8", "",
		"Only *uphill*.", "", "On Tue, 1 Dec 2026 at 16:00, ann", "<gitfor@localhost> wrote:", "", "> @bob, listen", ">", "> more"}
	if err := w.send("bounces@lists.example.org", strings.ToUpper(to), answer...); err != nil {
		t.Fatal(err)
	}
	if err := w.send("bounces@lists.example.org", to, answer...); err != nil { // again, by a server that heard nothing
		t.Fatal(err)
	}
	for name, auto := range map[string][]string{
		"absence": {"bob@example.com", "Auto-Submitted: auto-replied"},
		"bulk":    {"bob@example.com", "Precedence: bulk"},
		"bounce":  {"", "X-Any: bounce"},
		"report":  {"bob@example.com", "Content-Type: multipart/report; report-type=delivery-status; boundary=x"},
	} {
		if err := w.send(auto[0], to, auto[1], "Subject: I am away", "", "Back on Monday."); err != nil {
			t.Errorf("%s is answered with %v: that begins a loop", name, err)
		}
	}
	if got := w.comments(t); len(got) != 1 || got[0] != "bob: Only *uphill*." {
		t.Errorf("comments: %q", got)
	}
	local, host, _ := strings.Cut(to, "@")
	forged := local[:len(local)-1] + map[bool]string{true: "b", false: "a"}[strings.HasSuffix(local, "a")]
	for _, bad := range []string{forged + "@" + host, "reply+@" + host, "ann@" + host, local + "@elsewhere.example.com"} {
		if err := w.send("bob@example.com", bad, "Subject: x", "", "Hello"); code(err) != 550 {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := w.send("bob@example.com", to, "Subject: x", "", "> only", "> quoted"); code(err) != 550 {
		t.Errorf("nothing written: %v", err)
	}
	if err := w.announce(t, 30<<20); code(err) != 552 {
		t.Errorf("30 MB: %v", err)
	}
	w.ann.API("PUT", "/repos/ann/engine/issues/1/lock", nil).Want(204)
	if err := w.send("bob@example.com", to, "Subject: x", "", "Still?"); code(err) != 550 || !strings.Contains(err.Error(), "locked") {
		t.Errorf("locked: %v", err)
	}
	w.ann.API("DELETE", "/repos/ann/engine/issues/1/lock", nil).Want(204)
	dbtest.Exec(t, w.DB, "DELETE FROM directory.collaborators WHERE repo_id = ?", w.repo.ID)
	if err := w.send("bob@example.com", to, "Subject: x", "", "Let me in"); code(err) != 550 {
		t.Errorf("access lost: %v", err)
	}
	if got := w.comments(t); len(got) != 1 {
		t.Errorf("comments: %q", got)
	}
}

// TestWhatIsWritten is what remains of the mails of several programs.
func TestWhatIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apptest.New)
	to := w.svc.Address(w.bob.Account.ID, w.repo.ID, 1)
	html := "Content-Type: text/html; charset=utf-8"
	for _, c := range []struct {
		want  string
		lines []string
	}{
		{"Top.", []string{"Subject: x", "", "Top.", "", "________________________________", "From: ann <gitfor@localhost>", "Sent: Tuesday", "To: bob", "Subject: It", "", "It rattles"}},
		{"Above.", []string{"Subject: x", "", "Above.", "", "-----Original Message-----", "old words"}},
		{"> a question\n\nAn answer.", []string{"Subject: x", "", "> a question", "", "An answer.", "-- ", "Bob, Ltd."}},
		{"Grüße", []string{"Subject: x", "Content-Type: text/plain; charset=iso-8859-1", "Content-Transfer-Encoding: quoted-printable", "", "Gr=FC=DFe"}},
		{"From a browser.", []string{"Subject: x", html, "", `<div>From a browser.</div><div class="gmail_quote"><div class="gmail_attr">On Tue ann wrote:</div><blockquote>It rattles</blockquote></div>`}},
		{"From an office.", []string{"Subject: x", html, "", `<p>From an office.</p><div id="appendonsend"></div><hr><div id="divRplyFwdMsg">From: ann</div><div>It rattles</div>`}},
		{"Both parts.", []string{"Subject: x", "Content-Type: multipart/mixed; boundary=b", "", "--b", "Content-Type: text/plain", "", "Both parts.", "--b", "Content-Type: image/png; name=a.png",
			"Content-Disposition: attachment; filename=a.png", "Content-Transfer-Encoding: base64", "", "iVBORw0KGgo=", "--b--"}},
	} {
		if err := w.send("bob@example.com", to, c.lines...); err != nil {
			t.Errorf("%q: %v", c.want, err)
			continue
		}
		if got := w.comments(t); got[len(got)-1] != "bob: "+c.want {
			t.Errorf("%q, want %q", got[len(got)-1], c.want)
		}
	}
}

// TestMailCanBeAnswered sends an answer to the address that a notification
// names.
func TestMailCanBeAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, apptest.NewWorking)
	to := w.replyTo(t)
	if err := w.send("bob@example.com", to, "Subject: Re: It rattles", "", "I hear it."); err != nil {
		t.Fatal(err)
	}
	if got := w.comments(t); len(got) != 1 || got[0] != "bob: I hear it." {
		t.Errorf("comments: %q", got)
	}
}

// replyTo waits for the mail to bob.
func (w *world) replyTo(t *testing.T) string {
	t.Helper()
	deadline, tick := time.After(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		files, err := filepath.Glob(filepath.Join(w.mail, "*.eml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			m, err := netmail.ReadMessage(strings.NewReader(string(b)))
			if err != nil || !strings.Contains(m.Header.Get("To"), "bob@example.com") || m.Header.Get("Reply-To") == "" {
				continue
			}
			a, err := netmail.ParseAddress(m.Header.Get("Reply-To"))
			if err != nil {
				t.Fatal(err)
			}
			return a.Address
		}
		select {
		case <-deadline:
			t.Fatal("no mail after 30 s")
		case <-tick.C:
		}
	}
}
