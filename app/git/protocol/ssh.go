package protocol

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// SSHServer runs git's commands for people who sign in with a key. It knows no
// shell, terminal, password or forwarding. All of its functions must be set.
type SSHServer struct {
	// HostKeys are the server's own; see HostKeys.
	HostKeys []ssh.Signer
	// Authenticate says whose key this is. The client has proved nothing yet
	// when it is called: act on the identity only in Serve and Greeting.
	Authenticate func(ctx context.Context, key ssh.PublicKey, from net.Addr) (identity any, ok bool)
	// Serve runs one command and returns its exit status. What it writes to
	// Stderr the person reads.
	Serve func(ctx context.Context, s *SSHSession) (status int)
	// Greeting is what ssh -T shows to a person who is signed in.
	Greeting func(ctx context.Context, identity any) string

	// LoginTime is how long signing in may take; 0 is 30 seconds.
	LoginTime time.Duration
	// Idle is the time after which a connection without traffic either way is
	// closed; 0 is 10 minutes.
	Idle time.Duration
	// KeepAlive is the time between signs of life asked of the client; one that
	// misses three is gone. 0 is 30 seconds.
	KeepAlive time.Duration
	// MaxConnections bounds the connections at once; 0 is 500. Of those who are
	// not signed in yet there may be nine tenths as many, and a fifth as many
	// from one address.
	MaxConnections int
	// Log gets what goes wrong with connections; nil for nowhere.
	Log *slog.Logger

	mu       sync.Mutex
	draining bool
	listener net.Listener
	conns    map[*sshConn]struct{}
	running  sync.WaitGroup
}

// ErrServerClosed is returned by SSHServer.Listen after Shutdown.
var ErrServerClosed = errors.New("ssh server closed")

// Listen serves the connections of l until ctx ends or Shutdown is called. The
// context is the parent of those of sessions, so its end ends them.
func (s *SSHServer) Listen(ctx context.Context, l net.Listener) error {
	s.mu.Lock()
	if s.draining {
		s.mu.Unlock()
		_ = l.Close()
		return ErrServerClosed
	}
	s.listener = l
	if s.conns == nil {
		s.conns = map[*sshConn]struct{}{}
	}
	s.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.isDraining() || ctx.Err() != nil {
				return ErrServerClosed
			}
			var temporary net.Error
			if errors.As(err, &temporary) && temporary.Timeout() {
				continue
			}
			if errors.Is(err, net.ErrClosed) {
				return err
			}
			// out of file descriptors, most likely: give others time to end
			s.log(err, "accept", nil)
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		c := &sshConn{server: s, net: nc}
		if !s.admit(c) {
			_ = nc.Close()
			continue
		}
		go func() {
			defer s.forget(c)
			c.serve(ctx)
		}()
	}
}

// Shutdown stops listening, lets the commands that run come to their end, and
// cuts off what is left when ctx ends.
func (s *SSHServer) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	if s.listener != nil {
		_ = s.listener.Close()
	}
	for c := range s.conns {
		c.drain()
	}
	s.mu.Unlock()
	gone := make(chan struct{})
	go func() { s.running.Wait(); close(gone) }()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.conns {
		_ = c.net.Close()
	}
	s.mu.Unlock()
	<-gone
	return ctx.Err()
}

func (s *SSHServer) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// admit takes a connection in unless there are too many.
func (s *SSHServer) admit(c *sshConn) bool {
	most := s.MaxConnections
	if most <= 0 {
		most = 500
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	strangers, neighbours, host := 0, 0, hostOf(c.net.RemoteAddr())
	for other := range s.conns {
		if other.signedIn.Load() {
			continue
		}
		strangers++
		if hostOf(other.net.RemoteAddr()) == host {
			neighbours++
		}
	}
	if s.draining || len(s.conns) >= most || strangers >= max(1, most*9/10) || neighbours >= max(1, most/5) {
		return false
	}
	s.conns[c] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *SSHServer) forget(c *sshConn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.running.Done()
}

func (s *SSHServer) log(err error, what string, from net.Addr) {
	if s.Log != nil {
		s.Log.Debug("ssh: "+what, "err", err, "from", from)
	}
}

func hostOf(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

func or(d, instead time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return instead
}
