// Package diffview shows differences between two states of files: unified or
// side by side, for commits, comparisons and pull requests.
package diffview

import (
	"github.com/a-h/templ"
)

// Kinds of lines.
const (
	Same    = ""
	Added   = "add"
	Deleted = "del"
)

// Line is one line of a hunk.
type Line struct {
	Kind     string
	Old, New int    // numbers from 1 on; 0 on the side without it
	HTML     string // safe
	// NoNewline says that the file ends here without a line break.
	NoNewline bool
	// Below is shown under the line, such as a conversation.
	Below templ.Component
}

// Pair is a row of the side-by-side view; a missing side is nil.
type Pair struct{ Left, Right *Line }

// Hunk is a run of changed lines with those around them.
type Hunk struct {
	Header string
	Lines  []Line
	Pairs  []Pair // side by side only
}

// File is a changed file.
type File struct {
	// ID is the anchor of the file; those of lines are built from it.
	ID               string
	OldName, NewName string
	Status           string // added, removed, modified, renamed, …
	Additions        int
	Deletions        int
	Hunks            []Hunk
	Binary           bool
	// Note says what cannot be seen in lines, such as a changed mode.
	Note string
	// NoteLink, when set, is where the note leads.
	NoteLink string
	// Expand, when set, is where the file comes from with all its lines.
	Expand string
	// Load, when set, is where the lines that were left out come from.
	Load string
	// Before and After are the addresses of an image's two states.
	Before, After string
	// View is the page of the whole file after the change.
	View string
	// Folded shows the head only until it is opened.
	Folded bool
	// Controls are at the right of the file's head, such as a viewed mark.
	Controls templ.Component
	// Top is shown between head and lines, such as comments on the file.
	Top templ.Component
	// Comment, when set, is the id of a form that starts a comment; each line
	// has a button of it with the value R12 or L12 under the name at.
	Comment string
	// OneSided starts comments on lines after the change only.
	OneSided bool
}

// Props is a list of changed files.
type Props struct {
	Files     []File
	Split     bool
	Additions int
	Deletions int
	// Unified and SideBySide are the addresses of the two views, and
	// Whitespace that of the one with blanks left out (or shown again).
	Unified, SideBySide, Whitespace string
	NoWhitespace                    bool
	// LineEnds, when set, is the address of the view without changes of line
	// ends (or with them again).
	LineEnds   string
	NoLineEnds bool
	// More is the number of files that are not listed.
	More int
}
