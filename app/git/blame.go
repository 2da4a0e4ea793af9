package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// IgnoreRevsFile is the file in a repository's root that names commits which
// blame looks through, by custom.
const IgnoreRevsFile = ".git-blame-ignore-revs"

// maxIgnoreRevs is the largest such file that is read, in bytes.
const maxIgnoreRevs = 256 << 10

// BlameOptions tune Blame.
type BlameOptions struct {
	// IgnoreRevs looks through the commits that IgnoreRevsFile at the same
	// commit names.
	IgnoreRevs bool
	// Whitespace leaves out changes of blanks only.
	Whitespace bool
}

// BlameHunk is a run of lines that one commit wrote.
type BlameHunk struct {
	Commit *Commit
	// Line is the first line's number in the file, from 1 on; Count how many.
	Line, Count int
	// OrigLine and OrigPath are where the lines were in Commit.
	OrigLine int
	OrigPath string
	// Previous and PreviousPath are the file before Commit changed it, to blame
	// on from; empty where the file begins.
	Previous     OID
	PreviousPath string
}

// Blame is who wrote each line of the file at path in rev, by lines. When ctx
// ends first, what was found so far comes with the context's error, with gaps.
func (r *Repository) Blame(ctx context.Context, rev OID, path string, opts BlameOptions) ([]BlameHunk, error) {
	clean, ok := CleanPath(path)
	e, err := r.EntryAt(ctx, rev, path)
	if err != nil {
		return nil, fmt.Errorf("blame: %w", err)
	}
	if !ok || e.IsTree() || e.IsSubmodule() {
		return nil, fmt.Errorf("blame: path %q is no file: %w", path, ErrWrongType)
	}
	key := blameKey{rev, clean, opts}
	if hunks, ok := r.answers.blames.Get(key); ok {
		return hunks, nil
	}
	options := []string{"--incremental"}
	if opts.Whitespace {
		options = append(options, "-w")
	}
	ignored := ""
	if opts.IgnoreRevs {
		if ignored, err = r.ignoredRevs(ctx, rev); err != nil {
			return nil, fmt.Errorf("blame: %w", err)
		}
		if ignored != "" {
			options = append(options, "--ignore-revs-file=/dev/stdin")
		}
	}
	var hunks []BlameHunk
	cmd := r.Command(ctx, "blame", options...).Stdin(strings.NewReader(ignored)).Revs(string(rev)).Paths(clean)
	err = cmd.Stream(func(out io.Reader) error {
		var err error
		hunks, err = parseBlame(out)
		return err
	})
	// Also what was found before time was up is worth reading.
	if rerr := r.readBlamed(context.WithoutCancel(ctx), hunks); err == nil && rerr != nil {
		err = rerr
	}
	slices.SortFunc(hunks, func(a, b BlameHunk) int { return a.Line - b.Line })
	if err != nil {
		return hunks, fmt.Errorf("blame %q: %w", path, err)
	}
	r.answers.blames.Add(key, hunks)
	return hunks, nil
}

// blameKey is one question to Blame.
type blameKey struct {
	rev  OID
	path string
	opts BlameOptions
}

// readBlamed replaces the commits, of which only the ids are known, by whole ones.
func (r *Repository) readBlamed(ctx context.Context, hunks []BlameHunk) error {
	known := make(map[OID]*Commit)
	for i := range hunks {
		oid := hunks[i].Commit.OID
		if known[oid] == nil {
			c, err := r.Commit(ctx, oid)
			if err != nil {
				return err
			}
			known[oid] = c
		}
		hunks[i].Commit = known[oid]
	}
	return nil
}

// ignoredRevs is the commits that IgnoreRevsFile names and that exist; git
// would fail at the others.
func (r *Repository) ignoredRevs(ctx context.Context, rev OID) (string, error) {
	data, _, err := r.BlobAt(ctx, rev, IgnoreRevsFile, maxIgnoreRevs)
	switch {
	case errors.Is(err, ErrNotFound) || errors.Is(err, ErrWrongType) || errors.Is(err, ErrTooLarge):
		return "", nil
	case err != nil:
		return "", err
	}
	var kept strings.Builder
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		oid, ok := ParseOID(strings.TrimSpace(line))
		if !ok {
			continue
		}
		if info, err := r.Info(ctx, oid); err == nil && info.Type == TypeCommit {
			kept.WriteString(string(oid) + "\n")
		}
	}
	return kept.String(), nil
}

// parseBlame reads git's incremental format (git-blame(1), "Incremental
// output"). A record that was cut off is left out.
func parseBlame(out io.Reader) ([]BlameHunk, error) {
	type before struct {
		oid  OID
		path string
	}
	previous := make(map[string]before) // by commit and path
	var hunks []BlameHunk
	var h *BlameHunk
	var prev before
	lines := bufio.NewReaderSize(out, 16<<10)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return hunks, nil
		}
		if err != nil {
			return hunks, err
		}
		line = strings.TrimSuffix(line, "\n")
		if h == nil {
			if h, err = parseBlameHead(line); err != nil {
				return hunks, err
			}
			prev = before{}
			continue
		}
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "previous":
			id, path, _ := strings.Cut(value, " ")
			prev = before{OID(id), unquoteName(path)}
		case "filename":
			h.OrigPath = unquoteName(value)
			// git says it with a commit's first hunk only
			at := string(h.Commit.OID) + h.OrigPath
			if prev.oid != "" {
				previous[at] = prev
			}
			h.Previous, h.PreviousPath = previous[at].oid, previous[at].path
			hunks = append(hunks, *h)
			h = nil
		}
	}
}

// parseBlameHead reads "<id> <line there> <line here> <count>".
func parseBlameHead(line string) (*BlameHunk, error) {
	parts := strings.Fields(line)
	if len(parts) != 4 {
		return nil, fmt.Errorf("%w: blame record %q", errDiff, line)
	}
	oid, ok := ParseOID(parts[0])
	orig, err1 := strconv.Atoi(parts[1])
	at, err2 := strconv.Atoi(parts[2])
	count, err3 := strconv.Atoi(parts[3])
	if !ok || err1 != nil || err2 != nil || err3 != nil {
		return nil, fmt.Errorf("%w: blame record %q", errDiff, line)
	}
	return &BlameHunk{Commit: &Commit{OID: oid}, OrigLine: orig, Line: at, Count: count}, nil
}

// unquoteName is a path as git wrote it, quoted or not.
func unquoteName(s string) string {
	if name, rest, ok := unquoteC(s); ok && rest == "" {
		return name
	}
	return s
}
