package codes

import (
	"errors"
	"net/http"
	"path"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

func (s *Service) editRoutes(r *web.Router) {
	change := s.Gate.RepoChange(model.RoleWrite)
	const base = "/{owner}/{repo}"
	r.Get(base+"/edit/*", change, s.editForm)
	r.Post(base+"/edit/*", change, s.editSave)
	r.Get(base+"/new/*", change, s.newForm)
	r.Post(base+"/new/*", change, s.newSave)
	r.Get(base+"/delete/*", change, s.deleteForm)
	r.Post(base+"/delete/*", change, s.deleteSave)
	r.Get(base+"/upload/*", change, s.uploadForm)
	r.Post(base+"/upload/*", change, s.uploadSave)
}

// editInput is the forms that write files. Blob is what the edit was made
// from.
type editInput struct {
	Path      string `form:"path"`
	Content   string `form:"content"`
	Message   string `form:"message"`
	Detail    string `form:"detail"`
	Target    string `form:"target"` // "branch", or "new" for NewBranch
	NewBranch string `form:"new_branch"`
	Blob      string `form:"blob"`
	Commit    string `form:"commit"`
	Collide   bool   `form:"collide"`
}

// change is the commit that the form asks for, without its files.
func (in *editInput) change(p *place, message string) ChangeInput {
	out := ChangeInput{Branch: branchOf(p), Message: strings.TrimSpace(in.Message)}
	if out.Message == "" {
		out.Message = message
	}
	if detail := strings.TrimSpace(strings.ReplaceAll(in.Detail, "\r\n", "\n")); detail != "" {
		out.Message += "\n\n" + detail
	}
	if in.Target == "new" {
		out.NewBranch = strings.TrimSpace(in.NewBranch)
		if out.NewBranch == "" {
			out.NewBranch = " " // refused with a message
		}
	}
	return out
}

func branchOf(p *place) string { return strings.TrimPrefix(p.rev.Ref, git.BranchPrefix) }

// writable resolves the address of a form that writes: a branch and a path, or
// the branch that an empty repository will have.
func (s *Service) writable(c *web.Ctx) (*place, error) {
	p, err := s.here(c)
	if errors.Is(err, errEmpty) {
		branch, at, _ := strings.Cut(c.Param("*"), "/")
		p.rev = git.Revision{Name: branch, Ref: git.BranchPrefix + branch, OID: p.git.ZeroOID()}
		p.path = strings.Trim(at, "/")
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if !p.rev.IsBranch() {
		return nil, fault.New(fault.Conflict, "Files can be changed on branches only. Choose a branch first.")
	}
	return p, nil
}

// editable reads the file that is edited as it is now, or as it was when the
// edit began.
func (s *Service) editable(c *web.Ctx, p *place, blob git.OID) (data string, oid git.OID, err error) {
	defer c.Time("git")()
	if blob == "" {
		e, err := p.git.EntryAt(c.Context(), p.rev.Commit, p.path)
		if err != nil {
			return "", "", lost(err)
		}
		if e.IsTree() || e.IsSubmodule() {
			return "", "", fault.New(fault.NotFound, "That is no file.")
		}
		blob = e.OID
	}
	raw, err := p.git.Blob(c.Context(), blob, maxShown)
	if errors.Is(err, git.ErrTooLarge) {
		return "", "", fault.New(fault.TooLarge, "This file is too large to be edited here. Use git, or upload it anew.")
	}
	return string(raw), blob, lost(err)
}

func (s *Service) editForm(c *web.Ctx) error {
	p, err := s.writable(c)
	if err != nil {
		return err
	}
	data, oid, err := s.editable(c, p, "")
	if err != nil {
		return err
	}
	if l, err := s.large(c, []byte(data)); err != nil {
		return err
	} else if l != nil {
		if l.Content != nil {
			_ = l.Content.Close()
		}
		return fault.New(fault.Conflict, "This file is in large file storage, so it cannot be edited here. Change it with git and git-lfs.")
	}
	text, ok := git.EditableText(data)
	if !ok {
		return fault.New(fault.Conflict, "This file is not text, so it cannot be edited here. Upload it anew.")
	}
	in := editInput{Path: git.Display(p.path), Content: text, Blob: oid.String(), Commit: p.rev.Commit.String()}
	return s.renderEdit(c, p, in, codeview.EditProps{}, nil)
}

// renderEdit shows the editor: of a file, or of a new one.
func (s *Service) renderEdit(c *web.Ctx, p *place, in editInput, props codeview.EditProps, errs fault.Fields) error {
	o, n := p.repo.Owner.Name, p.repo.Name
	props.Repo, props.Branch, props.Errors = p.repo, git.Display(p.ref()), ui.Errors(errs)
	props.Path, props.Content, props.Message, props.Detail = in.Path, in.Content, in.Message, in.Detail
	props.Target, props.NewBranch, props.Blob, props.Commit = in.Target, in.NewBranch, in.Blob, in.Commit
	props.Protected = s.protected(c, branchOf(p))
	if props.Target == "" && props.Protected {
		props.Target = "new"
	}
	props.Cancel = link.Blob(o, n, p.ref(), p.path)
	props.Action, props.Title = link.Edit(o, n, p.ref(), p.path), "Edit "+git.Display(path.Base(p.path))
	props.Summary = "Update " + git.Display(path.Base(p.path))
	if props.New {
		props.Action, props.Title, props.Summary = link.NewFile(o, n, p.ref(), p.path), "New file", "Add a file"
		props.Cancel = link.Tree(o, n, p.ref(), p.path)
	}
	status := statusOf(errs)
	if props.Conflict != nil {
		status = http.StatusConflict
	}
	return s.show(c, web.Page{Status: status, Title: props.Title + " · " + p.repo.FullName(), Body: codeview.EditPage(props)})
}

func (s *Service) editSave(c *web.Ctx) error {
	p, err := s.writable(c)
	if err != nil {
		return err
	}
	var in editInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	blob, ok := git.ParseOID(in.Blob)
	if !ok {
		return fault.New(fault.BadRequest, "The form is not complete. Open the editor again.")
	}
	old, _, err := s.editable(c, p, blob)
	if err != nil {
		return err
	}
	data, err := git.EditText(old, in.Content)
	if errors.Is(err, git.ErrEncoding) {
		return s.renderEdit(c, p, in, codeview.EditProps{}, fault.Fields{"content": "The file is in an old encoding (Windows-1252), and something you typed does not exist in it."})
	}
	if err != nil {
		return err
	}
	// A name that was not edited keeps its bytes, which may not be UTF-8.
	to := strings.Trim(in.Path, "/")
	if in.Path == git.Display(p.path) {
		to = p.path
	}
	file := FileChange{Path: to, Content: []byte(data), Expect: &blob}
	if to != p.path {
		file.From = p.path
	}
	change := in.change(p, "Update "+git.Display(path.Base(to)))
	change.Files = []FileChange{file}
	if !in.Collide && to != p.path {
		if other := s.collision(c, p, to); other != "" {
			return s.renderEdit(c, p, in, codeview.EditProps{Collision: git.Display(other)}, fault.Fields{"path": "Only the case tells it from “" + git.Display(other) + "”."})
		}
	}
	commit, err := s.Change(c.Context(), c.Viewer, c.Repo, change)
	return s.saved(c, p, in, codeview.EditProps{}, commit, change, err)
}

// saved answers after a commit was made, or shows the form again.
func (s *Service) saved(c *web.Ctx, p *place, in editInput, props codeview.EditProps, commit *git.Commit, change ChangeInput, err error) error {
	var moved *Moved
	if errors.As(err, &moved) {
		return s.conflict(c, p, in, props, moved)
	}
	if f := fault.From(err); f != nil && (f.Kind == fault.Invalid || f.Kind == fault.NotFound) {
		return s.renderEdit(c, p, in, props, formFields(f))
	}
	if err != nil {
		return err
	}
	o, n := c.Repo.Owner.Name, c.Repo.Name
	if change.NewBranch != "" && change.NewBranch != change.Branch {
		return c.Redirect(link.Compare(o, n, change.Branch, change.NewBranch))
	}
	if e, err := p.git.EntryAt(c.Context(), commit.OID, change.Files[0].Path); err == nil && !e.IsTree() {
		return c.Redirect(link.Blob(o, n, change.Branch, change.Files[0].Path))
	}
	return c.Redirect(link.Tree(o, n, change.Branch, ""))
}

// formFields are a fault's messages by the fields that the forms have.
func formFields(f *fault.Fault) fault.Fields {
	out := fault.Fields{}
	for field, message := range f.Fields {
		switch field {
		case "ref":
			field = "new_branch"
		case "path", "message", "new_branch", "files":
		default:
			field = ""
		}
		if field == "files" {
			field = ""
		}
		out.Add(field, message)
	}
	if len(out) == 0 {
		out.Add("", f.Message)
	}
	return out
}

// conflict shows what others did to the file, with what was typed kept: it can
// be committed over it, or to a new branch.
func (s *Service) conflict(c *web.Ctx, p *place, in editInput, props codeview.EditProps, moved *Moved) error {
	view := codeview.Conflict{Path: git.Display(moved.Path), Gone: moved.Now == ""}
	from, ok := git.ParseOID(in.Commit)
	if ok && from.Valid() && !from.IsZero() {
		o, n := c.Repo.Owner.Name, c.Repo.Name
		view.Compare = link.Compare(o, n, from.String(), moved.Head.String())
		files, err := p.git.Diff(c.Context(), git.DiffOptions{Base: from, Head: moved.Head, Paths: []string{moved.Path}, MaxLines: 1000, MaxLineBytes: 1000})
		if err == nil {
			page := s.differ.Page(p.git, false)
			for i := range files {
				view.Files = append(view.Files, page.File(c.Context(), &files[i]))
			}
			page.Close(c.Context())
		}
	}
	if moved.Now != "" {
		// The next save is made from what is there now.
		in.Blob, in.Commit = moved.Now.String(), moved.Head.String()
	}
	props.Conflict = &view
	return s.renderEdit(c, p, in, props, nil)
}

// collision is an entry on the way to a path that differs from it in case
// only, "" for none.
func (s *Service) collision(c *web.Ctx, p *place, to string) string {
	if p.rev.Commit == "" {
		return ""
	}
	dir := ""
	for _, part := range strings.Split(to, "/") {
		entries, _, err := p.git.TreeAt(c.Context(), p.rev.Commit, dir)
		if err != nil {
			return ""
		}
		exact := false
		other := ""
		for _, e := range entries {
			if e.Name == part {
				exact = true
			} else if strings.EqualFold(e.Name, part) {
				other = join(dir, e.Name)
			}
		}
		if !exact {
			return other
		}
		dir = join(dir, part)
	}
	return ""
}

func (s *Service) newForm(c *web.Ctx) error {
	p, err := s.writable(c)
	if err != nil {
		return err
	}
	in := editInput{Commit: p.rev.Commit.String(), Content: c.Query("value"), Path: c.Query("filename")}
	if p.path != "" {
		in.Path = git.Display(p.path) + "/" + in.Path
	}
	return s.renderEdit(c, p, in, codeview.EditProps{New: true}, nil)
}

func (s *Service) newSave(c *web.Ctx) error {
	p, err := s.writable(c)
	if err != nil {
		return err
	}
	var in editInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	props := codeview.EditProps{New: true}
	to := strings.TrimLeft(in.Path, "/")
	// The folder's own name may not be UTF-8.
	if rest, ok := strings.CutPrefix(to, git.Display(p.path)+"/"); ok && p.path != "" {
		to = p.path + "/" + rest
	}
	if problem := CheckPath(to); problem != "" {
		return s.renderEdit(c, p, in, props, fault.Fields{"path": problem})
	}
	if other := s.collision(c, p, to); other != "" && !in.Collide {
		props.Collision = git.Display(other)
		return s.renderEdit(c, p, in, props, fault.Fields{"path": "Only the case tells it from “" + git.Display(other) + "”."})
	}
	data, err := git.EditText("", in.Content)
	if err != nil {
		return err
	}
	none := git.OID("")
	change := in.change(p, "Create "+git.Display(path.Base(to)))
	change.Files = []FileChange{{Path: to, Content: []byte(data), Expect: &none}}
	commit, err := s.Change(c.Context(), c.Viewer, c.Repo, change)
	var moved *Moved
	if errors.As(err, &moved) {
		return s.renderEdit(c, p, in, props, fault.Fields{"path": "There is a file or folder of this name already."})
	}
	return s.saved(c, p, in, props, commit, change, err)
}
