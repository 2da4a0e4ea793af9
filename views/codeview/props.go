// Package codeview shows the contents of repositories: folders, files,
// commits, branches and tags.
package codeview

import (
	"html/template"
	"sort"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/diffview"
	"github.com/gitfor/gitfor/views/ui"
)

// CommitLine is a commit in a list.
type CommitLine struct {
	OID, Short, Title, Body string
	Author, Committer       string
	Account                 *model.Account // the author's, or nil
	CoAuthors               []string
	When, Authored          time.Time
	Signed                  *Signed // nil without a signature
	Href                    string
	// Checks is what the checks of the commit came to, nil when there are
	// none; ChecksWhy says it in a sentence.
	Checks    *ui.State
	ChecksWhy string
}

// Signed is what is known of a commit's signature.
type Signed struct {
	Verified bool
	// Why says it in a sentence.
	Why string
}

// RefLink is a branch or tag in the menu.
type RefLink struct {
	Name, Href string
	Current    bool
}

// Head is at the top of the pages of a revision.
type Head struct {
	Repo                  *model.Repo
	Ref, RefIcon          string
	Path                  string
	Branches, Tags        []RefLink
	BranchCount, TagCount int
	Crumbs                []ui.Tab
	// Search finds branches and tags by what is typed (?q=); NewBranch is the
	// form that makes one here.
	Search, NewBranch string
	CanPush           bool
}

// Entry is a row of a folder.
type Entry struct {
	Key              string // the name in raw bytes
	Last             *CommitLine
	Name, Href, Icon string
	Kind             string // read out, and shown when the pointer rests on the icon
	Target           string // of a symbolic link, or the commit of a submodule
}

// Readme is the file that describes a folder: HTML, or plain Text.
type Readme struct {
	Name, Href string
	HTML, Text string
}

// Folder is what is in a folder.
type Folder struct {
	Entries []Entry
	Total   int
	Readme  *Readme
	// Later, when set, is where the list comes from with the last commit of
	// each entry.
	Later string
}

// FolderProps is the page of a folder, and with About the repository's home.
type FolderProps struct {
	Head    Head
	Folder  Folder
	Latest  CommitLine
	History string
	Up      string
	About   *About
	// Find goes to a file by its name; NewFile and Upload are set for those
	// who may write.
	Find, NewFile, Upload string
	// Pushed, when set, is a branch that the viewer pushed a moment ago.
	Pushed *PushedBranch
	// Upstream, when set, is what a fork was made from.
	Upstream *Upstream
}

// Upstream tells how a branch of a fork stands to its source.
type Upstream struct {
	FullName, Href string
	// Counted says that the source has the branch; the rest is set then.
	Counted       bool
	Ahead, Behind int
	Branch, Ref   string // Ref is percent-encoded
	CanSync       bool
	Compare       string
}

// ForkProps is the form that makes a fork.
type ForkProps struct {
	Repo                     *model.Repo
	Owner, Name, Description string
	Owners                   []ui.Option
	DefaultOnly              bool
	Have                     *model.Repo // the viewer's own fork, nil for none
	Errors                   ui.Errors
}

// ForksProps lists forks.
type ForksProps struct {
	Repo         *model.Repo
	Forks        []*model.Repo
	Newer, Older string
}

// PushedBranch is a branch that could become a pull request.
type PushedBranch struct {
	Name, Compare string
	When          time.Time
}

// Clone are the addresses of the clone box.
type Clone struct{ HTTPS, SSH string }

// Language is a language's share of the code.
type Language struct {
	Name  string
	Color string
	Bytes int64
	Part  float64
}

// SortLanguages puts the most used first.
func SortLanguages(l []Language) {
	sort.Slice(l, func(i, j int) bool {
		if l[i].Bytes != l[j].Bytes {
			return l[i].Bytes > l[j].Bytes
		}
		return l[i].Name < l[j].Name
	})
}

// About is the side of a repository's home.
type About struct {
	Repo      *model.Repo
	Clone     Clone
	Zip       string
	CanEdit   bool
	Languages []Language
	// Licence is the page of the licence's file, "" where it is not known.
	Licence string
	// Latest is the latest release, nil where there is none.
	Latest *model.Release
}

// StandingProps are the buttons that star, watch and fork.
type StandingProps struct {
	Repo     *model.Repo
	Standing model.Standing
	SignedIn bool
}

// FansProps lists who starred or watches a repository.
type FansProps struct {
	Repo         *model.Repo
	Title        string
	People       []*model.Account
	Newer, Older string
}

// BlameProps is a file with who last changed each line.
type BlameProps struct {
	Head               Head
	Name               string
	File, Raw, History string
	// IgnoreFile is the page of the file that names commits to look through,
	// "" where there is none; All looks at them too.
	IgnoreFile string
	All        bool
	// Partial says that time was up before every line was found.
	Partial bool
	Blocks  []BlameBlock
}

// BlameBlock is lines that follow each other and that one commit wrote; nil
// where it was not found.
type BlameBlock struct {
	Commit *CommitLine
	First  int
	Lines  []template.HTML
	Heat   int    // 0, the oldest, to 4
	Before string // blame of the file before the commit, "" where it begins
}

// FindProps is the search for a file by parts of its name.
type FindProps struct {
	Head               Head
	Query, Action, Ref string
	Files              []RefLink
	Total              int
	Partial            bool
}

// BranchFormProps are the forms that make and rename branches.
type BranchFormProps struct {
	Repo *model.Repo
	Name string
	// From and Ref are percent-encoded; FromShown is what people see.
	From, Ref, FromShown string
	Default              bool
	Errors               ui.Errors
}

// EmptyProps is the home of a repository without commits.
type EmptyProps struct {
	Repo              *model.Repo
	Clone             Clone
	CanPush, SignedIn bool
}

// The ways to show a file.
const (
	ShowText     = ""
	ShowRendered = "rendered"
	ShowImage    = "image"
	ShowPDF      = "pdf"
	ShowBinary   = "binary"
	ShowMissing  = "missing"
	ShowTooLarge = "too-large"
)

// FileProps is the page of a file.
type FileProps struct {
	Head                           Head
	Name                           string
	Raw, History, Blame, Permalink string
	Edit, Delete                   string
	Size                           int64
	Show                           string
	HTML                           string
	HasPlain, Plain                bool
	Lines                          []template.HTML
	Language                       string
	Invalid, CRLF, Hidden          bool
	Symlink, Executable            bool
	// Large says that git has a pointer only, and the content is in large
	// file storage; LockedBy names who alone may change the file.
	Large    bool
	LockedBy string
}

// Day is the commits of one day, at their committers' places.
type Day struct {
	Date    time.Time
	Commits []CommitLine
}

// ByDay groups commits that follow each other on the same day.
func ByDay(lines []CommitLine) []Day {
	var days []Day
	for _, l := range lines {
		y, m, d := l.When.Date()
		date := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		if len(days) == 0 || !days[len(days)-1].Date.Equal(date) {
			days = append(days, Day{Date: date})
		}
		last := &days[len(days)-1]
		last.Commits = append(last.Commits, l)
	}
	return days
}

// CommitsProps is a page of history.
type CommitsProps struct {
	Head         Head
	Days         []Day
	Trees        []string
	Page         int
	Author       string
	Newer, Older string
}

// RefRow is a branch or tag in its list.
type RefRow struct {
	Name, Href, Zip, Tar string
	Ref                  string // the full name, percent-encoded
	Compare              string
	Commit               CommitLine
	Branch, Default      bool
	Protected            bool
	Ahead, Behind        int
	// Message, Tagger and Tagged are an annotated tag's.
	Message, Tagger string
	Tagged          time.Time
	// Release is the title of the release of a tag, "" where it has none.
	Release string
}

// RefsProps is the page of branches or of tags.
type RefsProps struct {
	Repo         *model.Repo
	Title, Query string
	Rows         []RefRow
	Total        int
	Page, Pages  int
	Newer, Older string
	CanPush      bool
}

// CommitProps is the page of a commit.
type CommitProps struct {
	Repo    *model.Repo
	Commit  CommitLine
	Body    string // HTML
	Parents []RefLink
	Tree    string
	Raw     string
	Diff    diffview.Props
}

// CompareProps is a comparison of two revisions.
type CompareProps struct {
	Repo       *model.Repo
	Base, Head string
	Dots       string
	Commits    []CommitLine
	Diff       diffview.Props
	// Related says that the two have a common ancestor.
	Related       bool
	Ahead, Behind int
	Patch, Swap   string
	Bases, Heads  []RefLink
	// Open, when set, is the form for a pull request.
	Open templ.Component
}

// Contributor is somebody who wrote commits.
type Contributor struct {
	Account     *model.Account // nil where no account has the address
	Name        string
	Commits     int
	First, Last time.Time
	Part        float64 // of what the most active wrote
	History     string
}

// PeopleProps is the page of those who wrote the commits.
type PeopleProps struct {
	Repo   *model.Repo
	People []Contributor
	More   int
}

// EditProps are the forms that write files: the editor, a new file, deletion
// and upload.
type EditProps struct {
	Repo                    *model.Repo
	Title, Branch           string
	Action, Cancel, Summary string
	New                     bool
	Path, Content           string
	Message, Detail         string
	Target, NewBranch       string
	Blob, Commit            string
	// Protected says that the branch takes no direct commits.
	Protected bool
	// Collision is a path that differs from the new one in case only.
	Collision string
	// Count is how many files a folder holds that is to be deleted.
	Count    string
	Conflict *Conflict
	Errors   ui.Errors
}

// Conflict is what others did to a file while it was edited.
type Conflict struct {
	Path    string
	Gone    bool
	Compare string
	Files   []diffview.File
}
