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
	// Moved, when set, says where the line came from or went.
	Moved string
}

// Pair is a row of the side-by-side view; a missing side is nil.
type Pair struct{ Left, Right *Line }

// Hunk is a run of changed lines with those around them.
type Hunk struct {
	Header string
	Lines  []Line
	Pairs  []Pair // side by side only
	// Gap is how many unchanged lines before the hunk are not shown; Up shows
	// the last of them, Down the first.
	Gap      int
	Up, Down string
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
	// Load, when set, is where the lines that were left out come from; Partly
	// says that some are shown.
	Load   string
	Partly bool
	// End, when set, shows the unchanged lines after the last hunk.
	End string
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
	// Tree, when set, is the list of all files. Total is how many there are,
	// Next where those after the listed ones come from, Before those before.
	Tree         *TreeProps
	Total        int
	Next, Before string
}

// TreeProps are the list of all changed files.
type TreeProps struct {
	Entries []TreeEntry
	Total   int
	// Later is where the entries come from that are not loaded yet.
	Later string
}

// TreeEntry is a changed file in the list of all.
type TreeEntry struct {
	// Folder is set on the first file of another folder.
	Folder     string
	Name, Path string
	Href       string
	Status     string
	Additions  int
	Deletions  int
	Comments   int
	Viewed     bool
}

func (p Props) total() int {
	if p.Total > 0 {
		return p.Total
	}
	return len(p.Files) + p.More
}
