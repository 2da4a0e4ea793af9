package git

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// diffParser reads the output of diff-tree --raw --patch --full-index -z.
type diffParser struct {
	r     *bufio.Reader
	opts  *DiffOptions
	files []DiffFile
	at    int // the file that the next section may be about

	line string // the line that was read, without its line feed
	cut  bool
	peek bool // line is to be read again

	filesKept int
	linesKept int
}

// defaultLine bounds a line where the options set no bound, in bytes.
const defaultLine = 1 << 20

func parseDiff(out io.Reader, opts *DiffOptions) ([]DiffFile, error) {
	p := &diffParser{r: bufio.NewReaderSize(out, 64<<10), opts: opts}
	var err error
	if p.files, err = parseRaw(p.r); err != nil {
		return nil, err
	}
	next, err := p.r.Peek(1)
	if err == nil && next[0] == 0 {
		_, err = p.r.Discard(1)
	}
	for err == nil {
		err = p.section()
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return p.files, nil
}

// next reads a line into p.line; io.EOF when there is none.
func (p *diffParser) next() error {
	if p.peek {
		p.peek = false
		return nil
	}
	limit := p.opts.MaxLineBytes
	if limit <= 0 {
		limit = defaultLine
	}
	limit++ // the sign in front
	part, err := p.r.ReadSlice('\n')
	if err == nil && len(part)-1 <= limit {
		p.line, p.cut = string(part[:len(part)-1]), false
		return nil
	}
	if err == io.EOF && len(part) == 0 {
		return io.EOF
	}
	var b strings.Builder
	total := 0
	for {
		total += len(part)
		if room := limit - b.Len(); room > 0 {
			b.Write(part[:min(room, len(part))])
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		part, err = p.r.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return err
	}
	if err == nil {
		total-- // the line feed
	}
	p.line = strings.TrimSuffix(b.String(), "\n")
	p.cut = total > len(p.line)
	return nil
}

// sectionHead is what the lines before a file's hunks say.
type sectionHead struct {
	hasIndex bool
	old, new OID
	binary   bool
}

// section reads one file: "diff --git", its header and its hunks.
func (p *diffParser) section() error {
	if err := p.next(); err != nil {
		return err
	}
	if !strings.HasPrefix(p.line, "diff --git ") {
		return fmt.Errorf("%w: %q where a file should begin", errDiff, p.line[:min(len(p.line), 100)])
	}
	var head sectionHead
	var end error
	for {
		if end = p.next(); end != nil {
			break
		}
		if strings.HasPrefix(p.line, "@@ ") || strings.HasPrefix(p.line, "diff --git ") {
			p.peek = true
			break
		}
		if ids, ok := strings.CutPrefix(p.line, "index "); ok {
			ids, _, _ = strings.Cut(ids, " ")
			a, b, _ := strings.Cut(ids, "..")
			head.hasIndex, head.old, head.new = true, OID(a), OID(b)
		}
		head.binary = head.binary || strings.HasPrefix(p.line, "Binary files ")
	}
	if end != nil && !errors.Is(end, io.EOF) {
		return end
	}
	f := p.file(head)
	if f == nil {
		return fmt.Errorf("%w: a patch of no file", errDiff)
	}
	f.Binary = f.Binary || head.binary
	if end != nil {
		return end
	}
	return p.hunks(f)
}

// file finds whom a section is about. Sections come in the order of the raw
// records, but files whose changes are all left out have none, and a change of
// type has two.
func (p *diffParser) file(head sectionHead) *DiffFile {
	for i := p.at; i < len(p.files); i++ {
		f := &p.files[i]
		if !head.hasIndex {
			if f.OldOID == f.NewOID {
				p.at = i + 1
				return f
			}
			continue
		}
		old, now := head.old, head.new
		if f.Status == StatusTypeChanged {
			if old == f.OldOID && now.IsZero() {
				p.at = i // its other half follows
				return f
			}
			if old.IsZero() && now == f.NewOID {
				p.at = i + 1
				return f
			}
			continue
		}
		if sameOID(old, f.OldOID) && sameOID(now, f.NewOID) {
			p.at = i + 1
			return f
		}
	}
	return nil
}

func sameOID(a, b OID) bool { return a == b || (a.IsZero() && b.IsZero()) }

// hunks reads all hunks of f.
func (p *diffParser) hunks(f *DiffFile) error {
	keep := p.opts.MaxFiles <= 0 || p.filesKept < p.opts.MaxFiles
	p.filesKept++
	room := lineRoom{lines: p.opts.MaxFileLines, bytes: p.opts.MaxFileBytes, on: keep}
	for {
		if err := p.next(); err != nil {
			return err
		}
		if !strings.HasPrefix(p.line, "@@ ") {
			p.peek = true
			return nil
		}
		h, err := parseHunkHead(p.line)
		if err != nil {
			return err
		}
		if err := p.hunk(f, &h, &room); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(h.Lines) > 0 {
			f.Hunks = append(f.Hunks, h)
		}
	}
}

// lineRoom is what may still be kept of one file.
type lineRoom struct {
	lines, bytes int // 0 is no limit
	on           bool
}

// hunk reads as many lines as the hunk's head announced.
func (p *diffParser) hunk(f *DiffFile, h *Hunk, room *lineRoom) error {
	oldLeft, newLeft := h.OldLines, h.NewLines
	oldAt, newAt := h.OldStart, h.NewStart
	kept := false // whether the line before was
	for {
		if err := p.next(); err != nil {
			if oldLeft > 0 || newLeft > 0 {
				return fmt.Errorf("%w: a hunk does not end", errDiff)
			}
			return err
		}
		if strings.HasPrefix(p.line, `\`) {
			if kept {
				h.Lines[len(h.Lines)-1].NoNewline = true
			}
			continue
		}
		if oldLeft <= 0 && newLeft <= 0 {
			p.peek = true
			return nil
		}
		// An empty context line may lack its blank.
		l := Line{Kind: LineContext, Cut: p.cut}
		if p.line != "" {
			l.Kind, l.Text = LineKind(p.line[0]), p.line[1:]
		}
		switch l.Kind {
		case LineContext:
			l.Old, l.New = oldAt, newAt
			oldAt, newAt, oldLeft, newLeft = oldAt+1, newAt+1, oldLeft-1, newLeft-1
		case LineAdded:
			l.New = newAt
			newAt, newLeft = newAt+1, newLeft-1
			f.Additions++
		case LineDeleted:
			l.Old = oldAt
			oldAt, oldLeft = oldAt+1, oldLeft-1
			f.Deletions++
		default:
			return fmt.Errorf("%w: line %q in a hunk", errDiff, p.line[:min(len(p.line), 100)])
		}
		if kept = p.fits(&l, room); kept {
			h.Lines = append(h.Lines, l)
		} else {
			f.Truncated = true
		}
	}
}

// fits takes l from what may be kept. Once a line did not fit, no later one of
// the file does.
func (p *diffParser) fits(l *Line, room *lineRoom) bool {
	if !room.on {
		return false
	}
	if p.opts.MaxLines > 0 && p.linesKept >= p.opts.MaxLines {
		room.on = false
		return false
	}
	if room.lines > 0 {
		if room.lines--; room.lines == 0 {
			room.on = false
		}
	}
	if room.bytes > 0 {
		if room.bytes -= len(l.Text) + 1; room.bytes <= 0 {
			room.on = false
			return false
		}
	}
	p.linesKept++
	return true
}

// parseHunkHead reads "@@ -1,2 +3,4 @@ section".
func parseHunkHead(line string) (Hunk, error) {
	bad := fmt.Errorf("%w: hunk %q", errDiff, line[:min(len(line), 100)])
	ranges, section, ok := strings.Cut(strings.TrimPrefix(line, "@@ "), " @@")
	before, after, ok2 := strings.Cut(ranges, " ")
	if !ok || !ok2 || !strings.HasPrefix(before, "-") || !strings.HasPrefix(after, "+") {
		return Hunk{}, bad
	}
	h := Hunk{Section: strings.TrimPrefix(section, " ")}
	var err1, err2 error
	h.OldStart, h.OldLines, err1 = parseSpan(before[1:])
	h.NewStart, h.NewLines, err2 = parseSpan(after[1:])
	if err1 != nil || err2 != nil {
		return Hunk{}, bad
	}
	return h, nil
}

// parseSpan reads "3,4", or "3", which is "3,1".
func parseSpan(s string) (start, count int, err error) {
	first, second, ok := strings.Cut(s, ",")
	if start, err = strconv.Atoi(first); err != nil || start < 0 {
		return 0, 0, errDiff
	}
	if !ok {
		return start, 1, nil
	}
	if count, err = strconv.Atoi(second); err != nil || count < 0 {
		return 0, 0, errDiff
	}
	return start, count, nil
}
