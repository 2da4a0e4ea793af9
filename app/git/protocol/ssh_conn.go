package protocol

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// mostSessions bounds the commands at once on one connection.
const mostSessions = 10

// sshConn is one connection.
type sshConn struct {
	server   *SSHServer
	net      net.Conn
	signedIn atomic.Bool
	identity any
	user     string

	mu       sync.Mutex
	sessions int
	quiet    time.Time // since when no session runs
	draining bool
}

// serve runs the connection to its end.
func (c *sshConn) serve(ctx context.Context) {
	s := c.server
	defer c.net.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.net.Close() })
	defer stop()
	_ = c.net.SetDeadline(time.Now().Add(or(s.LoginTime, 30*time.Second)))
	conn, channels, requests, err := ssh.NewServerConn(c.net, s.config(ctx))
	if err != nil {
		s.log(err, "handshake", c.net.RemoteAddr())
		return
	}
	_ = c.net.SetDeadline(time.Time{})
	c.identity, c.user = conn.Permissions.ExtraData[identityKey{}], conn.User()
	c.signedIn.Store(true)
	go ssh.DiscardRequests(requests) // forwarding and the like
	c.mu.Lock()
	c.quiet = time.Now()
	if c.draining {
		_ = c.net.Close()
	}
	c.mu.Unlock()
	go c.watch(ctx, conn)

	var running sync.WaitGroup
	for nc := range channels {
		if why, text := c.takeSession(nc.ChannelType()); text != "" {
			_ = nc.Reject(why, text)
			continue
		}
		running.Go(func() {
			defer c.endSession()
			c.session(ctx, nc)
		})
	}
	cancel()
	running.Wait()
}

// takeSession counts a session in, or says why it may not be.
func (c *sshConn) takeSession(kind string) (ssh.RejectionReason, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case kind != "session":
		return ssh.UnknownChannelType, fmt.Sprintf("%s channels are not served", kind)
	case c.draining:
		return ssh.ResourceShortage, "the server is going down; try again in a moment"
	case c.sessions >= mostSessions:
		return ssh.ResourceShortage, "too many sessions on this connection"
	}
	c.sessions++
	return 0, ""
}

func (c *sshConn) endSession() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions--; c.sessions == 0 {
		c.quiet = time.Now()
		if c.draining {
			c.closeSoon()
		}
	}
}

// drain lets the running sessions end and the connection after them.
func (c *sshConn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
	if c.sessions == 0 {
		_ = c.net.Close()
	}
}

// closeSoon closes the connection once the client had time to read the end of
// its session and close the connection itself.
func (c *sshConn) closeSoon() {
	_ = c.net.SetDeadline(time.Now().Add(2 * time.Second))
}

// watch asks the client for signs of life, and ends a connection that gives
// none or has nothing to do.
func (c *sshConn) watch(ctx context.Context, conn ssh.Conn) {
	s := c.server
	every, idle := or(s.KeepAlive, 30*time.Second), or(s.Idle, 10*time.Minute)
	tick := time.NewTicker(min(every, idle))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		unused := c.sessions == 0 && time.Since(c.quiet) >= idle
		c.mu.Unlock()
		if unused {
			_ = conn.Close()
			return
		}
		dead := time.AfterFunc(3*every, func() { _ = c.net.Close() })
		_, _, err := conn.SendRequest("keepalive@openssh.com", true, nil)
		dead.Stop()
		if err != nil {
			return
		}
	}
}
