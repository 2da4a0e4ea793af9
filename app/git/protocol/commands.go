package protocol

import (
	"errors"
	"io"
	"strings"

	"github.com/gitfor/gitfor/app/git"
)

// pushRequest is what a client sends before the pack (gitprotocol-pack(5)).
type pushRequest struct {
	commands []*Command
	shallow  []string
	caps     Capabilities
	options  []string
}

// pushLimits bound a push request.
type pushLimits struct {
	commands int
	options  int
}

// readPushRequest reads the commands and the push options of a push to a
// repository whose ids have hexLen digits. A request without commands has none:
// the probe that git sends before a big push over HTTP.
func readPushRequest(r *PacketReader, hexLen int, limits pushLimits) (*pushRequest, error) {
	req := &pushRequest{}
	seen := map[string]bool{}
	for {
		kind, line, err := r.NextLine()
		if errors.Is(err, io.EOF) && len(req.commands)+len(req.shallow) == 0 {
			return req, nil
		}
		if err != nil {
			return nil, unexpected(err)
		}
		if kind == PacketFlush {
			break
		}
		if kind != PacketData {
			return nil, ErrMalformed
		}
		if id, ok := strings.CutPrefix(line, "shallow "); ok {
			if err := req.addShallow(id, hexLen, limits); err != nil {
				return nil, err
			}
			continue
		}
		if len(req.commands) == 0 {
			head, caps, _ := strings.Cut(line, "\x00")
			line, req.caps = head, ParseCapabilities(caps)
			if f, ok := req.caps.Get("object-format"); ok && hexLen != hexLenOf(f) {
				return nil, complaint("this repository uses %s ids and yours %s; they cannot be mixed", formatOf(hexLen), oneLine(f))
			}
		}
		if strings.HasPrefix(line, "push-cert") {
			return nil, complaint("signed pushes (git push --signed) are not supported; sign the commits or tags instead")
		}
		if len(req.commands) >= limits.commands {
			return nil, complaint("a push may move %d refs at most; push in parts", limits.commands)
		}
		c, err := parseCommand(line, hexLen)
		if err != nil {
			return nil, err
		}
		if seen[c.Ref] {
			return nil, complaint("more than one update of %q in one push", c.Ref)
		}
		seen[c.Ref] = true
		req.commands = append(req.commands, c)
	}
	if len(req.commands) == 0 || !req.caps.Has("push-options") {
		return req, nil
	}
	return req, req.readOptions(r, limits)
}

func (q *pushRequest) addShallow(id string, hexLen int, limits pushLimits) error {
	if len(id) != hexLen || !git.OID(id).Valid() {
		return complaint("%q is not the id of a shallow commit", oneLine(id))
	}
	if len(q.shallow) >= limits.commands {
		return complaint("too many shallow commits in one push; run git fetch --unshallow first")
	}
	q.shallow = append(q.shallow, id)
	return nil
}

func (q *pushRequest) readOptions(r *PacketReader, limits pushLimits) error {
	for {
		kind, line, err := r.NextLine()
		if err != nil {
			return unexpected(err)
		}
		if kind == PacketFlush {
			return nil
		}
		if kind != PacketData {
			return ErrMalformed
		}
		if len(q.options) >= limits.options {
			return complaint("a push may have %d push options at most", limits.options)
		}
		q.options = append(q.options, line)
	}
}

// parseCommand reads "old new ref".
func parseCommand(line string, hexLen int) (*Command, error) {
	old, rest, ok := strings.Cut(line, " ")
	new, ref, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || !git.OID(old).Valid() || !git.OID(new).Valid() || ref == "" {
		return nil, complaint("%q is not a command of a push", oneLine(line))
	}
	if len(old) != hexLen || len(new) != hexLen {
		return nil, complaint("this repository uses %s ids and yours %s; they cannot be mixed", formatOf(hexLen), formatOf(len(new)))
	}
	c := &Command{Ref: ref, Old: git.OID(old), New: git.OID(new), Kind: Update}
	switch {
	case c.New.IsZero():
		c.Kind = Delete
	case c.Old.IsZero():
		c.Kind = Create
	}
	return c, nil
}

// needsPack says whether a pack follows the commands.
func (q *pushRequest) needsPack() bool {
	for _, c := range q.commands {
		if c.Kind != Delete {
			return true
		}
	}
	return false
}

// sidebandSize is the longest pkt-line of the answer, 0 without side-band.
func (q *pushRequest) sidebandSize() int {
	if q.caps.Has("side-band-64k") {
		return MaxPacket
	}
	return 0
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func hexLenOf(format string) int {
	switch format {
	case "sha1":
		return 40
	case "sha256":
		return 64
	}
	return 0
}

func formatOf(hexLen int) string {
	if hexLen == 64 {
		return "sha256"
	}
	return "sha1"
}
