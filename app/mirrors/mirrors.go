// Package mirrors copies repositories from and to elsewhere with git: imports
// once, pull mirrors that follow another repository, push mirrors that are kept
// like this one.
//
//	mirrors.go  Service; Import, AddPush, Remove, RunNow
//	run.go      one run, beside the job that asked for it
//	copy.go     what git does in a run, and how errors are told
//	jobs.go     the job; reacting to pushes
//	mail_warn.go  telling the owners of a mirror that keeps failing
//	http.go     /new/import, its progress, and the settings page
//	api.go      GitHub's endpoints of source imports
//
// git reaches the network only through the guarded proxy, over https (and http
// to hosts that the operator named), without redirects. Passwords are sealed.
// Table: the domain "mirror" of a repository's scope. Views: views/mirrorview.
package mirrors

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/app/outbound"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/mirrordb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/riverqueue/river"
)

// Deps are what the service needs.
type Deps struct {
	DB    *db.DB
	Gate  *perms.Gate
	Repos *repos.Service
	Ring  *secret.Ring
	Guard *outbound.Guard
	Mail  *mail.Service
	// URL is the public address.
	URL string
	Log *slog.Logger
}

// Service copies repositories.
type Service struct {
	Deps
	proxy *outbound.Proxy
	slots chan struct{}

	mu      sync.Mutex
	running map[key]context.CancelFunc
	stopped bool
	wg      sync.WaitGroup
}

// key names a mirror on the instance.
type key struct{ repo, id int64 }

// atOnce is how many copies run in one process.
const atOnce = 3

// New makes the service.
func New(deps Deps) *Service {
	return &Service{Deps: deps, proxy: outbound.NewProxy(deps.Guard), slots: make(chan struct{}, atOnce), running: map[key]context.CancelFunc{}}
}

// Start opens the way out.
func (s *Service) Start(ctx context.Context) error { return s.proxy.Start(ctx) }

// Stop ends what runs; it is taken up again by its job.
func (s *Service) Stop(ctx context.Context) error {
	s.mu.Lock()
	s.stopped = true
	for _, cancel := range s.running {
		cancel()
	}
	s.mu.Unlock()
	s.wg.Wait()
	return s.proxy.Stop(ctx)
}

// Input says where a repository is elsewhere.
type Input struct {
	URL      string `form:"url" json:"vcs_url"`
	Username string `form:"username" json:"vcs_username"`
	Password string `form:"password" json:"vcs_password"`
}

// maxMirrors bounds the mirrors of a repository.
const maxMirrors = 10

// check cleans the input; a user and password in the address go to their
// fields.
func (s *Service) check(ctx context.Context, in *Input) fault.Fields {
	f := fault.Fields{}
	in.URL = strings.TrimSpace(in.URL)
	u, err := url.Parse(in.URL)
	if err != nil || in.URL == "" || !utf8.ValidString(in.URL) {
		f.Add("url", "Give the address that you would clone, such as https://example.com/them/project.git.")
		return f
	}
	if u.User != nil {
		if in.Username == "" {
			in.Username = u.User.Username()
		}
		if p, ok := u.User.Password(); ok && in.Password == "" {
			in.Password = p
		}
		u.User = nil
		in.URL = u.String()
	}
	if len(in.Username) > 200 || len(in.Password) > 2000 || strings.ContainsAny(in.Username, ":\r\n\x00") || strings.ContainsAny(in.Password, "\r\n\x00") {
		f.Add("username", "That cannot be a user name and password.")
	}
	switch {
	case outbound.CheckURL(in.URL) != nil:
		f.Add("url", "Only https addresses can be reached; for others, clone it and push it here.")
	case u.Scheme == "http" && !s.Guard.Named(ctx, u.Hostname()):
		f.Add("url", "Only https addresses can be reached, unless the operator has allowed the host.")
	case u.RawQuery != "" || u.Fragment != "":
		f.Add("url", "The address of a repository has no ? or #.")
	}
	return f
}

func sealFor(repo, id int64) string {
	return "mirror " + strconv.FormatInt(repo, 10) + " " + strconv.FormatInt(id, 10)
}

// add writes a mirror and asks for its first run.
func (s *Service) add(ctx context.Context, viewer *model.Viewer, repo *model.Repo, m *model.Mirror, password string) error {
	m.AccountID, m.State = viewer.ID(), model.MirrorWaiting
	return s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		if m.ID, err = tx.NextID(ctx); err != nil {
			return err
		}
		m.Secret = nil
		if password != "" {
			m.Secret = s.Ring.Seal(sealFor(repo.ID, m.ID), []byte(password))
		}
		if err := mirrordb.Insert(ctx, tx, m); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "mirror.create", Actor: viewer, Repo: repo, Target: m.URL,
			After: audit.Facts{"kind": m.Kind}}); err != nil {
			return err
		}
		return tx.Enqueue(ctx, RunArgs{repo.ID, m.ID}, nil)
	})
}

// ImportInput describes an import into a new repository.
type ImportInput struct {
	Input
	Owner      string `form:"owner"`
	Name       string `form:"name"`
	Visibility string `form:"visibility"`
	// Every makes it a pull mirror that follows every so many minutes; 0 is
	// once.
	Every int `form:"every"`
}

// validEvery says whether a mirror may follow every n minutes; 0 is once.
func validEvery(n int) bool { return n == 0 || n == 10 || n == 60 || n == 1440 }

// Import makes a repository and begins to fill it from elsewhere.
func (s *Service) Import(ctx context.Context, viewer *model.Viewer, in ImportInput) (*model.Repo, error) {
	f := s.check(ctx, &in.Input)
	if !validEvery(in.Every) {
		f.Add("every", "Choose how often it follows.")
	}
	if in.Name == "" {
		f.Add("name", "Give the repository a name.")
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	repo, err := s.Repos.Create(ctx, viewer, repos.CreateInput{Owner: in.Owner, Name: in.Name, Visibility: in.Visibility})
	if err != nil {
		return nil, err
	}
	m := &model.Mirror{Kind: model.MirrorImport, URL: in.URL, Username: in.Username, Every: in.Every}
	if in.Every > 0 {
		m.Kind = model.MirrorPull
		if err := s.mark(ctx, repo, true); err != nil {
			return nil, err
		}
	}
	return repo, s.add(ctx, viewer, repo, m, in.Password)
}

// mark says in the directory whether a repository follows another.
func (s *Service) mark(ctx context.Context, repo *model.Repo, mirror bool) error {
	repo.Mirror = mirror
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return repodb.Update(ctx, tx, repo, "mirror")
	})
}

// ImportInto fills an empty repository from elsewhere.
func (s *Service) ImportInto(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in Input) (*model.Mirror, error) {
	if err := s.check(ctx, &in).Err(); err != nil {
		return nil, err
	}
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return nil, err
	}
	branches, err := g.Branches(ctx)
	if err != nil {
		return nil, err
	}
	if len(branches) > 0 {
		return nil, fault.New(fault.Conflict, "Only an empty repository can be filled by an import.")
	}
	m := &model.Mirror{Kind: model.MirrorImport, URL: in.URL, Username: in.Username}
	return m, s.add(ctx, viewer, repo, m, in.Password)
}

// AddPush keeps a repository elsewhere like this one: all its branches and
// tags, after each push here.
func (s *Service) AddPush(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in Input) (*model.Mirror, error) {
	if err := s.check(ctx, &in).Err(); err != nil {
		return nil, err
	}
	have, err := s.List(ctx, repo)
	if err != nil {
		return nil, err
	}
	if len(have) >= maxMirrors {
		return nil, fault.New(fault.Conflict, "A repository has at most 10 mirrors. Remove one first.")
	}
	for _, m := range have {
		if m.Kind == model.MirrorPush && m.URL == in.URL {
			return nil, fault.Field("url", "This repository is copied there already.")
		}
	}
	m := &model.Mirror{Kind: model.MirrorPush, URL: in.URL, Username: in.Username}
	return m, s.add(ctx, viewer, repo, m, in.Password)
}

// List returns a repository's mirrors.
func (s *Service) List(ctx context.Context, repo *model.Repo) ([]*model.Mirror, error) {
	return mirrordb.List(ctx, s.DB.Repo(repo.ID))
}

// Remove ends a mirror: what runs is cut, and what was copied stays.
func (s *Service) Remove(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64) error {
	m, err := mirrordb.Find(ctx, s.DB.Repo(repo.ID), id)
	if err != nil {
		return err
	}
	err = s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if err := mirrordb.Delete(ctx, tx, id); err != nil {
			return err
		}
		return audit.Record(ctx, tx, audit.Entry{Action: "mirror.delete", Actor: viewer, Repo: repo, Target: m.URL})
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	if cancel := s.running[key{repo.ID, id}]; cancel != nil {
		cancel()
	}
	s.mu.Unlock()
	if m.Kind == model.MirrorPull {
		return s.mark(ctx, repo, false)
	}
	return nil
}

// RunNow asks for a run; one that is under way is followed by another.
func (s *Service) RunNow(ctx context.Context, repoID, id int64) error {
	return s.DB.InRepo(ctx, repoID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := tx.Write(ctx, mirrordb.Domain); err != nil {
			return err
		}
		m, err := mirrordb.Find(ctx, tx.Repo, id)
		if err != nil {
			return err
		}
		return ask(ctx, tx, m)
	})
}

func ask(ctx context.Context, tx *db.RepoTx, m *model.Mirror) error {
	switch m.State {
	case model.MirrorWaiting:
		return nil
	case model.MirrorRunning:
		m.Again = true
		return mirrordb.Update(ctx, tx, m, "again")
	}
	m.State = model.MirrorWaiting
	if err := mirrordb.Update(ctx, tx, m, "state"); err != nil {
		return err
	}
	return tx.Enqueue(ctx, RunArgs{tx.ID(), m.ID}, &river.InsertOpts{})
}

// CheckWrite refuses to move the refs of a repository that follows another.
func (s *Service) CheckWrite(repo *model.Repo) error {
	if repo.Mirror {
		return errMirror
	}
	return nil
}

var errMirror = fault.New(fault.Forbidden, "This repository follows another one, so it is read-only here. Stop following in its settings first.")

// gone says that a mirror or its repository is not there any more.
func gone(err error) bool { return errors.Is(err, db.ErrNotFound) }
