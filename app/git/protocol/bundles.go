package protocol

import (
	"io"
	"strconv"
)

// Bundle is a file with a part of a repository's history that a client may
// download before it fetches (gitprotocol-v2(5), bundle-uri).
type Bundle struct {
	ID  string
	URI string
	// Token orders the bundles of a list by age; 0 where there is one only.
	Token uint64
}

// listBundles answers the command bundle-uri.
func listBundles(w io.Writer, bundles []Bundle) error {
	out := newChunkWriter(w)
	out.packet("bundle.version=1\n")
	out.packet("bundle.mode=all\n")
	for _, b := range bundles {
		if b.Token > 0 {
			out.packet("bundle.heuristic=creationToken\n")
			break
		}
	}
	for _, b := range bundles {
		out.packet("bundle." + b.ID + ".uri=" + b.URI + "\n")
		if b.Token > 0 {
			out.packet("bundle." + b.ID + ".creationToken=" + strconv.FormatUint(b.Token, 10) + "\n")
		}
	}
	out.raw("0000")
	return out.flush()
}
