package reviews

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db/model"
)

// CommentInput is a comment on a change as it is written.
type CommentInput struct {
	Body string `form:"body"`
	Path string `form:"path"`
	// Side is RIGHT, after the change, or LEFT, before it; "" is RIGHT.
	Side string `form:"side"`
	// Line is the last line that it is about, 0 for the file as a whole;
	// StartLine the first of several.
	Line      int `form:"line"`
	StartLine int `form:"start_line"`
	// SHA is the head that was looked at; "" is the newest.
	SHA string `form:"sha"`
	// Position counts lines in the file's diff instead of in the file, from 1
	// on: what GitHub's API took before it took lines.
	Position int `form:"-"`
}

// spot is a round that somebody looked at.
type spot struct {
	head, base git.OID
	round      int
}

// spotOf finds the round that a head belongs to. Other commits of the pull
// request count to the newest.
func spotOf(ctx context.Context, g *git.Repository, pull *model.Pull, sha string) (spot, error) {
	if sha == "" {
		sha = pull.HeadSHA
	}
	for k := pull.Round(); k > 0; k-- {
		if pull.Rounds[k-1].Head == sha {
			return spot{git.OID(sha), pulls.Base(g, pull, k), k}, nil
		}
	}
	oid, ok := git.ParseOID(sha)
	if ok {
		in, err := g.IsAncestor(ctx, oid, git.OID(pull.HeadSHA))
		if err == nil && in {
			return spot{oid, pulls.Base(g, pull, 0), pull.Round()}, nil
		}
	}
	return spot{}, fault.Field("commit_id", "This commit is not part of the pull request.")
}

const (
	// maxCommented is how large a file may be, in bytes, to be commented by
	// line.
	maxCommented = 20 << 20
	// maxHunk is how many lines are kept of what a comment is about.
	maxHunk = 30
	// around is how many unchanged lines are kept before it.
	around = 3
)

// anchored is a comment that stands where in says, not yet written.
func (s *Service) anchored(ctx context.Context, g *git.Repository, pull *model.Pull, in CommentInput) (*model.ReviewComment, error) {
	body, err := threads.CommentBody(in.Body)
	if err != nil {
		return nil, err
	}
	at, err := spotOf(ctx, g, pull, in.SHA)
	if err != nil {
		return nil, err
	}
	if in.Side == "" {
		in.Side = model.SideRight
	}
	if in.Side = strings.ToUpper(in.Side); in.Side != model.SideRight && in.Side != model.SideLeft {
		return nil, fault.Field("side", "The side is LEFT or RIGHT.")
	}
	file, err := fileOf(ctx, g, at, in.Path)
	if err != nil {
		return nil, err
	}
	if in.Position > 0 {
		if in.Side, in.Line, err = positioned(file, in.Position); err != nil {
			return nil, err
		}
	}
	if in.StartLine == in.Line || in.Line == 0 {
		in.StartLine = 0
	}
	c := &model.ReviewComment{Number: pull.Number, Body: body, Path: in.Path, Side: in.Side, Line: in.Line, StartLine: in.StartLine,
		SHA: at.head.String(), BaseSHA: at.base.String(), Round: at.round}
	if in.StartLine > 0 {
		c.StartSide = in.Side
	}
	if file != nil {
		c.Path = file.NewName
	}
	if err := s.quote(ctx, g, at, file, c); err != nil {
		return nil, err
	}
	if at.round == pull.Round() && at.head == git.OID(pull.HeadSHA) {
		c.Place = &model.ReviewPlace{Round: at.round, Path: c.Path, Line: c.Line, Start: c.StartLine}
		if c.Left() {
			c.Place.Base = at.base.String()
		}
	}
	return c, nil
}

// fileOf is the change of a file by its name before or after, nil where it is
// not changed.
func fileOf(ctx context.Context, g *git.Repository, at spot, path string) (*git.DiffFile, error) {
	if clean, ok := git.CleanPath(path); !ok || clean != path || path == "" || !utf8.ValidString(path) {
		return nil, fault.Field("path", "Name a file of the pull request.")
	}
	all, err := g.DiffFiles(ctx, git.DiffOptions{Base: at.base, Head: at.head})
	if err != nil {
		return nil, err
	}
	k := slices.IndexFunc(all, func(f git.DiffFile) bool { return f.NewName == path })
	if k < 0 {
		k = slices.IndexFunc(all, func(f git.DiffFile) bool { return f.OldName == path })
	}
	if k < 0 {
		return nil, nil
	}
	files, err := g.Diff(ctx, git.DiffOptions{Base: at.base, Head: at.head, Paths: all[k].Paths(), MaxFileBytes: maxCommented})
	if err != nil || len(files) == 0 {
		return nil, err
	}
	return &files[0], nil
}

// positioned is the line at a position of a file's diff, as GitHub counts: the
// line below the first hunk's head is 1, further heads count.
func positioned(f *git.DiffFile, position int) (side string, line int, err error) {
	at := 0
	if f != nil {
		for i := range f.Hunks {
			if i > 0 {
				at++
			}
			for _, l := range f.Hunks[i].Lines {
				if at++; at == position {
					if l.Kind == git.LineDeleted {
						return model.SideLeft, l.Old, nil
					}
					return model.SideRight, l.New, nil
				}
			}
		}
	}
	return "", 0, fault.Field("position", "The diff has no such line.")
}

// quote checks that the lines are there, and keeps what they say.
func (s *Service) quote(ctx context.Context, g *git.Repository, at spot, f *git.DiffFile, c *model.ReviewComment) error {
	rev, path := at.head, c.Path
	if c.Left() {
		rev = at.base
		if f == nil {
			return fault.Field("side", "The file is not changed, so it has only one side.")
		}
		path = f.OldName
	}
	text, _, err := g.BlobAt(ctx, rev, path, maxCommented)
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrWrongType) {
		if c.Line == 0 && f != nil {
			return nil // a file that is gone, or a submodule
		}
		return fault.Field("path", "There is no such file.")
	}
	if errors.Is(err, git.ErrTooLarge) {
		if c.Line == 0 {
			return nil
		}
		return fault.Field("path", "The file is too large for comments on its lines.")
	}
	if err != nil || c.Line == 0 {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	switch {
	case c.Line < 0 || c.Line > len(lines) || len(text) == 0:
		return fault.Field("line", fmt.Sprintf("The file has %d lines.", count(text)))
	case c.StartLine < 0 || c.StartLine > c.Line:
		return fault.Field("start_line", "The first line comes before the last.")
	case bytes.IndexByte(text, 0) >= 0:
		return fault.Field("path", "This file is not text.")
	}
	c.Hunk = hunkOf(f, c)
	if c.Hunk == "" {
		c.Hunk = plainHunk(lines, c)
	}
	return nil
}

func count(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// hunkOf is the part of a file's diff that ends with the comment's line, ""
// where the line is not in it.
func hunkOf(f *git.DiffFile, c *model.ReviewComment) string {
	if f == nil {
		return ""
	}
	for i := range f.Hunks {
		h := &f.Hunks[i]
		for end := range h.Lines {
			if lineOn(&h.Lines[end], c.Side) != c.Line {
				continue
			}
			from := 0
			if end >= maxHunk {
				from = end - maxHunk + 1
			}
			if from > 0 && c.StartLine > 0 {
				if k := slices.IndexFunc(h.Lines, func(l git.Line) bool { return lineOn(&l, c.Side) == c.StartLine }); k >= 0 {
					from = min(from, max(0, k-around))
				}
			}
			return cutHunk(h, from, end)
		}
	}
	return ""
}

// lineOn is a line's number on a side, 0 where it has none.
func lineOn(l *git.Line, side string) int {
	switch {
	case side == model.SideLeft && l.Kind == git.LineDeleted:
		return l.Old
	case side == model.SideRight && l.Kind != git.LineDeleted:
		return l.New
	case side == model.SideLeft && l.Kind == git.LineContext:
		return l.Old
	}
	return 0
}

func cutHunk(h *git.Hunk, from, end int) string {
	part := git.Hunk{OldStart: h.OldStart, NewStart: h.NewStart, Section: h.Section, Lines: h.Lines[from : end+1]}
	for i := range h.Lines[:from] {
		if h.Lines[i].Kind != git.LineAdded {
			part.OldStart++
		}
		if h.Lines[i].Kind != git.LineDeleted {
			part.NewStart++
		}
	}
	var b strings.Builder
	// The head says how long the whole hunk is, as GitHub's does.
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@", part.OldStart, h.OldLines, part.NewStart, h.NewLines)
	if part.Section != "" {
		b.WriteString(" " + git.DecodeText(part.Section))
	}
	for i := range part.Lines {
		l := &part.Lines[i]
		b.WriteString("\n" + string(rune(l.Kind)) + clip(git.DecodeText(l.Text)))
	}
	return b.String()
}

// clip keeps long lines short.
func clip(s string) string {
	const most = 1000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// plainHunk quotes lines that are not in the diff.
func plainHunk(lines []string, c *model.ReviewComment) string {
	from := c.Line
	if c.StartLine > 0 {
		from = c.StartLine
	}
	from = max(1, from-around, c.Line-maxHunk+1)
	var b strings.Builder
	n := c.Line - from + 1
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@", from, n, from, n)
	for _, l := range lines[from-1 : c.Line] {
		b.WriteString("\n " + clip(git.DecodeText(strings.TrimSuffix(l, "\r"))))
	}
	return b.String()
}
