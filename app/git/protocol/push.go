package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/gitfor/gitfor/app/git"
)

// Kind says what a command does to its ref.
type Kind uint8

// The kinds of command.
const (
	Create Kind = iota
	Update
	Delete
)

// String is the kind as a word for logs and messages.
func (k Kind) String() string { return [...]string{"create", "update", "delete"}[k] }

// Command is one ref that a push wants to move.
type Command struct {
	Ref  string
	Old  git.OID // all zeros where the ref is new
	New  git.OID // all zeros where it goes
	Kind Kind

	reason string
}

// Reject refuses this command alone, with words for the person who pushes. The
// first reason stays.
func (c *Command) Reject(format string, args ...any) {
	if c.reason == "" {
		c.reason = oneLine(fmt.Sprintf(format, args...))
	}
}

// Reason is why the command was refused, or "" if it was not.
func (c *Command) Reason() string { return c.reason }

// Result is what became of one command.
type Result struct {
	*Command
	// OK is true when the ref moved. Otherwise Reason says why not.
	OK bool
}

// Push is a push whose objects have arrived and whose refs have not moved.
type Push struct {
	// Repo reads the new objects too, as long as Check and Prepare run.
	Repo *git.Repository
	// Commands are the refs to move, those refused already included; see
	// Pending.
	Commands []*Command
	// Options are the push options, git push -o.
	Options []string
	Atomic  bool

	progress io.Writer
	mu       sync.Mutex
	forced   map[*Command]bool
}

// Pending are the commands that nothing has refused yet.
func (p *Push) Pending() []*Command {
	list := make([]*Command, 0, len(p.Commands))
	for _, c := range p.Commands {
		if c.reason == "" {
			list = append(list, c)
		}
	}
	return list
}

// Remote says a line to the person who pushes; git shows it after "remote: ".
func (p *Push) Remote(format string, args ...any) {
	_, _ = io.WriteString(p.progress, strings.TrimRight(fmt.Sprintf(format, args...), "\n")+"\n")
}

// Forced says whether an update drops commits, that is, whether the old commit
// is no ancestor of the new one. It asks git once for each command. Annotated
// tags count as the commits they lead to; what leads to none counts as forced.
func (p *Push) Forced(ctx context.Context, c *Command) (bool, error) {
	if c.Kind != Update {
		return false, nil
	}
	p.mu.Lock()
	known, ok := p.forced[c]
	p.mu.Unlock()
	if ok {
		return known, nil
	}
	err := p.Repo.Command(ctx, "merge-base", "--is-ancestor").Revs(string(c.Old), string(c.New)).Run()
	var failed *git.CommandError
	if err != nil && (!errors.As(err, &failed) || failed.Code < 1) {
		return false, err
	}
	forced := err != nil
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forced == nil {
		p.forced = map[*Command]bool{}
	}
	p.forced[c] = forced
	return forced, nil
}

// Refusal is an error of Check or Prepare that refuses the whole push with
// words for the person who pushes. Any other error refuses it as a fault of the
// server.
type Refusal struct {
	// Message is shown line by line after "remote: ".
	Message string
	// Reason is the short text beside each ref; Message's first line if empty.
	Reason string
}

func (r *Refusal) Error() string { return r.Message }

func (r *Refusal) reason() string {
	if r.Reason != "" {
		return oneLine(r.Reason)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(r.Message), "\n")
	return oneLine(first)
}

// oneLine makes s fit for a status line: no control bytes, not too long.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if len(s) > 1000 {
		s = s[:1000]
	}
	return s
}
