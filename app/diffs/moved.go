package diffs

import (
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/views/diffview"
)

// Moved are lines that were deleted in one place and added in another, with
// where the others are.
type Moved map[lineKey]string

// lineKey is a line of one side of a file, by its name after the change.
type lineKey struct {
	file string
	kind git.LineKind
	line int
}

const (
	// movedLines is how many lines a block has at least to be taken for moved,
	// and movedChars how many letters and digits.
	movedLines = 3
	movedChars = 20
	// movedSame bounds how many places a line is looked for.
	movedSame = 50
)

type deleted struct {
	file *git.DiffFile
	line *git.Line
	next int // index in the list of the line that follows, -1 for none
}

// FindMoved finds blocks of lines that moved, within the files that are given.
// White space at the ends of lines plays no part.
func FindMoved(files []git.DiffFile) Moved {
	var gone []deleted
	byText := map[string][]int{}
	for i := range files {
		f := &files[i]
		for k := range f.Hunks {
			for j := range f.Hunks[k].Lines {
				l := &f.Hunks[k].Lines[j]
				if l.Kind != git.LineDeleted || l.Cut {
					continue
				}
				if n := len(gone) - 1; n >= 0 && gone[n].file == f && gone[n].line.Old+1 == l.Old {
					gone[n].next = len(gone)
				}
				text := strings.TrimSpace(l.Text)
				byText[text] = append(byText[text], len(gone))
				gone = append(gone, deleted{f, l, -1})
			}
		}
	}
	out := Moved{}
	if len(gone) == 0 {
		return out
	}
	for i := range files {
		for k := range files[i].Hunks {
			out.match(&files[i], files[i].Hunks[k].Lines, gone, byText)
		}
	}
	return out
}

// match finds the blocks of deleted lines that were added in a hunk.
func (m Moved) match(f *git.DiffFile, lines []git.Line, gone []deleted, byText map[string][]int) {
	for i := 0; i < len(lines); {
		if lines[i].Kind != git.LineAdded || lines[i].Cut {
			i++
			continue
		}
		best, at := 0, -1
		places := byText[strings.TrimSpace(lines[i].Text)]
		if len(places) > movedSame || strings.TrimSpace(lines[i].Text) == "" {
			places = nil
		}
		for _, g := range places {
			n := 0
			for k := g; k >= 0 && i+n < len(lines) && lines[i+n].Kind == git.LineAdded &&
				strings.TrimSpace(gone[k].line.Text) == strings.TrimSpace(lines[i+n].Text); k = gone[k].next {
				n++
			}
			if n > best {
				best, at = n, g
			}
		}
		if best < movedLines || letters(lines[i:i+best]) < movedChars {
			i++
			continue
		}
		k := at
		for n := range best {
			l := &lines[i+n]
			m[lineKey{f.NewName, git.LineAdded, l.New}] = "Moved from " + git.Display(gone[k].file.OldName) + ", line " + itoa(gone[k].line.Old)
			m[lineKey{gone[k].file.NewName, git.LineDeleted, gone[k].line.Old}] = "Moved to " + git.Display(f.NewName) + ", line " + itoa(l.New)
			k = gone[k].next
		}
		i += best
	}
}

func letters(lines []git.Line) int {
	n := 0
	for i := range lines {
		for _, r := range lines[i].Text {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 127 {
				n++
			}
		}
	}
	return n
}

// Mark notes which lines of a file's view moved.
func (m Moved) Mark(f *git.DiffFile, v *diffview.File) {
	if len(m) == 0 {
		return
	}
	for i := range v.Hunks {
		for k := range v.Hunks[i].Lines {
			l := &v.Hunks[i].Lines[k]
			switch l.Kind {
			case diffview.Added:
				l.Moved = m[lineKey{f.NewName, git.LineAdded, l.New}]
			case diffview.Deleted:
				l.Moved = m[lineKey{f.NewName, git.LineDeleted, l.Old}]
			}
		}
	}
}
