package protocol

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
)

// requestV2 is one command of protocol v2: a list of capabilities, one of
// which names the command, and its arguments (gitprotocol-v2(5)).
type requestV2 struct {
	command string
	caps    Capabilities
	args    []string
}

// readRequestV2 reads the next command. At the end of the session, a flush
// packet or the end of the stream, the error is io.EOF.
func readRequestV2(r *PacketReader) (*requestV2, error) {
	req := &requestV2{}
	inArgs := false
	for first := true; ; first = false {
		kind, line, err := r.NextLine()
		if err != nil {
			if errors.Is(err, io.EOF) && !first {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		switch kind {
		case PacketData:
			if inArgs {
				req.args = append(req.args, line)
			} else if name, ok := strings.CutPrefix(line, "command="); !ok {
				req.caps = append(req.caps, line)
			} else if req.command != "" {
				return nil, complaint("two commands in one request, %q and %q", req.command, name)
			} else {
				req.command = name
			}
		case PacketDelim:
			if inArgs {
				return nil, complaint("two delimiters in one request")
			}
			inArgs = true
		case PacketFlush:
			if first {
				return nil, io.EOF
			}
			if req.command == "" {
				return nil, complaint("no command in the request")
			}
			return req, nil
		default:
			return nil, fmt.Errorf("%w: response-end in a request", ErrMalformed)
		}
	}
}

// encode writes the command anew, for a git process.
func (q *requestV2) encode() []byte {
	b := appendPacket(nil, "command="+q.command+"\n")
	for _, c := range q.caps {
		b = appendPacket(b, c+"\n")
	}
	b = append(b, "0001"...)
	for _, a := range q.args {
		b = appendPacket(b, a+"\n")
	}
	return append(b, "0000"...)
}

// writeKey writes to h all of the request that its answer depends on: neither
// the client's version and session nor the order of its wants.
func (q *requestV2) writeKey(h hash.Hash) {
	var wants []string
	for _, c := range q.caps {
		if !strings.HasPrefix(c, "agent=") && !strings.HasPrefix(c, "session-id=") {
			fmt.Fprintf(h, "cap %q\n", c)
		}
	}
	for _, a := range q.args {
		if strings.HasPrefix(a, "want ") {
			wants = append(wants, a)
			continue
		}
		fmt.Fprintf(h, "arg %q\n", a)
	}
	slices.Sort(wants)
	for _, w := range wants {
		fmt.Fprintf(h, "%q\n", w)
	}
}

// fetchKey is the key of an answer in the pack cache.
type fetchKey [sha256.Size]byte

// complaintError is an error whose text is for the git client's user.
type complaintError struct{ text string }

func (e complaintError) Error() string { return e.text }

func complaint(format string, args ...any) error {
	return complaintError{fmt.Sprintf(format, args...)}
}
