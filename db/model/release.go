package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Standings of a release among those that could be the latest.
const (
	NeverLatest  = -1
	MaybeLatest  = 0
	MarkedLatest = 1
)

// Release is a tag with notes and files.
type Release struct {
	bun.BaseModel `bun:"table:?scope.releases,alias:rel"`

	ID  int64  `bun:"id,pk"`
	Tag string `bun:"tag"`
	// Target is the branch or commit that the tag is made of when it does not
	// exist at publication; "" for the default branch.
	Target string `bun:"target"`
	// CommitSHA is what the tag led to when it was last looked at, "" for
	// drafts.
	CommitSHA  string `bun:"commit_sha"`
	Name       string `bun:"name"`
	Body       string `bun:"body"`
	Draft      bool   `bun:"draft"`
	Prerelease bool   `bun:"prerelease"`
	// Immutable releases keep their tag and files for good.
	Immutable bool  `bun:"immutable"`
	Latest    int   `bun:"latest"`
	AuthorID  int64 `bun:"author_id"`
	// Version grows with each edit.
	Version     int        `bun:"version"`
	CreatedAt   time.Time  `bun:"created_at"`
	PublishedAt *time.Time `bun:"published_at"`
	UpdatedAt   time.Time  `bun:"updated_at"`

	// Assets are its files, in the order of their names, where they were
	// read.
	Assets []*ReleaseAsset `bun:"-"`
}

// Title is the name, or the tag where it has none.
func (r *Release) Title() string {
	if r.Name != "" {
		return r.Name
	}
	return r.Tag
}

// Since is when the release was published, or made while it is a draft.
func (r *Release) Since() time.Time {
	if r.PublishedAt != nil {
		return *r.PublishedAt
	}
	return r.CreatedAt
}

// ReleaseAsset is a file of a release.
type ReleaseAsset struct {
	bun.BaseModel `bun:"table:?scope.release_assets,alias:ra"`

	ID          int64     `bun:"id,pk"`
	ReleaseID   int64     `bun:"release_id"`
	Name        string    `bun:"name"`
	Label       string    `bun:"label"`
	ContentType string    `bun:"content_type"`
	Size        int64     `bun:"size"` // bytes
	SHA256      string    `bun:"sha256"`
	UploaderID  int64     `bun:"uploader_id"`
	Downloads   int64     `bun:"downloads"`
	CreatedAt   time.Time `bun:"created_at"`
	UpdatedAt   time.Time `bun:"updated_at"`
}
