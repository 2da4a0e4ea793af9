package mail_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/a-h/templ"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/riverqueue/river"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// catcher is a mail server that keeps what it gets.
type catcher struct {
	mu  sync.Mutex
	got []caught
	// refuse is the answer to the recipient, nil for welcome.
	refuse error
}

type caught struct {
	from, to, user string
	data           string
}

type session struct {
	c *catcher
	caught
}

func (c *catcher) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{c: c}, nil }

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ann" || password != "p@ss" {
			return errors.New("no")
		}
		s.user = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error { s.from = from; return nil }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error { s.to = to; return s.c.refuse }

func (s *session) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	s.data = string(b)
	s.c.mu.Lock()
	s.c.got = append(s.c.got, s.caught)
	s.c.mu.Unlock()
	return err
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// catch starts a catcher and returns its address.
func catch(t *testing.T, c *catcher) string {
	t.Helper()
	server := smtp.NewServer(c)
	server.AllowInsecureAuth, server.Domain = true, "catcher.test"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

func service(t *testing.T, url, dir string) *mail.Service {
	t.Helper()
	ring, err := secret.NewRing([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mail.New(mail.Config{URL: url, Dir: dir, Site: "https://forge.example.com", Ring: ring, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func body(title, href string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if err := layout.MailTitle(title).Render(ctx, w); err != nil {
			return err
		}
		return layout.MailButton("Look", href).Render(ctx, w)
	})
}

// parts are the text and the HTML of a mail.
func parts(t *testing.T, raw string) (h netmail.Header, text, html string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s %v", kind, err)
	}
	r := multipart.NewReader(m.Body, params["boundary"])
	var out []string
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.ReplaceAll(string(b), "\r\n", "\n"))
	}
	if len(out) != 2 {
		t.Fatalf("%d parts", len(out))
	}
	return m.Header, out[0], out[1]
}

func TestSMTP(t *testing.T) {
	t.Parallel()
	c := &catcher{}
	s := service(t, "smtp://ann:p%40ss@"+catch(t, c)+"?from=forge@mail.example.com", "")
	err := s.Send(t.Context(), mail.Message{To: "bob@example.com", ToName: "Bob Öl", FromName: "Ann", Subject: "Grüße [o/r] (#1)",
		ID: "o.r.1.c2", Thread: "o.r.1", ReplyTo: "reply+x@forge.example.com", List: "r.o.forge.example.com", ListName: "o/r",
		Unsubscribe: "https://forge.example.com/-/unsubscribe/x", Reason: "mention", Why: "You were mentioned.",
		Body: body("A title", "https://forge.example.com/o/r/issues/1")})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.got) != 1 || c.got[0].from != "forge@mail.example.com" || c.got[0].to != "bob@example.com" || c.got[0].user != "ann" {
		t.Fatalf("%+v", c.got)
	}
	h, text, html := parts(t, c.got[0].data)
	dec := new(mime.WordDecoder)
	subject, err := dec.DecodeHeader(h.Get("Subject"))
	if err != nil || subject != "Grüße [o/r] (#1)" {
		t.Errorf("subject %q %v", subject, err)
	}
	for name, want := range map[string]string{
		"Message-Id": "<o.r.1.c2@forge.example.com>", "In-Reply-To": "<o.r.1@forge.example.com>", "References": "<o.r.1@forge.example.com>",
		"List-Unsubscribe": "<https://forge.example.com/-/unsubscribe/x>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
		"List-Id": `"o/r" <r.o.forge.example.com>`, "Auto-Submitted": "auto-generated", "X-Gitfor-Reason": "mention",
		"From": `"Ann" <forge@mail.example.com>`, "Reply-To": `"Ann" <reply+x@forge.example.com>`,
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	wantText := "A title\n\nLook <https://forge.example.com/o/r/issues/1>\n\n-- \nYou were mentioned.\nUnsubscribe <https://forge.example.com/-/unsubscribe/x>"
	if got := strings.TrimSpace(text); got != wantText {
		t.Errorf("text:\n%s\nwant:\n%s", got, wantText)
	}
	for _, want := range []string{"A title</h1>", `href="https://forge.example.com/o/r/issues/1"`, "prefers-color-scheme: dark", "font-size:18px"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in %s", want, html)
		}
	}
	if strings.Contains(html, "zTemplUnsafe") {
		t.Error("a style was refused")
	}
}

// TestInjection tries to smuggle headers and recipients in.
func TestInjection(t *testing.T) {
	t.Parallel()
	c := &catcher{}
	s := service(t, "smtp://"+catch(t, c), "")
	evil := "x\r\nBcc: eve@example.com\r\n\r\nbody"
	err := s.Send(t.Context(), mail.Message{To: "bob@example.com", ToName: evil, FromName: evil, Subject: evil, ID: "a>\r\nBcc: eve@example.com", Thread: evil,
		List: evil, ListName: evil, Unsubscribe: "https://x/\r\nBcc: eve@example.com", Reason: evil, Body: body(evil, "https://x/")})
	if err != nil {
		t.Fatal(err)
	}
	h, _, _ := parts(t, c.got[0].data)
	if len(h["Bcc"]) != 0 || c.got[0].to != "bob@example.com" {
		t.Errorf("%v in %s", h, c.got[0].data)
	}
	for _, to := range []string{"bob@example.com\r\nRCPT TO:<eve@example.com>", "Bob <bob@example.com>", "bob@example.com, eve@example.com", ""} {
		err := s.Send(t.Context(), mail.Message{To: to, Subject: "x", Body: body("x", "https://x/")})
		var cancel *river.JobCancelError
		if !errors.As(err, &cancel) {
			t.Errorf("mail to %q: %v", to, err)
		}
	}
}

// TestRefused tells what is tried again from what is not.
func TestRefused(t *testing.T) {
	t.Parallel()
	for code, again := range map[int]bool{450: true, 550: false} {
		c := &catcher{refuse: &smtp.SMTPError{Code: code, Message: "no"}}
		s := service(t, "smtp://"+catch(t, c), "")
		err := s.Send(t.Context(), mail.Message{To: "bob@example.com", Subject: "x", Body: body("x", "https://x/")})
		var cancel *river.JobCancelError
		if err == nil || errors.As(err, &cancel) == again {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// TestEnqueue sends with the transaction, keeps the content out of the job's
// row, and writes one file however often the job runs.
func TestEnqueue(t *testing.T) {
	t.Parallel()
	d, dir := dbtest.Open(t), t.TempDir()
	s := service(t, "", dir)
	m := mail.Message{To: "bob@example.com", Subject: "The secret", Body: body("t", "https://forge.example.com/verify-email/opensesame")}
	failed := errors.New("rolled back")
	err := d.InCell(t.Context(), func(ctx context.Context, tx db.CellTx) error {
		if err := s.Enqueue(ctx, tx, m); err != nil {
			return err
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	err = d.InCell(t.Context(), func(ctx context.Context, tx db.CellTx) error { return s.Enqueue(ctx, tx, m) })
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	if err := d.Directory().NewRaw("SELECT args::text FROM jobs.river_job WHERE kind = 'mail.send'").Scan(t.Context(), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 || strings.Contains(rows[0], "bob@") || strings.Contains(rows[0], "sesame") {
		t.Fatalf("%q", rows)
	}
	var args mail.SendArgs
	if err := json.Unmarshal([]byte(rows[0]), &args); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Deliver(t.Context(), args); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, text, _ := parts(t, string(raw)); !strings.Contains(text, "/verify-email/opensesame") {
		t.Error(text)
	}
}

// TestText reads what people write as text.
func TestText(t *testing.T) {
	t.Parallel()
	c := &catcher{}
	s := service(t, "smtp://"+catch(t, c), "")
	err := s.Send(t.Context(), mail.Message{To: "bob@example.com", Subject: "x", Body: templ.Raw(
		`<p>Look <b>here</b>,<br>or there.</p><ul><li>one</li><li>two</li></ul><pre><code>a  b
  c</code></pre><blockquote><p>quoted</p><p>twice</p></blockquote><p><a href="https://x/">https://x/</a></p><p>end</p>`)})
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := parts(t, c.got[0].data)
	want := "Look here,\nor there.\n\n- one\n- two\n\n    a  b\n      c\n\n> quoted\n>\n> twice\n\nhttps://x/\n\nend"
	if got := strings.TrimSpace(text); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}
