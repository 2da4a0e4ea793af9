package replies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/emersion/go-smtp"
)

// Bounds of one mail and of the server's patience.
const (
	maxBytes      = 25 << 20
	maxRecipients = 10
	patience      = time.Minute
)

// Server takes mail over SMTP at one address; it is a background service. The
// operator's mail server, which meets the world, hands on what is for it.
type Server struct {
	addr   string
	server *smtp.Server
	svc    *Service
	// begin is the context of one mail's taking.
	begin func() (context.Context, context.CancelFunc)
	done  chan struct{}
}

// NewServer makes the server of s at an address such as 127.0.0.1:2525.
func (s *Service) NewServer(addr string) *Server {
	x := &Server{addr: addr, svc: s, done: make(chan struct{})}
	x.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{svc: s, begin: x.begin}, nil }))
	x.server.Domain, x.server.MaxMessageBytes, x.server.MaxRecipients = s.Host, maxBytes, maxRecipients
	x.server.ReadTimeout, x.server.WriteTimeout = patience, patience
	return x
}

// Start listens. The error names the address and what to do.
func (x *Server) Start(ctx context.Context) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", x.addr)
	if err != nil {
		return fmt.Errorf("mail: listen on %s: %w (choose --smtp-listen, or leave it out)", x.addr, err)
	}
	outlives := context.WithoutCancel(ctx)
	x.begin = func() (context.Context, context.CancelFunc) { return context.WithTimeout(outlives, patience) }
	go func() {
		defer close(x.done)
		if err := x.server.Serve(ln); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			x.svc.Log.ErrorContext(ctx, "mail server ended", "err", err)
		}
	}()
	return nil
}

// Stop lets the mails under way end.
func (x *Server) Stop(ctx context.Context) error {
	err := x.server.Shutdown(ctx)
	<-x.done
	return err
}

// session is one connection.
type session struct {
	svc   *Service
	begin func() (context.Context, context.CancelFunc)
	from  string
	to    []right
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	r, ok := s.svc.parse(to)
	if !ok {
		return permanent(smtp.EnhancedCode{5, 1, 1}, "Nobody has this address.")
	}
	s.to = append(s.to, r)
	return nil
}

func (s *session) Data(r io.Reader) error {
	text, automatic, err := read(s.from, r)
	var known *smtp.SMTPError
	switch {
	case errors.As(err, &known):
		return known // such as a mail that is too long
	case err != nil:
		return permanent(smtp.EnhancedCode{5, 6, 0}, "The mail cannot be read.")
	case automatic:
		return nil // taken, and dropped: an answer would begin a loop
	}
	ctx, cancel := s.begin()
	defer cancel()
	for _, to := range s.to {
		err := s.svc.take(ctx, to, text)
		var no refused
		if errors.As(err, &no) {
			return permanent(smtp.EnhancedCode{5, 7, 1}, no.why)
		}
		if err != nil {
			s.svc.Log.ErrorContext(ctx, "an answer by mail was put off", "err", err)
			return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "Try again later."}
		}
	}
	return nil
}

func (s *session) Reset() { s.from, s.to = "", nil }

func (s *session) Logout() error { return nil }

func permanent(code smtp.EnhancedCode, message string) error {
	return &smtp.SMTPError{Code: 550, EnhancedCode: code, Message: message}
}
