package db

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// spoolMemory is how much of a spool is kept in memory.
const spoolMemory = 8 << 20

// spool holds an export between a connection that reads it and the same one
// that writes it: in memory, and beyond spoolMemory in a file without a name.
type spool struct {
	mem  bytes.Buffer
	file *os.File
	size int64
}

func (s *spool) Write(b []byte) (int, error) {
	if s.file == nil && s.size+int64(len(b)) > spoolMemory {
		f, err := os.CreateTemp("", "gitfor-scope-")
		if err != nil {
			return 0, err
		}
		s.file = f
		if err := errors.Join(os.Remove(f.Name()), s.flush()); err != nil {
			return 0, err
		}
	}
	s.size += int64(len(b))
	if s.file != nil {
		return s.file.Write(b)
	}
	return s.mem.Write(b)
}

func (s *spool) flush() error {
	_, err := s.mem.WriteTo(s.file)
	s.mem = bytes.Buffer{}
	return err
}

// reader reads the spool from its start.
func (s *spool) reader() (io.Reader, error) {
	if s.file == nil {
		return bytes.NewReader(s.mem.Bytes()), nil
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return s.file, err
}

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
	}
}
