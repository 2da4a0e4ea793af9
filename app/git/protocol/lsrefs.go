package protocol

import (
	"context"
	"io"
	"strings"
)

// mostPrefixes is how many ref-prefix arguments are kept; git too ignores them
// all when there are more.
const mostPrefixes = 65536

// listRefs answers ls-refs (gitprotocol-v2(5)) from the list of refs, without a
// process.
func listRefs(ctx context.Context, w io.Writer, t Target, args []string) error {
	var peel, symrefs, unborn, every bool
	var prefixes []string
	for _, a := range args {
		switch name, rest, _ := strings.Cut(a, " "); name {
		case "peel":
			peel = true
		case "symrefs":
			symrefs = true
		case "unborn":
			unborn = true
		case "ref-prefix":
			if len(prefixes) >= mostPrefixes {
				every = true
				continue
			}
			prefixes = append(prefixes, rest)
		default:
			return complaint("ls-refs: unknown argument %q", a)
		}
	}
	every = every || len(prefixes) == 0
	wanted := func(name string) bool {
		if every {
			return true
		}
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
		return false
	}
	snap, err := t.refs(ctx)
	if err != nil {
		return err
	}
	out := newChunkWriter(w)
	if branch := snap.branch(); wanted("HEAD") && !t.hidden(branch) {
		line := ""
		switch {
		case snap.head.OID != "":
			line = string(snap.head.OID) + " HEAD"
		case unborn && branch != "":
			line = "unborn HEAD"
		}
		if line != "" {
			if branch != "" && (symrefs || snap.head.OID == "") {
				line += " symref-target:" + branch
			}
			out.packet(line + "\n")
		}
	}
	for _, r := range snap.refs {
		if r.OID == "" || !wanted(r.Name) || t.hidden(r.Name) {
			continue
		}
		line := string(r.OID) + " " + r.Name
		if symrefs && r.Target != "" {
			line += " symref-target:" + r.Target
		}
		if peel && r.Peeled != "" {
			line += " peeled:" + string(r.Peeled)
		}
		out.packet(line + "\n")
	}
	out.raw("0000")
	return out.flush()
}

// chunkWriter gathers pkt-lines into writes of some 64 KB.
type chunkWriter struct {
	w   io.Writer
	buf []byte
	err error
}

func newChunkWriter(w io.Writer) *chunkWriter { return &chunkWriter{w: w} }

func (c *chunkWriter) packet(line string) {
	c.buf = appendPacket(c.buf, line)
	if len(c.buf) > 60<<10 {
		_ = c.flush()
	}
}

func (c *chunkWriter) raw(s string) { c.buf = append(c.buf, s...) }

func (c *chunkWriter) flush() error {
	if c.err == nil && len(c.buf) > 0 {
		_, c.err = c.w.Write(c.buf)
	}
	c.buf = c.buf[:0]
	return c.err
}
