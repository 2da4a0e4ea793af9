package codes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db/model"
)

// maxPath is the longest path of a file, in bytes.
const maxPath = 4096

// ChangeInput is a commit to be made on the tip of a branch.
type ChangeInput struct {
	// Branch is what the change starts from; "" is the default branch.
	Branch string
	// NewBranch, when set, is made for the commit; Branch stays where it is.
	NewBranch string
	// From, when set, is the commit that NewBranch begins at instead of the
	// tip of Branch.
	From    git.OID
	Message string
	// Author and Committer stand in for the viewer where they are set.
	Author, Committer *git.Person
	Files             []FileChange
}

// FileChange is what happens to one file or folder.
type FileChange struct {
	// Path is where the file is afterwards, From where it was when it moves.
	Path, From string
	Delete     bool
	// Content is the new content; with Keep the old one stays.
	Content []byte
	Keep    bool
	Mode    git.Mode // 0 keeps, or is an ordinary file
	// Expect, when set, is the blob that must be at From (or Path) now; ""
	// says that nothing may be there.
	Expect *git.OID
}

// Moved says that a file is no longer what a change was made from.
type Moved struct {
	Path string
	// Now is what is there, "" when nothing is; Head is the branch's tip.
	Now, Head git.OID
}

func (m *Moved) Error() string { return git.Display(m.Path) + " has changed meanwhile" }

// CheckPath says what is wrong with the path of a file to be written, "" when
// nothing is.
func CheckPath(p string) string {
	clean, ok := git.CleanPath(p)
	switch {
	case clean == "":
		return "Give the file a name."
	case !ok || clean != p:
		return "A path has no empty, “.” or “..” parts and no slash at its ends."
	case len(p) > maxPath:
		return fmt.Sprintf("The path is longer than %d bytes.", maxPath)
	}
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > 255 {
			return "A name in the path is longer than 255 bytes."
		}
		if folded := strings.ToLower(strings.TrimRight(part, ". ")); folded == ".git" || folded == "git~1" {
			return "Nothing in a repository can be called .git."
		}
	}
	return ""
}

// tries is how often a change is made anew when the branch moved under it.
const tries = 5

// Change commits files to a branch of repo. A *Moved error says that a file is
// not what the change expects; the fault's kinds are Invalid, NotFound and
// Conflict else.
func (s *Service) Change(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in ChangeInput) (*git.Commit, error) {
	if repo.Archived() {
		return nil, fault.New(fault.Forbidden, "This repository is archived and read-only.")
	}
	if err := in.validate(); err != nil {
		return nil, err
	}
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return nil, err
	}
	if in.Branch == "" {
		in.Branch = repo.DefaultBranch
	}
	blobs, err := writeBlobs(ctx, g, in.Files)
	if err != nil {
		return nil, err
	}
	for range tries {
		var commit *git.Commit
		if commit, err = s.tryChange(ctx, viewer, repo, g, in, blobs); err == nil {
			return commit, nil
		}
		if !errors.Is(err, git.ErrRefChanged) && !errors.Is(err, git.ErrRefBusy) {
			return nil, err
		}
	}
	return nil, fault.Wrap(fault.Conflict, "The branch is being written by others. Try again.", err)
}

func (in *ChangeInput) validate() error {
	f := fault.Fields{}
	if in.NewBranch != "" && !git.ValidBranchName(in.NewBranch) {
		f.Add("new_branch", "That cannot be the name of a branch.")
	}
	if in.Branch != "" && !git.ValidBranchName(in.Branch) {
		f.Add("branch", "That cannot be the name of a branch.")
	}
	if strings.TrimSpace(in.Message) == "" {
		f.Add("message", "Say what the change does.")
	}
	if len(in.Files) == 0 {
		f.Add("files", "Nothing is changed.")
	}
	for _, c := range in.Files {
		f.Add("path", CheckPath(c.Path))
	}
	return f.Err()
}

func writeBlobs(ctx context.Context, g *git.Repository, files []FileChange) ([]git.OID, error) {
	blobs := make([]git.OID, len(files))
	for i, f := range files {
		if f.Delete || f.Keep {
			continue
		}
		var err error
		if blobs[i], err = g.WriteBlob(ctx, bytes.NewReader(f.Content)); err != nil {
			return nil, err
		}
	}
	return blobs, nil
}

// tryChange makes the commit on what the branch is now.
func (s *Service) tryChange(ctx context.Context, viewer *model.Viewer, repo *model.Repo, g *git.Repository, in ChangeInput, blobs []git.OID) (*git.Commit, error) {
	head, err := tip(ctx, g, in.Branch)
	if err != nil {
		return nil, err
	}
	update := git.RefUpdate{Name: git.BranchPrefix + in.Branch, Old: head}
	if in.NewBranch != "" && in.NewBranch != in.Branch {
		update = git.RefUpdate{Name: git.BranchPrefix + in.NewBranch, Old: g.ZeroOID()}
		if in.From != "" {
			head = in.From
		}
	}
	base, parents := g.EmptyTree(), []git.OID{}
	if !head.IsZero() {
		parents = append(parents, head)
		if base, err = g.TreeOf(ctx, head); err != nil {
			return nil, lost(err)
		}
	}
	changes := make([]git.Change, len(in.Files))
	for i, f := range in.Files {
		if err := f.check(ctx, g, base, head); err != nil {
			return nil, err
		}
		changes[i] = git.Change{Path: f.Path, From: f.From, Delete: f.Delete, OID: blobs[i], Mode: f.Mode}
	}
	tree, err := g.EditTree(ctx, base, changes)
	switch {
	case errors.Is(err, git.ErrNotFound):
		return nil, fault.Wrap(fault.NotFound, "There is no such file on this branch any more.", err)
	case errors.Is(err, git.ErrPathConflict):
		return nil, fault.Field("path", "That path is taken by a folder or a file.")
	case err != nil:
		return nil, err
	}
	if tree == base && len(parents) > 0 {
		return nil, fault.Field("files", "Nothing differs from what is there.")
	}
	oid, err := g.CommitTree(ctx, git.CommitSpec{Tree: tree, Parents: parents, Author: s.or(viewer, in.Author),
		Committer: s.or(viewer, in.Committer), Message: in.Message, Sign: s.signFor(in.Committer)})
	if err != nil {
		return nil, err
	}
	update.New = oid
	if err := s.move(ctx, viewer, repo, g, "web", update); err != nil {
		return nil, err
	}
	return g.Commit(ctx, oid)
}

// check compares the file with what the change was made from.
func (f *FileChange) check(ctx context.Context, g *git.Repository, base, head git.OID) error {
	if f.Expect == nil {
		return nil
	}
	at := f.Path
	if f.From != "" {
		at = f.From
	}
	e, err := g.EntryAt(ctx, base, at)
	if err != nil && !errors.Is(err, git.ErrNotFound) && !errors.Is(err, git.ErrWrongType) {
		return err
	}
	if e.OID != *f.Expect {
		return &Moved{Path: at, Now: e.OID, Head: head}
	}
	if f.From != "" && f.From != f.Path {
		// A file must not be moved over another.
		if there, err := g.EntryAt(ctx, base, f.Path); err == nil {
			return &Moved{Path: f.Path, Now: there.OID, Head: head}
		}
	}
	return nil
}

// signFor signs for people as they are known here: what is said to be by
// somebody else is theirs to sign.
func (s *Service) signFor(committer *git.Person) func([]byte) (string, error) {
	if committer != nil {
		return nil
	}
	return s.Sign
}

// or is the person given, or the viewer.
func (s *Service) or(viewer *model.Viewer, p *git.Person) git.Person {
	if p != nil {
		return *p
	}
	return s.Repos.Person(viewer)
}

// tip is the commit of a branch; zeros when the repository has no branch at
// all, so that the first commit can make one.
func tip(ctx context.Context, g *git.Repository, branch string) (git.OID, error) {
	ref, err := g.Ref(ctx, git.BranchPrefix+branch)
	if err == nil {
		return ref.OID, nil
	}
	if !errors.Is(err, git.ErrNotFound) {
		return "", err
	}
	branches, err := g.Branches(ctx)
	if err != nil {
		return "", err
	}
	if len(branches) > 0 {
		return "", fault.New(fault.NotFound, "Branch "+git.Display(branch)+" not found")
	}
	return g.ZeroOID(), nil
}

// move moves refs as one push. Where they are not as the updates say, it is
// git.ErrRefChanged; a name that stands in the way of another is a fault.
func (s *Service) move(ctx context.Context, viewer *model.Viewer, repo *model.Repo, g *git.Repository, via string, updates ...git.RefUpdate) error {
	err := s.Repos.MoveRefs(ctx, g, &repos.Push{Repo: repo, Actor: viewer, Via: via, Updates: updates})
	switch {
	case errors.Is(err, git.ErrRefConflict):
		return fault.Field("ref", "A branch or tag of another name stands in the way: one cannot be both a name and a folder of names.")
	case errors.Is(err, git.ErrRefChanged) && updates[0].Old.IsZero() && updates[0].Old != "":
		return fault.Field("ref", "Reference already exists")
	case err != nil:
		return err
	}
	return s.Repos.AdoptBranch(ctx, repo, updates)
}
