package diffs

import (
	"strings"

	"github.com/gitfor/gitfor/app/git"
)

// Split is a file's text by lines, as diffs count them.
func Split(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// Widen adds unchanged lines to a file's diff: those of after, the text after
// the change, whose numbers want says yes to.
func Widen(f *git.DiffFile, after []string, want func(line int) bool) {
	w := widening{after: after, want: want, file: f, oldNext: 1, newNext: 1}
	for i := range f.Hunks {
		h := &f.Hunks[i]
		end := h.NewStart - 1
		if h.NewLines == 0 {
			end = h.NewStart // the line before the deletion
		}
		w.gap(end)
		w.section = h.Section
		for _, l := range h.Lines {
			w.add(l)
		}
		w.section = ""
	}
	w.gap(len(after))
	f.Hunks = w.out
}

type widening struct {
	file             *git.DiffFile
	after            []string
	want             func(int) bool
	out              []git.Hunk
	section          string
	oldNext, newNext int // of the file
	oldSeen, newSeen int // after the last line that is shown
}

// gap passes over unchanged lines up to a line of the text after the change.
func (w *widening) gap(end int) {
	for ; w.newNext <= end && w.newNext <= len(w.after); w.newNext, w.oldNext = w.newNext+1, w.oldNext+1 {
		if w.want(w.newNext) {
			w.put(git.Line{Kind: git.LineContext, Old: w.oldNext, New: w.newNext, Text: w.after[w.newNext-1]})
		}
	}
}

func (w *widening) add(l git.Line) {
	w.put(l)
	if l.Old > 0 {
		w.oldNext = l.Old + 1
	}
	if l.New > 0 {
		w.newNext = l.New + 1
	}
}

// put shows a line, in the hunk before where it follows on that.
func (w *widening) put(l git.Line) {
	old, now := w.oldNext, w.newNext
	if len(w.out) == 0 || w.oldSeen != old || w.newSeen != now {
		w.out = append(w.out, git.Hunk{OldStart: old, NewStart: now, Section: w.section})
		w.oldSeen, w.newSeen = old, now
	}
	h := &w.out[len(w.out)-1]
	h.Lines = append(h.Lines, l)
	if l.Kind != git.LineAdded {
		h.OldLines++
		w.oldSeen++
	}
	if l.Kind != git.LineDeleted {
		h.NewLines++
		w.newSeen++
	}
}
