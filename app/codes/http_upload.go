package codes

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"path"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

func (s *Service) deleteForm(c *web.Ctx) error {
	p, err := s.writable(c)
	if err != nil {
		return err
	}
	e, err := p.git.EntryAt(c.Context(), p.rev.Commit, p.path)
	if err != nil || p.path == "" {
		return lost(err)
	}
	return s.renderDelete(c, p, editInput{Blob: e.OID.String(), Commit: p.rev.Commit.String()}, nil)
}

func (s *Service) renderDelete(c *web.Ctx, p *place, in editInput, errs fault.Fields) error {
	o, n := p.repo.Owner.Name, p.repo.Name
	props := codeview.EditProps{Repo: p.repo, Branch: git.Display(p.ref()), Path: git.Display(p.path), Message: in.Message, Detail: in.Detail,
		Target: in.Target, NewBranch: in.NewBranch, Blob: in.Blob, Commit: in.Commit, Errors: ui.Errors(errs),
		Action: link.Delete(o, n, p.ref(), p.path), Title: "Delete " + git.Display(p.path), Cancel: link.Blob(o, n, p.ref(), p.path),
		Summary: "Delete " + git.Display(path.Base(p.path)), Protected: s.protected(c, branchOf(p))}
	if e, err := p.git.EntryAt(c.Context(), p.rev.Commit, p.path); err == nil && e.IsTree() {
		files, more, err := p.git.Files(c.Context(), e.OID, 10_000)
		if err != nil {
			return err
		}
		props.Count = ui.Plural(len(files), "file")
		if more {
			props.Count = "more than " + ui.Number(len(files)) + " files"
		}
	}
	return s.show(c, web.Page{Status: statusOf(errs), Title: props.Title + " · " + p.repo.FullName(), Body: codeview.DeletePage(props)})
}

func (s *Service) deleteSave(c *web.Ctx) error {
	p, err := s.writable(c)
	if err != nil {
		return err
	}
	var in editInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	file := FileChange{Path: p.path, Delete: true}
	if blob, ok := git.ParseOID(in.Blob); ok {
		file.Expect = &blob
	}
	change := in.change(p, "Delete "+git.Display(path.Base(p.path)))
	change.Files = []FileChange{file}
	_, err = s.Change(c.Context(), c.Viewer, c.Repo, change)
	var moved *Moved
	if errors.As(err, &moved) && moved.Now != "" {
		in.Blob, in.Commit = moved.Now.String(), moved.Head.String()
		return s.renderDelete(c, p, in, fault.Fields{"": "It has been changed meanwhile. Look at it again before you delete it."})
	}
	if f := fault.From(err); f != nil && f.Kind == fault.Invalid {
		return s.renderDelete(c, p, in, formFields(f))
	}
	if err != nil {
		return lost(err)
	}
	o, n := c.Repo.Owner.Name, c.Repo.Name
	if change.NewBranch != "" {
		return c.Redirect(link.Compare(o, n, change.Branch, change.NewBranch))
	}
	return c.RedirectFlash(link.Tree(o, n, change.Branch, s.nearest(c, p)), git.Display(path.Base(p.path))+" was deleted.")
}

// nearest is the folder above p that is still there on its branch.
func (s *Service) nearest(c *web.Ctx, p *place) string {
	ref, err := p.git.Ref(c.Context(), p.rev.Ref)
	if err != nil {
		return ""
	}
	dir := parent(p.path)
	for dir != "" {
		if e, err := p.git.EntryAt(c.Context(), ref.OID, dir); err == nil && e.IsTree() {
			return dir
		}
		dir = parent(dir)
	}
	return ""
}

// Limits of one upload.
const (
	maxUploads     = 1000
	maxUploadBytes = 25 << 20
)

func (s *Service) uploadForm(c *web.Ctx) error {
	p, err := s.writable(c)
	if err != nil {
		return err
	}
	return s.renderUpload(c, p, editInput{}, "", nil)
}

func (s *Service) renderUpload(c *web.Ctx, p *place, in editInput, collision string, errs fault.Fields) error {
	o, n := p.repo.Owner.Name, p.repo.Name
	props := codeview.EditProps{Repo: p.repo, Branch: git.Display(p.ref()), Path: git.Display(p.path), Message: in.Message, Detail: in.Detail,
		Target: in.Target, NewBranch: in.NewBranch, Errors: ui.Errors(errs), Action: link.Upload(o, n, p.ref(), p.path), Title: "Upload files",
		Cancel: link.Tree(o, n, p.ref(), p.path), Summary: "Add files", Protected: s.protected(c, branchOf(p)), Collision: collision}
	return s.show(c, web.Page{Status: statusOf(errs), Title: "Upload files · " + p.repo.FullName(), Body: codeview.UploadPage(props)})
}

func (s *Service) uploadSave(c *web.Ctx) error {
	p, err := s.writable(c)
	if err != nil {
		return err
	}
	var in editInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if c.R.MultipartForm != nil {
		defer c.R.MultipartForm.RemoveAll() //nolint:errcheck // temporary files
	}
	files, err := uploads(c, p)
	if f := fault.From(err); f != nil && f.Kind == fault.Invalid {
		return s.renderUpload(c, p, in, "", f.Fields)
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		if other := s.collision(c, p, file.Path); other != "" && !in.Collide {
			return s.renderUpload(c, p, in, git.Display(other), fault.Fields{"files": "“" + git.Display(file.Path) + "” differs from “" + git.Display(other) +
				"” only in case. On some computers only one of them can exist. Choose the files again to add them all the same."})
		}
	}
	message := "Add files"
	if len(files) == 1 {
		message = "Add " + git.Display(path.Base(files[0].Path))
	}
	change := in.change(p, message)
	change.Files = files
	_, err = s.Change(c.Context(), c.Viewer, c.Repo, change)
	if f := fault.From(err); f != nil && f.Kind == fault.Invalid {
		fields := formFields(f)
		if m, ok := fields["path"]; ok {
			fields["files"] = m
		}
		return s.renderUpload(c, p, in, "", fields)
	}
	if err != nil {
		return err
	}
	o, n := c.Repo.Owner.Name, c.Repo.Name
	if change.NewBranch != "" {
		return c.Redirect(link.Compare(o, n, change.Branch, change.NewBranch))
	}
	return c.RedirectFlash(link.Tree(o, n, change.Branch, p.path), ui.Plural(len(files), "file")+" committed.")
}

// uploads reads the files of a form, with the folders that a browser sends
// before their names.
func uploads(c *web.Ctx, p *place) ([]FileChange, error) {
	if c.R.MultipartForm == nil {
		return nil, fault.Field("files", "Choose at least one file.")
	}
	headers := append(append([]*multipart.FileHeader{}, c.R.MultipartForm.File["files"]...), c.R.MultipartForm.File["folder"]...)
	var out []FileChange
	total := int64(0)
	for _, h := range headers {
		name := uploadName(h)
		if name == "" {
			continue // nothing was chosen
		}
		if len(out) == maxUploads {
			return nil, fault.Field("files", fmt.Sprintf("At most %d files can be uploaded at once.", maxUploads))
		}
		to := join(p.path, name)
		if problem := CheckPath(to); problem != "" {
			return nil, fault.Field("files", git.Display(name)+": "+problem)
		}
		if total += h.Size; total > maxUploadBytes {
			return nil, fault.Field("files", "The files are larger than "+ui.Bytes(maxUploadBytes)+" together.")
		}
		data, err := content(h)
		if err != nil {
			return nil, err
		}
		out = append(out, FileChange{Path: to, Content: data})
	}
	if len(out) == 0 {
		return nil, fault.Field("files", "Choose at least one file.")
	}
	return out, nil
}

// uploadName is the name of an uploaded file with its folders; Go's own field
// holds the last part only.
func uploadName(h *multipart.FileHeader) string {
	_, params, err := mime.ParseMediaType(h.Header.Get("Content-Disposition"))
	name := h.Filename
	if err == nil && params["filename"] != "" {
		name = params["filename"]
	}
	return strings.Trim(strings.ReplaceAll(name, "\\", "/"), "/")
}

func content(h *multipart.FileHeader) ([]byte, error) {
	f, err := h.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return data, err
}
