package git

import (
	"context"
	"fmt"
	"io"
	"strconv"
)

// Whitespace says which differences in blanks a diff leaves out.
type Whitespace int

// The choices, each leaving out more than the one before.
const (
	ShowWhitespace      Whitespace = iota
	IgnoreLineEnds                 // a carriage return at a line's end
	IgnoreSpaceAtEnd               // all blanks at a line's end
	IgnoreSpaceAmount              // how many blanks there are
	IgnoreAllWhitespace            // blanks altogether
)

// DiffOptions say what to compare, and how much of it.
type DiffOptions struct {
	// Base and Head are commits or trees. An empty Base is the empty tree.
	Base, Head OID
	// MergeBase compares Head with the best common ancestor of both instead of
	// Base ("three dots"); without one, with the empty tree.
	MergeBase bool
	// Paths limits the diff to these files and folders. To see a rename as one
	// give both of its names.
	Paths      []string
	Whitespace Whitespace
	// Context is how many unchanged lines surround a change; 0 is three, a
	// negative number is none.
	Context int
	// NoRenames shows renames as a deletion and an addition.
	NoRenames bool

	// Limits of what Diff keeps; 0 is no limit. Files beyond them are listed
	// and counted all the same, marked Truncated.
	MaxFiles     int
	MaxLines     int // of all files together
	MaxFileLines int
	MaxFileBytes int
	MaxLineBytes int
}

// DiffStatus is what happened to a file, in git's letter.
type DiffStatus byte

// The statuses.
const (
	StatusAdded       DiffStatus = 'A'
	StatusDeleted     DiffStatus = 'D'
	StatusModified    DiffStatus = 'M'
	StatusRenamed     DiffStatus = 'R'
	StatusCopied      DiffStatus = 'C'
	StatusTypeChanged DiffStatus = 'T' // a file became a link, or the like
)

func (s DiffStatus) String() string {
	switch s {
	case StatusAdded:
		return "added"
	case StatusDeleted:
		return "removed"
	case StatusRenamed:
		return "renamed"
	case StatusCopied:
		return "copied"
	case StatusTypeChanged:
		return "changed"
	}
	return "modified"
}

// DiffFile is one file of a diff. Names are raw bytes; of a file that was
// added or deleted both are the same.
type DiffFile struct {
	OldName, NewName string
	Status           DiffStatus
	// Similarity is the percentage that a rename kept.
	Similarity       int
	OldMode, NewMode Mode // 0 where there is no file
	OldOID, NewOID   OID  // empty where there is no file
	Binary           bool
	Additions        int
	Deletions        int
	Hunks            []Hunk
	// Truncated: lines were left out for a limit.
	Truncated bool
}

// Name is the file's name after the change, or before it was deleted.
func (f *DiffFile) Name() string { return f.NewName }

// Paths are what limits a diff to this file.
func (f *DiffFile) Paths() []string {
	if f.OldName == f.NewName {
		return []string{f.NewName}
	}
	return []string{f.OldName, f.NewName}
}

// IsSubmodule reports whether a side is a commit of another repository.
func (f *DiffFile) IsSubmodule() bool {
	return f.OldMode.Kind() == KindSubmodule || f.NewMode.Kind() == KindSubmodule
}

// ModeChanged reports whether a file that stayed got another mode.
func (f *DiffFile) ModeChanged() bool {
	return f.OldMode != 0 && f.NewMode != 0 && f.OldMode != f.NewMode
}

// Hunk is a run of changed lines with those around them.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
	// Section is the line that git shows behind the second @@.
	Section string
	Lines   []Line
}

// LineKind says which side has a line.
type LineKind byte

// The kinds, by their sign in a diff.
const (
	LineContext LineKind = ' '
	LineAdded   LineKind = '+'
	LineDeleted LineKind = '-'
)

// Line is one line of a hunk.
type Line struct {
	Kind LineKind
	// Old and New are the line's numbers from 1 on; 0 on the side without it.
	Old, New int
	// Text is raw bytes without the line feed; a carriage return stays.
	Text string
	// NoNewline: the file ends here, without a line feed.
	NoNewline bool
	// Cut: the line is longer than Text, which ended at the limit.
	Cut bool
	// Marks are the parts of Text that changed; see MarkWords.
	Marks []Range
}

// Diff compares and is every file, with its lines as far as the limits allow.
func (r *Repository) Diff(ctx context.Context, opts DiffOptions) ([]DiffFile, error) {
	cmd, err := r.diffCommand(ctx, opts, "--raw", "--full-index", contextFlag(opts))
	if err != nil {
		return nil, err
	}
	var files []DiffFile
	err = cmd.Stream(func(out io.Reader) error {
		var err error
		files, err = parseDiff(out, &opts)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("diff %s %s: %w", opts.Base.Short(), opts.Head.Short(), err)
	}
	return files, nil
}

// DiffFiles is every file of a diff with its counts of lines, without the
// lines. The limits of opts play no part. Answers are kept; the slice must not
// be changed.
func (r *Repository) DiffFiles(ctx context.Context, opts DiffOptions) ([]DiffFile, error) {
	key := fmt.Sprintf("%s %s %t %d %t %q", opts.Base, opts.Head, opts.MergeBase, opts.Whitespace, opts.NoRenames, opts.Paths)
	if files, ok := r.answers.diffs.Get(key); ok {
		return files, nil
	}
	cmd, err := r.diffCommand(ctx, opts, "--raw", "--numstat", "--no-abbrev")
	if err != nil {
		return nil, err
	}
	var files []DiffFile
	err = cmd.Stream(func(out io.Reader) error {
		var err error
		files, err = parseDiffFiles(out)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("diff %s %s: %w", opts.Base.Short(), opts.Head.Short(), err)
	}
	if len(files) <= maxKeptFiles {
		r.answers.diffs.Add(key, files)
	}
	return files, nil
}

// DiffBase is what a commit is compared with: its first parent, or the empty
// tree.
func (r *Repository) DiffBase(c *Commit) OID {
	if len(c.Parents) > 0 {
		return c.Parents[0]
	}
	return r.EmptyTree()
}

// diffCommand is diff-tree with everything but the output format.
func (r *Repository) diffCommand(ctx context.Context, opts DiffOptions, format ...string) (*Cmd, error) {
	base, err := r.diffBase(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("diff: %w", err)
	}
	options := append([]string{"-r", "-z", "--no-commit-id", "--no-color", "--no-ext-diff", "--no-textconv",
		"--submodule=short", "--ignore-submodules=none", "--diff-algorithm=histogram",
		"--src-prefix=a/", "--dst-prefix=b/"}, format...)
	options = append(options, diffFlags(opts)...)
	cmd := r.Command(ctx, "diff-tree", options...).Revs(string(base), string(opts.Head))
	if len(opts.Paths) > 0 {
		cmd.Paths(opts.Paths...)
	}
	return cmd, nil
}

// diffFlags are the options that change what a diff shows.
func diffFlags(opts DiffOptions) []string {
	var flags []string
	if opts.NoRenames {
		flags = append(flags, "--no-renames")
	} else {
		flags = append(flags, "--find-renames", "-l1000")
	}
	switch opts.Whitespace {
	case IgnoreLineEnds:
		flags = append(flags, "--ignore-cr-at-eol")
	case IgnoreSpaceAtEnd:
		flags = append(flags, "--ignore-space-at-eol")
	case IgnoreSpaceAmount:
		flags = append(flags, "--ignore-space-change")
	case IgnoreAllWhitespace:
		flags = append(flags, "--ignore-all-space")
	}
	return flags
}

// contextFlag says how much surrounds a change; to git it also means a patch.
func contextFlag(opts DiffOptions) string {
	switch {
	case opts.Context < 0:
		return "--unified=0"
	case opts.Context == 0:
		return "--unified=3"
	}
	return "--unified=" + strconv.Itoa(opts.Context)
}

// diffBase is the commit or tree that a diff starts from.
func (r *Repository) diffBase(ctx context.Context, opts DiffOptions) (OID, error) {
	if opts.Base == "" || opts.Base == r.EmptyTree() {
		return r.EmptyTree(), nil
	}
	if !opts.MergeBase {
		return opts.Base, nil
	}
	base, err := r.MergeBase(ctx, opts.Base, opts.Head)
	if err == nil && base == "" {
		return r.EmptyTree(), nil
	}
	return base, err
}
