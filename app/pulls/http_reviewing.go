package pulls

import (
	"context"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/diffview"
	"github.com/gitfor/gitfor/views/pullview"
	"github.com/gitfor/gitfor/views/threadview"
)

// ReviewPages is how reviews show themselves on the pages of pull requests.
type ReviewPages interface {
	Reviewing
	// Entries puts reviews in the place of their lines in a timeline.
	Entries(c *web.Ctx, pull *model.Pull, v *threads.View, entries []threadview.Entry) error
	// Files prepares the conversations of a page of changed files.
	Files(c *web.Ctx, pull *model.Pull, g *git.Repository, at Sides) (FilesReview, error)
}

// FilesReview is what reviews add to a page of changed files.
type FilesReview interface {
	// Extend adds lines to a file's diff that comments stand on.
	Extend(ctx context.Context, f *git.DiffFile) error
	// Decorate adds conversations and controls to a file.
	Decorate(f *git.DiffFile, v *diffview.File)
	// Sum is told of all files, shown or not.
	Sum(all []git.DiffFile)
	// Marks is how many conversations a file has, and whether the viewer has
	// looked at it.
	Marks(f *git.DiffFile) (comments int, viewed bool)
	// Finish adds what belongs to the whole page.
	Finish(p *pullview.FilesProps)
}

// Sides are the two states that a page of changed files compares.
type Sides struct {
	Base, Head git.OID
	// Round and From are the rounds that they belong to; From is 0 for the
	// whole change.
	Round, From int
}

// Found is the pull request of the request's address, brought up to date.
func (s *Service) Found(c *web.Ctx) (*model.Pull, *git.Repository, error) { return s.found(c) }

// Here is where a request acts, and who.
func Here(c *web.Ctx) Place { return place(c) }

// Resource names in GitHub's error answers what a fault is about.
func Resource(err error) error { return resource(err) }
