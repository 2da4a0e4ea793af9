package protocol_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitfor/gitfor/app/git/protocol"
)

// ssh runs OpenSSH's client.
func (s *server) ssh(t *testing.T, key string, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ssh", append(append(s.sshArgs(key), "git@127.0.0.1"), args...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestSSHGreetingAndRefusals(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.startSSH()
	out, code := s.ssh(t, s.key, "-T")
	if code != 1 || !strings.Contains(out, "Hi ann! There is no shell here.") {
		t.Fatalf("ssh -T: %d %q", code, out)
	}
	for _, tt := range []struct{ command, want string }{
		{"ls /", "only git's commands"},
		{"git-upload-pack", "needs the path"},
		{"git-upload-pack 'a", "quote is not closed"},
		{"git-upload-pack a; ls", "only a shell understands"},
		{"git-upload-pack 'none/here.git'", `no repository "none/here"`},
	} {
		if out, code := s.ssh(t, s.key, "-T", tt.command); code == 0 || !strings.Contains(out, tt.want) {
			t.Errorf("%q: %d %q, want %q", tt.command, code, out, tt.want)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	key := writeKey(t, other)
	out, code = s.ssh(t, other, "-T")
	if code != 255 || !strings.Contains(out, "none of the keys") || strings.Count(out, ssh.FingerprintSHA256(key)) != 1 {
		t.Fatalf("a wrong key: %d %q", code, out)
	}
	// no forwarding, no terminal
	out, _ = s.ssh(t, s.key, "-tt")
	if !strings.Contains(out, "PTY allocation request failed") {
		t.Fatalf("a terminal: %q", out)
	}
	if out, code := s.ssh(t, s.key, "-W", "127.0.0.1:22"); code == 0 || !strings.Contains(out, "not served") {
		t.Fatalf("forwarding: %d %q", code, out)
	}
}

func TestSSHIdentityIsOfTheKeyThatSigned(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var mu sync.Mutex
	names := map[string]string{}
	s.startSSH(func(srv *protocol.SSHServer) {
		srv.Authenticate = func(_ context.Context, key ssh.PublicKey, _ net.Addr) (any, bool) {
			mu.Lock()
			defer mu.Unlock()
			name, ok := names[string(key.Marshal())]
			return name, ok
		}
	})
	dir := t.TempDir()
	mu.Lock()
	victim := writeKey(t, filepath.Join(dir, "victim"))
	names[string(victim.Marshal())] = "victim"
	own := writeKey(t, filepath.Join(dir, "own"))
	names[string(own.Marshal())] = "attacker"
	mu.Unlock()
	// offers the victim's public key, for which it cannot sign, and its own: it is
	// refused, or greeted by its own name
	text, err := os.ReadFile(filepath.Join(dir, "own"))
	must(t, err)
	signer, err := ssh.ParsePrivateKey(text)
	must(t, err)
	conn, err := ssh.Dial("tcp", s.sshAddr, &ssh.ClientConfig{User: "git", HostKeyCallback: ssh.InsecureIgnoreHostKey(),
		Auth: []ssh.AuthMethod{ssh.PublicKeys(unable{signer, victim}, signer)}})
	if err == nil {
		defer conn.Close()
		session, err := conn.NewSession()
		must(t, err)
		var out strings.Builder
		session.Stderr = &out
		must(t, session.Shell())
		_ = session.Wait()
		if !strings.Contains(out.String(), "attacker") {
			t.Fatalf("greeted as %q", out.String())
		}
		return
	}
}

// unable has the public half of a key only.
type unable struct {
	ssh.Signer
	pub ssh.PublicKey
}

func (u unable) PublicKey() ssh.PublicKey { return u.pub }

func TestSSHHostKeysStay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	a, err := protocol.HostKeys(dir)
	must(t, err)
	b, err := protocol.HostKeys(dir)
	must(t, err)
	for i := range a {
		if string(a[i].PublicKey().Marshal()) != string(b[i].PublicKey().Marshal()) {
			t.Fatal("a host key changed")
		}
	}
	info, err := os.Stat(filepath.Join(dir, "ssh_host_ed25519_key"))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v", info.Mode())
	}
}

func TestSSHOldAlgorithmsAreNotOffered(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.startSSH()
	for _, option := range []string{"KexAlgorithms=diffie-hellman-group14-sha1", "Ciphers=aes128-cbc", "MACs=hmac-sha1,hmac-sha2-256",
		"HostKeyAlgorithms=ssh-rsa", "PubkeyAcceptedAlgorithms=ssh-rsa"} {
		args := []string{"-T", "-o", option}
		if strings.HasPrefix(option, "MACs") {
			args = append(args, "-o", "Ciphers=aes128-ctr")
		}
		if out, code := s.ssh(t, s.key, args...); code != 255 {
			t.Errorf("%s: %d %q", option, code, out)
		}
	}
	for _, option := range []string{"HostKeyAlgorithms=rsa-sha2-512", "Ciphers=aes128-ctr", "Ciphers=aes256-gcm@openssh.com"} {
		s.known = filepath.Join(t.TempDir(), "known")
		if out, code := s.ssh(t, s.key, "-T", "-o", option); code != 1 {
			t.Errorf("%s: %d %q", option, code, out)
		}
	}
}

func TestSSHTimeouts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.startSSH(func(srv *protocol.SSHServer) { srv.LoginTime, srv.Idle = 200*time.Millisecond, 200*time.Millisecond })
	conn, err := net.Dial("tcp", s.sshAddr)
	must(t, err)
	defer conn.Close()
	must(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	if _, err := conn.Read(make([]byte, 4096)); err != nil { // the server's version
		t.Fatal(err)
	}
	for err == nil {
		_, err = conn.Read(make([]byte, 4096))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("who does not sign in is not cut off")
	}
	text, err := os.ReadFile(s.key)
	must(t, err)
	signer, err := ssh.ParsePrivateKey(text)
	must(t, err)
	quiet, err := ssh.Dial("tcp", s.sshAddr, &ssh.ClientConfig{User: "git", HostKeyCallback: ssh.InsecureIgnoreHostKey(),
		Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}})
	must(t, err)
	gone := make(chan struct{})
	go func() { _ = quiet.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Fatal("a connection without a session is not closed")
	}
}

func TestSSHBoundsStrangers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.startSSH(func(srv *protocol.SSHServer) { srv.MaxConnections = 10 })
	greeted := func() bool {
		conn, err := net.Dial("tcp", s.sshAddr)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		must(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = conn.Read(make([]byte, 100))
		return err == nil
	}
	for i, want := range []bool{true, true, false} {
		if got := greeted(); got != want {
			t.Fatalf("connection %d of one address: greeted %v, want %v", i, got, want)
		}
	}
}

func TestSSHShutdownLetsCommandsEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	entered, proceed := make(chan struct{}), make(chan struct{})
	s.hooks.Check = func(context.Context, *protocol.Push) error {
		close(entered)
		<-proceed
		return nil
	}
	srv := s.startSSH()
	c := s.client()
	c.work(s.sshURL, 1)
	pushed := make(chan string, 1)
	go func() {
		out, err := c.try("work", "push", "origin", "main")
		if err != nil {
			out = "failed: " + out
		}
		pushed <- out
	}()
	<-entered
	down := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		down <- srv.Shutdown(ctx)
	}()
	eventually(t, "nobody is let in any more", func() bool {
		conn, err := net.Dial("tcp", s.sshAddr)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	close(proceed)
	if out := <-pushed; strings.HasPrefix(out, "failed") {
		t.Fatal(out)
	}
	if err := <-down; err != nil {
		t.Fatal(err)
	}
	if s.ref("refs/heads/main") == "" {
		t.Fatal("the push is lost")
	}
}
