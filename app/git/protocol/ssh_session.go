package protocol

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"
)

// SSHSession is one command that a signed-in person runs.
type SSHSession struct {
	// Identity is what Authenticate returned for the key.
	Identity any
	// User is the name before the @, "git" by custom.
	User string
	From net.Addr
	// Service is the command: git-upload-pack, git-receive-pack,
	// git-upload-archive, git-lfs-authenticate or git-lfs-transfer.
	Service string
	// Args are the words after it, without their quotes. The first is the path
	// of the repository as typed; at least it is there.
	Args []string
	// Version is the wire protocol that the client asked for.
	Version Version

	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Path is the repository's path without slashes before it and without ".git".
func (s *SSHSession) Path() string {
	return strings.TrimSuffix(strings.TrimRight(strings.TrimLeft(s.Args[0], "/"), "/"), ".git")
}

// session serves one channel: variables, then one command.
func (c *sshConn) session(ctx context.Context, nc ssh.NewChannel) {
	ch, requests, err := nc.Accept()
	if err != nil {
		return
	}
	defer ch.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sess := &SSHSession{Identity: c.identity, User: c.user, From: c.net.RemoteAddr(),
		Stdin: ch, Stdout: ch, Stderr: ch.Stderr()}
	for req := range requests {
		switch req.Type {
		case "env":
			var v struct{ Name, Value string }
			ok := ssh.Unmarshal(req.Payload, &v) == nil && v.Name == "GIT_PROTOCOL"
			if ok {
				sess.Version = ParseVersion(v.Value)
			}
			reply(req, ok)
		case "shell", "exec":
			var v struct{ Command string }
			if req.Type == "exec" && ssh.Unmarshal(req.Payload, &v) != nil {
				reply(req, false)
				return
			}
			reply(req, true)
			// what else comes is refused; when no more can come, the client has
			// closed the channel and the command has no reader
			go func() {
				defer cancel()
				for late := range requests {
					reply(late, false)
				}
			}()
			status := c.run(ctx, sess, v.Command)
			_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
			return
		default: // no terminal, no agent, no forwarding, no subsystem
			reply(req, false)
		}
	}
}

func reply(req *ssh.Request, ok bool) {
	if req.WantReply {
		_ = req.Reply(ok, nil)
	}
}

// run runs a command line, or greets when there is none.
func (c *sshConn) run(ctx context.Context, sess *SSHSession, line string) (status int) {
	if strings.TrimSpace(line) == "" {
		writeLines(sess.Stderr, c.server.Greeting(ctx, sess.Identity))
		return 1 // as the shell that is not there would
	}
	words, err := splitCommand(line)
	if err == nil {
		sess.Service, sess.Args, err = gitCommand(words)
	}
	if err != nil {
		writeLines(sess.Stderr, "gitfor: "+err.Error())
		return 128
	}
	return c.server.Serve(ctx, sess)
}

func writeLines(w io.Writer, text string) {
	_, _ = io.WriteString(w, strings.TrimRight(text, "\r\n")+"\n")
}

// gitCommand takes the words of a command line apart. "git upload-pack" is the
// same as "git-upload-pack".
func gitCommand(words []string) (service string, args []string, err error) {
	if len(words) > 1 && words[0] == "git" {
		words = append([]string{"git-" + words[1]}, words[2:]...)
	}
	if len(words) == 0 {
		return "", nil, errors.New("there is no command")
	}
	switch words[0] {
	case UploadService, ReceiveService, "git-upload-archive", "git-lfs-authenticate", "git-lfs-transfer":
	default:
		return "", nil, errors.New("only git's commands are served here, not " + quoteForPeople(words[0]))
	}
	if len(words) < 2 || words[1] == "" {
		return "", nil, errors.New(words[0] + " needs the path of a repository")
	}
	return words[0], words[1:], nil
}

func quoteForPeople(s string) string {
	if s = oneLine(s); len(s) > 60 {
		s = s[:60] + "…"
	}
	return "\"" + s + "\""
}

// splitCommand splits a command line into words as a POSIX shell would, with
// quotes and backslashes but nothing else of a shell: its special characters
// are errors outside quotes.
func splitCommand(line string) ([]string, error) {
	const most = 8 << 10
	if len(line) > most {
		return nil, errors.New("the command is too long")
	}
	var words []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case ch == ' ' || ch == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
			continue
		case ch == '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return nil, errors.New("a quote is not closed")
			}
			word.WriteString(line[i+1 : i+1+n])
			i += n + 1
		case ch == '"':
			n, ok := doubleQuoted(line[i+1:], &word)
			if !ok {
				return nil, errors.New("a quote is not closed")
			}
			i += n
		case ch == '\\':
			if i++; i == len(line) {
				return nil, errors.New("the command ends with a backslash")
			}
			word.WriteByte(line[i])
		case strings.IndexByte("|&;<>()$`\n\x00", ch) >= 0:
			return nil, errors.New("the command has characters that only a shell understands")
		default:
			word.WriteByte(ch)
		}
		inWord = true
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// doubleQuoted copies up to the closing quote and returns how far it read.
func doubleQuoted(s string, word *strings.Builder) (n int, ok bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return i + 1, true
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0:
			i++
		}
		word.WriteByte(s[i])
	}
	return 0, false
}
