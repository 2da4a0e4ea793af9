package git

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// errDiff: git's output is not what the parser knows.
var errDiff = errors.New("output of git is not understood")

// maxField bounds one field of git's output, in bytes: two ids, or a path.
const maxField = 1 << 16

// field reads up to the next zero byte.
func field(r *bufio.Reader) (string, error) {
	part, err := r.ReadSlice(0)
	if err == nil {
		return string(part[:len(part)-1]), nil
	}
	var b strings.Builder
	for errors.Is(err, bufio.ErrBufferFull) && b.Len() < maxField {
		b.Write(part)
		part, err = r.ReadSlice(0)
	}
	if err != nil {
		return "", fmt.Errorf("%w: a field does not end", errDiff)
	}
	b.Write(part[:len(part)-1])
	return b.String(), nil
}

// parseRaw reads the records of --raw -z, which all begin with a colon.
func parseRaw(r *bufio.Reader) ([]DiffFile, error) {
	var files []DiffFile
	for {
		next, err := r.Peek(1)
		if errors.Is(err, io.EOF) || (err == nil && next[0] != ':') {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		head, err := field(r)
		if err != nil {
			return nil, err
		}
		f, err := parseRawHead(head[1:])
		if err != nil {
			return nil, err
		}
		if f.OldName, err = field(r); err != nil {
			return nil, err
		}
		f.NewName = f.OldName
		if f.Status == StatusRenamed || f.Status == StatusCopied {
			if f.NewName, err = field(r); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
}

// parseRawHead reads "100644 100644 <id> <id> R087".
func parseRawHead(head string) (DiffFile, error) {
	bad := fmt.Errorf("%w: raw record %q", errDiff, head)
	parts := strings.Fields(head)
	if len(parts) != 5 {
		return DiffFile{}, bad
	}
	var f DiffFile
	var okOld, okNew bool
	f.OldMode, okOld = ParseMode(parts[0])
	f.NewMode, okNew = ParseMode(parts[1])
	oldOID, ok1 := ParseOID(parts[2])
	newOID, ok2 := ParseOID(parts[3])
	if !okOld || !okNew || !ok1 || !ok2 {
		return DiffFile{}, bad
	}
	if !oldOID.IsZero() {
		f.OldOID = oldOID
	}
	if !newOID.IsZero() {
		f.NewOID = newOID
	}
	f.Status = DiffStatus(parts[4][0])
	if len(parts[4]) > 1 {
		n, err := strconv.Atoi(parts[4][1:])
		if err != nil {
			return DiffFile{}, bad
		}
		f.Similarity = n
	}
	return f, nil
}

// parseDiffFiles reads --raw --numstat -z: all records of the one, then all of
// the other, in the same order.
func parseDiffFiles(out io.Reader) ([]DiffFile, error) {
	r := bufio.NewReaderSize(out, 32<<10)
	files, err := parseRaw(r)
	if err != nil {
		return nil, err
	}
	at := 0
	for {
		if _, err := r.Peek(1); err == io.EOF {
			return files, nil
		}
		record, err := field(r)
		if err != nil {
			return nil, err
		}
		if record == "" {
			continue // the separator
		}
		added, rest, ok1 := strings.Cut(record, "\t")
		deleted, name, ok2 := strings.Cut(rest, "\t")
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("%w: numstat record %q", errDiff, record)
		}
		if name == "" { // a rename: old and new name follow
			if _, err := field(r); err != nil {
				return nil, err
			}
			if name, err = field(r); err != nil {
				return nil, err
			}
		}
		// Files whose only changes are blanks that are left out have no record.
		for at < len(files) && files[at].NewName != name {
			at++
		}
		if at == len(files) {
			return nil, fmt.Errorf("%w: numstat of %q", errDiff, name)
		}
		if added == "-" {
			files[at].Binary = true
			continue
		}
		a, err1 := strconv.Atoi(added)
		d, err2 := strconv.Atoi(deleted)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%w: numstat record %q", errDiff, record)
		}
		files[at].Additions, files[at].Deletions = a, d
	}
}
