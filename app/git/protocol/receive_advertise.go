package protocol

import (
	"context"
	"io"
	"strings"
)

// Advertise writes the refs that a push may build on and what the server can
// do. There is no protocol v2 for pushes; asked for it, git too answers in v0.
func (s *ReceivePack) Advertise(ctx context.Context, w io.Writer, t Target, v Version) error {
	snap, err := t.refs(ctx)
	if err != nil {
		return err
	}
	caps := s.capabilities(t)
	out := newChunkWriter(w)
	if v == V1 {
		out.packet("version 1\n")
	}
	first := true
	for _, r := range snap.refs {
		if r.OID == "" || t.hidden(r.Name) {
			continue
		}
		if first {
			out.packet(string(r.OID) + " " + r.Name + "\x00" + caps + "\n")
			first = false
			continue
		}
		out.packet(string(r.OID) + " " + r.Name + "\n")
	}
	if first {
		out.packet(strings.Repeat("0", t.hexLen()) + " capabilities^{}\x00" + caps + "\n")
	}
	out.raw("0000")
	return out.flush()
}

func (s *ReceivePack) capabilities(t Target) string {
	agent := s.Agent
	if agent == "" {
		agent = "gitfor"
	}
	return "report-status report-status-v2 delete-refs side-band-64k quiet atomic ofs-delta push-options object-format=" +
		t.format() + " agent=" + agent
}
