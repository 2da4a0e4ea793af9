// Package parcel is the file format in which gitfor keeps exported tables: a
// scope that sleeps, a scope that moves, a store in a backup.
//
// A parcel is one zstd stream (RFC 8878, with checksum) of
//
//	a line of JSON: the header, whose meaning is its maker's
//	for each table: a line {"table": name, "columns": […]}, the table's rows
//	    in Postgres's COPY text format in chunks (their length as uvarint, then
//	    the bytes; length 0 ends them), and a line {"rows": count}
//	a line {"end": count of tables}
//
// so that a parcel that was cut off or damaged is always noticed.
package parcel

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// ErrDamaged says that a parcel does not hold what was put into it.
var ErrDamaged = errors.New("damaged export")

const (
	// window bounds the memory of both sides.
	window = 1 << 20
	// chunkMax is the longest chunk that a reader takes.
	chunkMax = 16 << 20
	lineMax  = 4 << 20
)

// Table names a table and the columns whose values follow.
type Table struct {
	Name    string   `json:"table"`
	Columns []string `json:"columns"`
}

type rowsLine struct {
	Rows *int64 `json:"rows"`
}

type endLine struct {
	End *int `json:"end"`
}

// Writer writes a parcel.
type Writer struct {
	z      *zstd.Encoder
	tables int
	open   bool
}

// NewWriter starts a parcel with header, a value for JSON.
func NewWriter(w io.Writer, header any) (*Writer, error) {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, err
	}
	p := &Writer{z: z}
	return p, p.line(header)
}

func (p *Writer) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = p.z.Write(append(b, '\n'))
	return err
}

// Table starts a table; its rows are what is then written.
func (p *Writer) Table(t Table) error {
	if p.open {
		return errors.New("parcel: the table before is not ended")
	}
	p.open = true
	p.tables++
	return p.line(t)
}

// Write adds to the rows of the table.
func (p *Writer) Write(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		part := b[n:min(len(b), n+chunkMax)]
		if err := p.chunk(part); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

func (p *Writer) chunk(b []byte) error {
	var head [binary.MaxVarintLen64]byte
	if _, err := p.z.Write(head[:binary.PutUvarint(head[:], uint64(len(b)))]); err != nil {
		return err
	}
	_, err := p.z.Write(b)
	return err
}

// EndTable ends the table, which had so many rows.
func (p *Writer) EndTable(rows int64) error {
	p.open = false
	if err := p.chunk(nil); err != nil {
		return err
	}
	return p.line(rowsLine{&rows})
}

// Close ends the parcel.
func (p *Writer) Close() error {
	if err := p.line(endLine{&p.tables}); err != nil {
		return err
	}
	return p.z.Close()
}

// Reader reads a parcel.
type Reader struct {
	z      *zstd.Decoder
	r      *bufio.Reader
	tables int
	in     bool
	left   uint64
}

// NewReader reads the header of a parcel into header.
func NewReader(r io.Reader, header any) (*Reader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, damaged(err)
	}
	p := &Reader{z: z, r: bufio.NewReaderSize(z, 64<<10)}
	if err := p.line(header); err != nil {
		z.Close()
		return nil, err
	}
	return p, nil
}

func damaged(err error) error { return fmt.Errorf("%w: %w", ErrDamaged, err) }

func (p *Reader) line(v any) error {
	var line []byte
	for {
		part, err := p.r.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return damaged(err)
		}
		if len(line) > lineMax {
			return damaged(errors.New("a line is too long"))
		}
	}
	if err := json.Unmarshal(line, v); err != nil {
		return damaged(err)
	}
	return nil
}

// Next gives the next table, whose rows Read then gives up to io.EOF; EndTable
// follows. io.EOF after the last table, when the parcel is whole.
func (p *Reader) Next() (Table, error) {
	if p.in {
		return Table{}, errors.New("parcel: the table before is not ended")
	}
	var next struct {
		Table
		endLine
	}
	if err := p.line(&next); err != nil {
		return Table{}, err
	}
	if next.End == nil {
		if next.Name == "" {
			return Table{}, damaged(errors.New("a table has no name"))
		}
		p.tables++
		p.in = true
		return next.Table, nil
	}
	if *next.End != p.tables {
		return Table{}, damaged(fmt.Errorf("%d tables, should be %d", p.tables, *next.End))
	}
	// The checksum is behind the last byte.
	if _, err := p.r.ReadByte(); !errors.Is(err, io.EOF) {
		return Table{}, damaged(fmt.Errorf("something follows the end: %w", err))
	}
	return Table{}, io.EOF
}

// Read gives the rows of the table.
func (p *Reader) Read(b []byte) (int, error) {
	if !p.in {
		return 0, io.EOF
	}
	if p.left == 0 {
		n, err := binary.ReadUvarint(p.r)
		if err != nil {
			return 0, damaged(err)
		}
		if n > chunkMax {
			return 0, damaged(errors.New("a chunk is too long"))
		}
		if n == 0 {
			p.in = false
			return 0, io.EOF
		}
		p.left = n
	}
	if uint64(len(b)) > p.left {
		b = b[:p.left]
	}
	n, err := p.r.Read(b)
	p.left -= uint64(n)
	if err != nil {
		return n, damaged(err)
	}
	return n, nil
}

// EndTable checks that the table, read to its end, had so many rows.
func (p *Reader) EndTable(rows int64) error {
	if p.in {
		return errors.New("parcel: the table was not read to its end")
	}
	var end rowsLine
	if err := p.line(&end); err != nil {
		return err
	}
	if end.Rows == nil || *end.Rows != rows {
		return damaged(fmt.Errorf("a table has %d rows, not the number that was exported", rows))
	}
	return nil
}

// Close frees what the reader holds.
func (p *Reader) Close() { p.z.Close() }
