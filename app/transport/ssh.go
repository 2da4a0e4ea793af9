package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git/protocol"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"golang.org/x/crypto/ssh"
)

// SSH serves git over SSH at one address; it is a background service.
type SSH struct {
	git    *Service
	addr   string
	server *protocol.SSHServer
	done   chan struct{}
	cancel context.CancelFunc
}

// NewSSH makes the SSH side of s at an address such as 127.0.0.1:2222.
func (s *Service) NewSSH(addr string) (*SSH, error) {
	keys, err := protocol.HostKeys(filepath.Join(s.Folder, "ssh"))
	if err != nil {
		return nil, fmt.Errorf("ssh host keys: %w", err)
	}
	x := &SSH{git: s, addr: addr, done: make(chan struct{})}
	x.server = &protocol.SSHServer{HostKeys: keys, Authenticate: x.authenticate, Serve: x.serve, Greeting: greeting, Log: s.Log}
	return x, nil
}

// Start listens. The error names the address and what to do.
func (x *SSH) Start(ctx context.Context) error {
	ln, err := net.Listen("tcp", x.addr)
	if err != nil {
		return fmt.Errorf("ssh: listen on %s: %w (choose --ssh-listen, or off)", x.addr, err)
	}
	ctx, x.cancel = context.WithCancel(ctx)
	go func() {
		defer close(x.done)
		if err := x.server.Listen(ctx, ln); err != nil && !errors.Is(err, protocol.ErrServerClosed) {
			x.git.Log.ErrorContext(ctx, "ssh server ended", "err", err)
		}
	}()
	return nil
}

// Stop lets the commands under way end.
func (x *SSH) Stop(ctx context.Context) error {
	if x.cancel == nil {
		return nil
	}
	err := x.server.Shutdown(ctx)
	x.cancel()
	<-x.done
	return err
}

func (x *SSH) authenticate(ctx context.Context, key ssh.PublicKey, _ net.Addr) (any, bool) {
	viewer, err := x.git.SSHKey(ctx, ssh.FingerprintSHA256(key))
	if err != nil {
		if !errors.Is(err, db.ErrNotFound) {
			x.git.Log.WarnContext(ctx, "ssh key not looked up", "err", err)
		}
		return nil, false
	}
	return viewer, true
}

func greeting(_ context.Context, identity any) string {
	viewer, _ := identity.(*model.Viewer)
	if viewer != nil && viewer.DeployRepo != 0 {
		return "Hello! This is the deploy key of one repository, and it works. gitfor gives no shell: use git clone, fetch and push."
	}
	return "Hello " + viewer.Name() + "! Your key works. gitfor gives no shell: use git clone, fetch and push."
}

// serve runs one command; what went wrong is said in one line.
func (x *SSH) serve(ctx context.Context, ses *protocol.SSHSession) int {
	viewer, _ := ses.Identity.(*model.Viewer)
	err := x.command(ctx, ses, viewer)
	if err == nil {
		return 0
	}
	var busy *protocol.BusyError
	if errors.As(err, &busy) {
		_, _ = io.WriteString(ses.Stderr, "gitfor: "+busy.Error()+"\n")
		return 1
	}
	f := fault.From(err)
	message := f.Message
	for _, m := range f.Fields {
		message += " " + m
	}
	if f.Kind == fault.NotFound {
		message = "Repository not found, or your key has no access to it."
	}
	if f.Kind == fault.Internal && ctx.Err() == nil {
		x.git.Log.ErrorContext(ctx, "ssh command failed", "command", ses.Service, "path", ses.Path(), "err", err)
	}
	_, _ = io.WriteString(ses.Stderr, "gitfor: "+message+"\n")
	return 1
}

func (x *SSH) command(ctx context.Context, ses *protocol.SSHSession, viewer *model.Viewer) error {
	owner, name, ok := strings.Cut(ses.Path(), "/")
	if !ok || strings.Contains(name, "/") {
		return fault.New(fault.Invalid, "The address has the form owner/repository.git.")
	}
	switch ses.Service {
	case protocol.UploadService:
		repo, _, err := x.git.find(ctx, viewer, owner, name, false)
		if err != nil {
			return err
		}
		g, err := x.git.Repos.Open(ctx, repo)
		if err != nil {
			return err
		}
		return x.git.http.Upload.Serve(ctx, protocol.UploadRequest{Target: x.git.reading(g), Version: ses.Version,
			Client: "account-" + viewer.Name(), In: ses.Stdin, Out: ses.Stdout})
	case protocol.ReceiveService:
		return x.push(ctx, ses, viewer, owner, name)
	case "git-lfs-authenticate":
		return x.largeFiles(ctx, ses, viewer, owner, name)
	}
	return fault.New(fault.Invalid, ses.Service+" is not offered here.")
}

// findOrMake is find for a push, which makes the repository where the viewer
// may.
func (x *SSH) findOrMake(ctx context.Context, viewer *model.Viewer, owner, name string) (*model.Repo, model.Role, error) {
	repo, role, err := x.git.find(ctx, viewer, owner, name, true)
	if errors.Is(err, db.ErrNotFound) && x.git.Repos.MayCreate(ctx, viewer, owner, name) == nil {
		repo, err = x.git.Repos.Create(ctx, viewer, repos.CreateInput{Owner: owner, Name: name, Visibility: model.Private})
		role = model.RoleAdmin
	}
	return repo, role, err
}

// largeFiles tells git-lfs where the large files are.
func (x *SSH) largeFiles(ctx context.Context, ses *protocol.SSHSession, viewer *model.Viewer, owner, name string) error {
	if len(ses.Args) < 2 || ses.Args[1] != "upload" && ses.Args[1] != "download" {
		return fault.New(fault.Invalid, "git-lfs-authenticate needs the word upload or download.")
	}
	if x.git.LFS == nil {
		return fault.New(fault.NotFound, "Large files are not offered here.")
	}
	var repo *model.Repo
	var err error
	if ses.Args[1] == "upload" {
		repo, _, err = x.findOrMake(ctx, viewer, owner, name)
	} else {
		repo, _, err = x.git.find(ctx, viewer, owner, name, false)
	}
	if err != nil {
		return err
	}
	answer, err := x.git.LFS(viewer, repo)
	if err != nil {
		return err
	}
	_, err = ses.Stdout.Write(append(answer, '\n'))
	return err
}

func (x *SSH) push(ctx context.Context, ses *protocol.SSHSession, viewer *model.Viewer, owner, name string) error {
	repo, role, err := x.findOrMake(ctx, viewer, owner, name)
	if err != nil {
		return err
	}
	g, err := x.git.Repos.Open(ctx, repo)
	if err != nil {
		return err
	}
	req := x.git.request(g, repo, viewer, role)
	req.Version, req.In, req.Out = ses.Version, ses.Stdin, ses.Stdout
	return x.git.http.Receive.Serve(ctx, req)
}

// named is a repository that the viewer may read, by its name or its former
// one. A deploy key opens its repository whatever became of its maker's access.
func (s *Service) named(ctx context.Context, viewer *model.Viewer, owner, name string) (*model.Repo, model.Role, error) {
	dir := s.DB.Directory()
	if viewer.DeployRepo != 0 {
		repo, err := repodb.ByName(ctx, dir, owner, name)
		if errors.Is(err, db.ErrNotFound) {
			repo, err = repodb.Redirect(ctx, dir, owner, name)
		}
		return repo, model.RoleNone, err
	}
	repo, role, err := repodb.Find(ctx, dir, owner, name, viewer.ID())
	if errors.Is(err, db.ErrNotFound) {
		old, oldErr := repodb.Redirect(ctx, dir, owner, name)
		if oldErr != nil {
			return nil, role, err
		}
		return repodb.FindID(ctx, dir, old.ID, viewer.ID())
	}
	return repo, role, err
}

// find is the repository for a fetch, or for a push when write is true. The
// former name of a repository leads to it.
func (s *Service) find(ctx context.Context, viewer *model.Viewer, owner, name string, write bool) (*model.Repo, model.Role, error) {
	repo, role, err := s.named(ctx, viewer, owner, name)
	if err != nil {
		return nil, role, err
	}
	if !viewer.Reaches(repo.ID, repo.IsPrivate(), false) {
		return nil, role, db.ErrNotFound
	}
	if viewer.DeployRepo == repo.ID {
		role = model.RoleRead
		if viewer.Write {
			role = model.RoleWrite
		}
	}
	switch {
	case !write:
	case !role.AtLeast(model.RoleWrite) || !viewer.Reaches(repo.ID, repo.IsPrivate(), true):
		return nil, role, fault.New(fault.Forbidden, "You may read "+repo.FullName()+" but not push to it.")
	case repo.Archived():
		return nil, role, fault.New(fault.Forbidden, repo.FullName()+" is archived and read-only.")
	}
	return repo, role, nil
}
