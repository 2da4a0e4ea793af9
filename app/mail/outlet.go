package mail

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/riverqueue/river"
	gomail "github.com/wneessen/go-mail"
)

// outlet is where mail leaves gitfor.
type outlet interface {
	send(ctx context.Context, l *letter, m *gomail.Msg) error
}

// smtpTimeout bounds a conversation with the server.
const smtpTimeout = 30 * time.Second

// smtpOutlet hands mail to the operator's server. It asks for TLS where the
// server has it.
type smtpOutlet struct {
	host string
	opts []gomail.Option
}

func newSMTP(u *url.URL) (*smtpOutlet, error) {
	port, q := u.Port(), u.Query()
	if u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		return nil, errors.New("mail: the SMTP address is not of the form smtp://user:pass@host:port")
	}
	if port == "" {
		if port = "25"; u.Scheme == "smtps" {
			port = "465"
		} else if u.User != nil {
			port = "587"
		}
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("mail: port %q is no number", port)
	}
	policy := gomail.TLSOpportunistic
	switch q.Get("tls") {
	case "required":
		policy = gomail.TLSMandatory
	case "off":
		policy = gomail.NoTLS
	}
	conf := &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, InsecureSkipVerify: q.Get("verify") == "no"} //nolint:gosec // the operator's word
	o := &smtpOutlet{host: u.Hostname(), opts: []gomail.Option{gomail.WithPort(n), gomail.WithTimeout(smtpTimeout), gomail.WithTLSConfig(conf)}}
	if u.Scheme == "smtps" {
		o.opts = append(o.opts, gomail.WithSSL())
	} else {
		o.opts = append(o.opts, gomail.WithTLSPolicy(policy))
	}
	if u.User != nil {
		password, _ := u.User.Password()
		way := gomail.SMTPAuthAutoDiscover
		if loopback(u.Hostname()) && (q.Get("tls") == "off" || u.Scheme == "smtp") {
			// What stays on this machine needs no TLS.
			way = gomail.SMTPAuthPlainNoEnc
		}
		o.opts = append(o.opts, gomail.WithSMTPAuth(way), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	return o, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (o *smtpOutlet) send(ctx context.Context, _ *letter, m *gomail.Msg) error {
	client, err := gomail.NewClient(o.host, o.opts...)
	if err != nil {
		return err
	}
	err = client.DialAndSendWithContext(ctx, m)
	var refused *gomail.SendError
	if errors.As(err, &refused) && !refused.IsTemp() && refused.ErrorCode() >= 500 {
		// The server will say the same next time.
		return river.JobCancel(err)
	}
	return err
}

// folder keeps mail as files, for an instance that has no mail server yet.
type folder struct {
	dir string
	log *slog.Logger
}

// send writes the mail once: another try of the same job finds it there.
func (f *folder) send(ctx context.Context, l *letter, m *gomail.Msg) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(l.ID + "\x00" + l.To))
	tail := fmt.Sprintf("-%x.eml", sum[:8])
	if have, err := filepath.Glob(filepath.Join(f.dir, "*"+tail)); err != nil || len(have) > 0 {
		return err
	}
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		return err
	}
	name := filepath.Join(f.dir, time.Now().UTC().Format("20060102T150405.000")+tail)
	if err := os.WriteFile(name+".part", b.Bytes(), 0o600); err != nil {
		return err
	}
	if err := os.Rename(name+".part", name); err != nil {
		return err
	}
	f.log.InfoContext(ctx, "no --smtp-url: mail is kept as a file", "file", name)
	return nil
}
