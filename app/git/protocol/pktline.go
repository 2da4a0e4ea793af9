package protocol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxPacket is the length in bytes of the longest pkt-line, its four digits of
// length included (gitprotocol-common(5)).
const MaxPacket = 65520

// maxPayload is the most that one pkt-line carries.
const maxPayload = MaxPacket - 4

// PacketKind tells the special pkt-lines from those that carry data.
type PacketKind uint8

// The kinds of pkt-line.
const (
	PacketData        PacketKind = iota
	PacketFlush                  // 0000
	PacketDelim                  // 0001
	PacketResponseEnd            // 0002
)

var (
	// ErrMalformed is returned for what is no pkt-line.
	ErrMalformed = errors.New("malformed pkt-line")
	// ErrTooLarge is returned when a request is larger than its limit.
	ErrTooLarge = errors.New("request is larger than allowed")
)

// PacketReader reads pkt-lines. It holds one at a time.
type PacketReader struct {
	r    *bufio.Reader
	buf  []byte
	left int64
}

// NewPacketReader returns a reader of the pkt-lines in r that together have at
// most limit bytes; beyond them Next fails with ErrTooLarge. A limit of 0 or
// less is none.
func NewPacketReader(r io.Reader, limit int64) *PacketReader {
	if limit <= 0 {
		limit = 1<<63 - 1
	}
	return &PacketReader{r: bufio.NewReaderSize(r, 8<<10), left: limit}
}

// Rest returns what follows the pkt-lines read so far, for the pack that comes
// after the commands of a push.
func (p *PacketReader) Rest() *bufio.Reader { return p.r }

// Limit sets anew how many bytes of pkt-lines may still come.
func (p *PacketReader) Limit(n int64) { p.left = n }

// Next reads one pkt-line. The data is good until the next call and has its
// final newline still. At the end of the stream, between two pkt-lines, the
// error is io.EOF; within one it is io.ErrUnexpectedEOF.
func (p *PacketReader) Next() (PacketKind, []byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return 0, nil, err
	}
	n, ok := packetLength(head)
	if !ok {
		return 0, nil, fmt.Errorf("%w: length %q", ErrMalformed, head[:])
	}
	if p.left -= int64(max(n, 4)); p.left < 0 {
		return 0, nil, ErrTooLarge
	}
	switch {
	case n <= 2:
		return PacketKind(n + 1), nil, nil
	case n == 3 || n > MaxPacket:
		return 0, nil, fmt.Errorf("%w: length %d", ErrMalformed, n)
	}
	if p.buf == nil {
		p.buf = make([]byte, maxPayload)
	}
	data := p.buf[:n-4]
	if _, err := io.ReadFull(p.r, data); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return PacketData, data, nil
}

// NextLine is Next for text: the data comes as a string without its final
// newline.
func (p *PacketReader) NextLine() (PacketKind, string, error) {
	kind, data, err := p.Next()
	if n := len(data); n > 0 && data[n-1] == '\n' {
		data = data[:n-1]
	}
	return kind, string(data), err
}

func packetLength(head [4]byte) (int, bool) {
	n := 0
	for _, c := range head {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | int(c)
	}
	return n, true
}

// appendPacket appends data to b as one pkt-line. The data must fit into one.
func appendPacket(b []byte, data string) []byte {
	return append(appendLength(b, len(data)+4), data...)
}

func appendLength(b []byte, n int) []byte {
	const digits = "0123456789abcdef"
	return append(b, digits[n>>12&15], digits[n>>8&15], digits[n>>4&15], digits[n&15])
}

// PacketWriter writes pkt-lines. Its first error stays: later writes do nothing
// and Err returns it.
type PacketWriter struct {
	w   io.Writer
	err error
}

// NewPacketWriter returns a writer to w, which it does not buffer.
func NewPacketWriter(w io.Writer) *PacketWriter { return &PacketWriter{w: w} }

// Printf writes one pkt-line. Text longer than a pkt-line holds is cut.
func (p *PacketWriter) Printf(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if len(s) > maxPayload {
		s = s[:maxPayload]
	}
	p.raw(appendPacket(nil, s))
}

// Flush writes a flush packet, 0000.
func (p *PacketWriter) Flush() { p.raw([]byte("0000")) }

// Delim writes a delimiter packet, 0001.
func (p *PacketWriter) Delim() { p.raw([]byte("0001")) }

// Err returns the first error of a write.
func (p *PacketWriter) Err() error { return p.err }

func (p *PacketWriter) raw(b []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
}
