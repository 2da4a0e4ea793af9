// Package diffs turns git's differences into what views/diffview shows:
// coloured lines, changed words, rows side by side.
package diffs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/highlight"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/views/diffview"
)

// Limits of what one page shows at once; the rest is loaded on demand.
const (
	MaxFiles     = 1_000
	MaxLines     = 4_000
	MaxFileLines = 800
	maxLineBytes = 4_000
	// colourTime is how long a page may wait for files to be coloured; the
	// others are shown plain, and coloured for the next time.
	colourTime = 25 * time.Millisecond
)

// Limit sets a page's limits on a diff.
func Limit(o git.DiffOptions) git.DiffOptions {
	o.MaxFiles, o.MaxLines, o.MaxFileLines, o.MaxLineBytes = MaxFiles, MaxLines, MaxFileLines, maxLineBytes
	return o
}

// Renderer makes the views of diffs. It is safe for concurrent use.
type Renderer struct {
	colours *highlight.Cache
	// later bounds how many pages have files coloured after they were sent.
	later chan struct{}
}

// New returns a renderer that keeps coloured files in cache.
func New(cache *highlight.Cache) *Renderer { return &Renderer{cache, make(chan struct{}, 4)} }

// Page makes the files of one page within a common time for colours.
type Page struct {
	r      *Renderer
	git    *git.Repository
	split  bool
	until  time.Time
	missed []file
}

type file struct {
	name string
	oid  git.OID
}

// Page starts a page of changes in g.
func (r *Renderer) Page(g *git.Repository, split bool) *Page {
	return &Page{r: r, git: g, split: split, until: time.Now().Add(colourTime)}
}

// Close has the files coloured that there was no time for, for the next who
// looks at the page.
func (p *Page) Close(ctx context.Context) {
	if len(p.missed) == 0 {
		return
	}
	select {
	case p.r.later <- struct{}{}:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	go func() {
		defer cancel()
		defer func() { <-p.r.later }()
		for _, f := range p.missed {
			if p.r.colour(ctx, p.git, f) == nil && ctx.Err() != nil {
				return
			}
		}
	}()
}

// ID is the anchor of a file in a diff.
func ID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "diff-" + hex.EncodeToString(sum[:10])
}

// File is one file of the page. Addresses are the caller's to set.
func (p *Page) File(ctx context.Context, f *git.DiffFile) diffview.File {
	out := diffview.File{ID: ID(f.Name()), OldName: git.Display(f.OldName), NewName: git.Display(f.NewName),
		Status: f.Status.String(), Additions: f.Additions, Deletions: f.Deletions, Binary: f.Binary, Note: note(f)}
	var before, after []template.HTML
	if !f.Binary && len(f.Hunks) > 0 {
		before, after = p.lines(ctx, file{f.OldName, f.OldOID}), p.lines(ctx, file{f.NewName, f.NewOID})
	}
	for i := range f.Hunks {
		h := &f.Hunks[i]
		h.MarkWords()
		view := diffview.Hunk{Header: fmt.Sprintf("@@ -%d,%d +%d,%d @@ %s", h.OldStart, h.OldLines, h.NewStart, h.NewLines,
			git.DecodeText(h.Section))}
		for j := range h.Lines {
			view.Lines = append(view.Lines, line(&h.Lines[j], before, after))
		}
		if p.split {
			view.Pairs = pairs(view.Lines)
		}
		out.Hunks = append(out.Hunks, view)
	}
	return out
}

// maxColoured is how large a file may be, in bytes, to be coloured in a diff.
const maxColoured = 256 << 10

// lines are a file's coloured lines; nil where it has none, or no time is
// left.
func (p *Page) lines(ctx context.Context, f file) []template.HTML {
	if f.oid == "" || f.oid.IsZero() {
		return nil
	}
	if known, ok := p.r.colours.Get(f.oid.String(), f.name); ok {
		return known.Lines
	}
	if time.Now().After(p.until) {
		p.missed = append(p.missed, f)
		return nil
	}
	return p.r.colour(ctx, p.git, f)
}

func (r *Renderer) colour(ctx context.Context, g *git.Repository, f file) []template.HTML {
	data, err := g.Blob(ctx, f.oid, maxColoured)
	if err != nil || markup.IsBinary(data) {
		return nil
	}
	coloured, err := r.colours.Lines(ctx, f.oid.String(), f.name, data)
	if err != nil {
		return nil
	}
	return coloured.Lines
}

func line(l *git.Line, before, after []template.HTML) diffview.Line {
	out := diffview.Line{Old: l.Old, New: l.New, NoNewline: l.NoNewline}
	source, n := after, l.New
	switch l.Kind {
	case git.LineAdded:
		out.Kind = diffview.Added
	case git.LineDeleted:
		out.Kind, source, n = diffview.Deleted, before, l.Old
	case git.LineContext:
	}
	text := template.HTML(html.EscapeString(git.DecodeText(l.Text))) //nolint:gosec // escaped
	if !l.Cut && n > 0 && n <= len(source) {
		text = source[n-1]
	}
	if len(l.Marks) > 0 {
		spans := make([]highlight.Span, len(l.Marks))
		for i, m := range l.Marks {
			spans[i] = highlight.Span(m)
		}
		text = highlight.Mark(text, spans, "word")
	}
	out.HTML = string(text)
	if l.Cut {
		out.HTML += ` <span class="nonewline">…</span>`
	}
	return out
}

// pairs puts each run of deleted lines beside the added ones that follow it.
func pairs(lines []diffview.Line) []diffview.Pair {
	var out []diffview.Pair
	for i := 0; i < len(lines); {
		if lines[i].Kind == diffview.Same {
			out = append(out, diffview.Pair{Left: &lines[i], Right: &lines[i]})
			i++
			continue
		}
		del := i
		for i < len(lines) && lines[i].Kind == diffview.Deleted {
			i++
		}
		add := i
		for i < len(lines) && lines[i].Kind == diffview.Added {
			i++
		}
		for j := 0; j < max(add-del, i-add); j++ {
			var p diffview.Pair
			if del+j < add {
				p.Left = &lines[del+j]
			}
			if add+j < i {
				p.Right = &lines[add+j]
			}
			out = append(out, p)
		}
	}
	return out
}

// note says what a diff cannot show in lines.
func note(f *git.DiffFile) string {
	switch {
	case f.IsSubmodule():
		return "Submodule: " + short(f.OldOID) + " → " + short(f.NewOID)
	case f.ModeChanged():
		return "Mode changed: " + f.OldMode.String() + " → " + f.NewMode.String()
	case f.Status == git.StatusRenamed && len(f.Hunks) == 0:
		return "Renamed without changes."
	case len(f.Hunks) == 0 && !f.Binary && f.Status == git.StatusAdded && f.Additions == 0:
		return "An empty file."
	}
	return ""
}

func short(oid git.OID) string {
	if oid == "" {
		return "none"
	}
	return oid.Short()
}

// Excerpt reads a hunk that was kept as text.
func Excerpt(hunk string) []diffview.Line {
	head, rest, ok := strings.Cut(hunk, "\n")
	if !ok {
		return nil
	}
	var before, after, n int
	if k, err := fmt.Sscanf(head, "@@ -%d,%d +%d,", &before, &n, &after); err != nil || k < 3 {
		return nil
	}
	var out []diffview.Line
	for text := range strings.SplitSeq(rest, "\n") {
		if text == "" {
			continue
		}
		l := diffview.Line{HTML: html.EscapeString(text[1:])}
		switch text[0] {
		case '+':
			l.Kind, l.New = diffview.Added, after
			after++
		case '-':
			l.Kind, l.Old = diffview.Deleted, before
			before++
		default:
			l.Old, l.New = before, after
			before++
			after++
		}
		out = append(out, l)
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }
