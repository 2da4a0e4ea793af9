// Package mail is how gitfor writes to people: each mail is one message to one
// person, as text and HTML made from the same component.
//
// A feature enqueues a message in the transaction of the change that it tells
// of, so that it goes out if and only if the change is made. What waits in the
// job is sealed: links in mails are secrets. Messages that depend on what the
// reader may see at the time they go out are rendered in a job of the feature,
// which calls Send.
//
//	mail.go    Service, Message, Enqueue and Send
//	letter.go  a message made ready: headers, parts
//	text.go    the text part, read from the HTML
//	outlet.go  SMTP, or a folder of .eml files
package mail

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/klauspost/compress/zstd"
	"github.com/riverqueue/river"
)

// Queue is the queue of mail jobs.
const Queue = "mail"

// Config says where mail goes.
type Config struct {
	// URL is smtp://user:pass@host:port, or smtps:// for TLS from the start.
	// In its query, from=ADDRESS is the sender's address, tls=required
	// refuses a server without STARTTLS, tls=off does not ask for it, and
	// verify=no takes any certificate. "" writes mail into Dir.
	URL string
	// Dir is the folder of .eml files.
	Dir string
	// Site is the public address of the instance.
	Site string
	Ring *secret.Ring
	Log  *slog.Logger
}

// Service sends mail. It is safe for concurrent use.
type Service struct {
	ring *secret.Ring
	site string
	host string
	from string
	out  outlet
	pack *zstd.Encoder
	open *zstd.Decoder
}

// New makes the service; no connection is made before the first mail.
func New(cfg Config) (*Service, error) {
	site, err := url.Parse(cfg.Site)
	if err != nil || site.Hostname() == "" {
		return nil, fmt.Errorf("mail: %q is no public address", cfg.Site)
	}
	s := &Service{ring: cfg.Ring, site: strings.TrimRight(cfg.Site, "/"), host: domain(site.Hostname())}
	s.from = "gitfor@" + s.host
	if cfg.URL == "" {
		s.out = &folder{dir: cfg.Dir, log: cfg.Log}
	} else {
		u, err := url.Parse(cfg.URL)
		if err != nil {
			return nil, errors.New("mail: the SMTP address is not of the form smtp://user:pass@host:port")
		}
		if s.out, err = newSMTP(u); err != nil {
			return nil, err
		}
		if from := u.Query().Get("from"); from != "" {
			a, err := mail.ParseAddress(from)
			if err != nil {
				return nil, fmt.Errorf("mail: from %q is no address", from)
			}
			s.from = a.Address
		}
	}
	if s.pack, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)); err != nil {
		return nil, err
	}
	s.open, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(16<<20))
	return s, err
}

// domain is a host as the right side of an address: an IP address needs
// brackets there (RFC 5321, 4.1.3).
func domain(host string) string {
	if strings.Contains(host, ":") {
		return "[IPv6:" + host + "]"
	}
	return host
}

// Host is the right side of the instance's own addresses and message ids.
func (s *Service) Host() string { return s.host }

// From is the address that mail comes from.
func (s *Service) From() string { return s.from }

// Message is one mail to one person.
type Message struct {
	// To is the address, ToName the name beside it.
	To, ToName string
	// FromName stands beside the sender's address; "gitfor" when empty.
	FromName string
	Subject  string
	// Preview is shown behind the subject in lists of mails.
	Preview string
	// Body is the mail without its frame; package layout has the pieces.
	Body templ.Component
	// Why says in a sentence why the person gets this.
	Why string
	// Manage is the address of the page where that is changed.
	Manage string
	// ID is the local part of the Message-ID, the same whenever the same
	// mail is made again; one is made when empty.
	ID string
	// Thread is the ID of the mail that began the conversation, whether it
	// was sent to this person or not. Programs put them together by it.
	Thread string
	// ReplyTo is the address for answers; "" for none.
	ReplyTo string
	// List is the identity of what mails are about, such as
	// "repo.owner.host", and ListName its name (RFC 2919).
	List, ListName string
	// Unsubscribe is an address where a POST ends mails of this kind (RFC
	// 8058).
	Unsubscribe string
	// Reason is why, for the reader's filters: X-Gitfor-Reason.
	Reason string
}

// SendArgs is the job that sends a message. What it holds is sealed.
type SendArgs struct {
	Sealed []byte `json:"sealed"`
}

// Kind is the job's kind.
func (SendArgs) Kind() string { return "mail.send" }

// InsertOpts names the job's queue.
func (SendArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: Queue} }

const purpose = "mail job"

// Enqueue sends m after tx has committed, and never if it does not.
func (s *Service) Enqueue(ctx context.Context, tx db.Tx, m Message) error {
	l, err := s.letter(ctx, m)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(l)
	if err != nil {
		return err
	}
	args := SendArgs{Sealed: s.ring.Seal(purpose, s.pack.EncodeAll(plain, nil))}
	return tx.Enqueue(ctx, args, nil)
}

// Deliver does the job of Enqueue.
func (s *Service) Deliver(ctx context.Context, args SendArgs) error {
	packed, err := s.ring.Open(purpose, args.Sealed)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	plain, err := s.open.DecodeAll(packed, nil)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	var l letter
	if err := json.Unmarshal(plain, &l); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	return s.send(ctx, &l)
}

// Send sends m now. Called from a job, so that a failure is tried again.
func (s *Service) Send(ctx context.Context, m Message) error {
	l, err := s.letter(ctx, m)
	if err != nil {
		return err
	}
	return s.send(ctx, l)
}

func (s *Service) send(ctx context.Context, l *letter) error {
	msg, err := l.message()
	if err != nil {
		// It will not become better by trying again.
		return river.JobCancel(fmt.Errorf("mail: %w", err))
	}
	if err := s.out.send(ctx, l, msg); err != nil {
		return fmt.Errorf("mail to %s: %w", l.To, err)
	}
	return nil
}

// letter renders m.
func (s *Service) letter(ctx context.Context, m Message) (*letter, error) {
	l := &letter{To: m.To, ToName: clean(m.ToName), From: s.from, FromName: clean(m.FromName), Subject: clean(m.Subject),
		ReplyTo: m.ReplyTo, Headers: map[string]string{}}
	if l.FromName == "" {
		l.FromName = "gitfor"
	}
	id := clean(m.ID)
	if id == "" {
		id = rand.Text()
	}
	l.ID = s.messageID(id)
	if thread := clean(m.Thread); thread != "" && thread != id {
		l.Thread = s.messageID(thread)
	}
	h := l.Headers
	h["Auto-Submitted"] = "auto-generated" // RFC 3834: nobody's holiday notice answers it
	h["X-Auto-Response-Suppress"] = "All"
	if m.List != "" {
		h["List-ID"] = "<" + clean(m.List) + ">"
		if m.ListName != "" {
			h["List-ID"] = phrase(m.ListName) + " " + h["List-ID"]
		}
	}
	if m.Unsubscribe != "" {
		h["List-Unsubscribe"] = "<" + clean(m.Unsubscribe) + ">"
		h["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
	}
	if m.Reason != "" {
		h["X-Gitfor-Reason"] = clean(m.Reason)
	}
	body := layout.Mail(layout.MailProps{Subject: l.Subject, Preview: m.Preview, Site: s.site, Why: m.Why,
		Manage: m.Manage, Unsubscribe: m.Unsubscribe}, m.Body)
	var b bytes.Buffer
	if err := body.Render(ctx, &b); err != nil {
		return nil, fmt.Errorf("mail %q: %w", l.Subject, err)
	}
	l.HTML = b.String()
	var err error
	l.Text, err = textOf(l.HTML)
	return l, err
}

func (s *Service) messageID(local string) string { return local + "@" + s.host }
