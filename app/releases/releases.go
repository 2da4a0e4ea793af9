// Package releases is releases: tags with notes and files.
//
//	releases.go   Service, Find, the events
//	write.go      Create, Edit, Delete; latest.go which one is the latest
//	tag.go        the tag of a release, and what pushes do to it
//	notes.go      notes made of the merged pull requests
//	asset.go      files
//	http*.go      pages below /{owner}/{repo}/releases
//	api*.go       GitHub's REST endpoints
//
// Tables: the domain "releases" of a repository's scope. Events: release.*.
// Views: views/releaseview.
package releases

import (
	"context"
	"strconv"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/releasedb"
)

// Deps are what releases are built on.
type Deps struct {
	DB      *db.DB
	Gate    *perms.Gate
	Repos   *repos.Service
	Threads *threads.Service
	Blobs   *blob.Stores
	// URL is the public address, for links in notes.
	URL string
}

// Service is releases.
type Service struct{ Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps} }

// Event is the data of the events about releases.
type Event struct {
	// Type is release. and created, published, edited, unpublished or
	// deleted; a file that came or went is release.edited with its name.
	Type string `json:"-"`

	ID         int64  `json:"id"`
	Tag        string `json:"tag"`
	Name       string `json:"name"`
	Draft      bool   `json:"draft"`
	Prerelease bool   `json:"prerelease"`
	Commit     string `json:"commit,omitempty"`
	AuthorID   int64  `json:"authorId"`
	// AddedAsset and RemovedAsset name a file.
	AddedAsset   string `json:"addedAsset,omitempty"`
	RemovedAsset string `json:"removedAsset,omitempty"`
}

// EventType is the event's type.
func (e Event) EventType() string { return e.Type }

// Payloads are the events that releases publish.
func Payloads() []events.Payload {
	var out []events.Payload
	for _, what := range []string{"created", "published", "edited", "unpublished", "deleted"} {
		out = append(out, Event{Type: "release." + what})
	}
	return out
}

func eventOf(r *model.Release, what string) Event {
	return Event{Type: "release." + what, ID: r.ID, Tag: r.Tag, Name: r.Name, Draft: r.Draft, Prerelease: r.Prerelease,
		Commit: r.CommitSHA, AuthorID: r.AuthorID}
}

func emit(ctx context.Context, tx *db.RepoTx, viewer *model.Viewer, repo *model.Repo, e Event) error {
	return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, e)
}

// counter is the repository's counter of published releases, which its tab
// shows.
const counter = "open_releases"

func counted(r *model.Release) int64 {
	if r.Draft {
		return 0
	}
	return 1
}

// mayWrite says whether somebody of this role makes releases and sees drafts.
func mayWrite(repo *model.Repo, role model.Role) bool {
	return role.AtLeast(model.RoleWrite) && !repo.Archived()
}

// sees says whether somebody of this role sees the release.
func sees(r *model.Release, role model.Role) bool { return !r.Draft || role.AtLeast(model.RoleWrite) }

// Find returns a release with its files, if somebody of this role may see it;
// db.ErrNotFound otherwise.
func (s *Service) Find(ctx context.Context, repo *model.Repo, role model.Role, id int64) (*model.Release, error) {
	r, err := releasedb.Find(ctx, s.DB.Repo(repo.ID), id)
	if err == nil && !sees(r, role) {
		return nil, db.ErrNotFound
	}
	return s.with(ctx, repo, r, err)
}

// ByTag returns the published release of a tag with its files.
func (s *Service) ByTag(ctx context.Context, repo *model.Repo, tag string) (*model.Release, error) {
	r, err := releasedb.ByTag(ctx, s.DB.Repo(repo.ID), tag)
	return s.with(ctx, repo, r, err)
}

// Latest returns the latest release with its files.
func (s *Service) Latest(ctx context.Context, repo *model.Repo) (*model.Release, error) {
	r, err := releasedb.Latest(ctx, s.DB.Repo(repo.ID))
	return s.with(ctx, repo, r, err)
}

func (s *Service) with(ctx context.Context, repo *model.Repo, r *model.Release, err error) (*model.Release, error) {
	if err != nil {
		return nil, err
	}
	return r, releasedb.LoadAssets(ctx, s.DB.Repo(repo.ID), r)
}

func denied(sentence string) error { return fault.New(fault.Forbidden, sentence) }

func num(n int64) string { return strconv.FormatInt(n, 10) }
