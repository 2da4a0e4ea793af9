package codes

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

// maxShown is how large a file may be, in bytes, to be shown as text.
const maxShown = 2 << 20

func (s *Service) blob(c *web.Ctx) error {
	p, err := s.here(c)
	if err != nil {
		return emptyIsMissing(err)
	}
	e, err := p.git.EntryAt(c.Context(), p.rev.Commit, p.path)
	if err != nil {
		return lost(err)
	}
	o, n := p.repo.Owner.Name, p.repo.Name
	if e.IsTree() {
		return c.Redirect(link.Tree(o, n, p.ref(), p.path))
	}
	if e.IsSubmodule() {
		return fault.New(fault.NotFound, "That is a submodule, not a file.")
	}
	head, err := s.head(c, p, "blob")
	if err != nil {
		return err
	}
	props := codeview.FileProps{Head: head, Name: git.Display(path.Base(p.path)), Raw: link.Raw(o, n, p.ref(), p.path),
		History: link.Commits(o, n, p.ref(), p.path), Blame: link.Blame(o, n, p.ref(), p.path),
		Permalink: link.Blob(o, n, p.rev.Commit.String(), p.path), Plain: c.Query("plain") == "1",
		Symlink: e.IsSymlink(), Executable: e.Kind() == git.KindExecutable}
	if c.Role.AtLeast(model.RoleWrite) && p.rev.IsBranch() && !p.repo.Archived() {
		props.Edit, props.Delete = link.Edit(o, n, p.ref(), p.path), link.Delete(o, n, p.ref(), p.path)
	}
	if err := s.file(c, p, e, &props); err != nil {
		return err
	}
	if s.LockedBy != nil {
		if props.LockedBy, err = s.LockedBy(c.Context(), p.repo, p.path); err != nil {
			return err
		}
	}
	return s.show(c, web.Page{Title: git.Display(p.path) + " at " + git.Display(p.ref()) + " · " + p.repo.FullName(),
		Body: codeview.FilePage(props)})
}

// file reads the file and decides how it is shown.
func (s *Service) file(c *web.Ctx, p *place, e git.TreeEntry, f *codeview.FileProps) error {
	defer c.Time("git")()
	info, err := p.git.Info(c.Context(), e.OID)
	if err != nil {
		return err
	}
	f.Size = info.Size
	if info.Size > maxShown {
		f.Show = codeview.ShowTooLarge
		if markup.IsBinary(nil) {
			f.Show = codeview.ShowBinary
		}
		return nil
	}
	data, err := p.git.Blob(c.Context(), e.OID, maxShown)
	if err != nil {
		return err
	}
	name, id := path.Base(p.path), e.OID.String()
	if !f.Symlink {
		content, large, done, err := s.throughPointer(c, data, f)
		if err != nil || done {
			return err
		}
		if data = content; large != "" {
			id = large
		}
	}
	switch kind := markup.KindOf(name, data[:min(len(data), markup.HeadSize)]); kind {
	case markup.KindImage, markup.KindSVG:
		f.Show, f.HasPlain = codeview.ShowImage, kind == markup.KindSVG
	case markup.KindPDF:
		f.Show = codeview.ShowPDF
	case markup.KindAudio, markup.KindVideo, markup.KindBinary:
		f.Show = codeview.ShowBinary
	case markup.KindMarkdown:
		f.HasPlain = true
		if !f.Plain {
			f.Show = codeview.ShowRendered
			html, err := s.document(c.Context(), p, dirOf(p.path), git.DecodeText(string(data)))
			f.HTML = string(html)
			return err
		}
	case markup.KindNotebook:
		f.HasPlain = true
		if !f.Plain {
			out, err := s.Markup.Notebook(c.Context(), data, markup.Options{Mode: markup.Document, Dir: dirOf(p.path), Files: p.files()})
			if err == nil {
				f.Show, f.HTML = codeview.ShowRendered, string(out.HTML)
				return nil
			}
		}
	case markup.KindTable:
		f.HasPlain = true
		if !f.Plain {
			if out, err := markup.Table(name, data); err == nil {
				f.Show, f.HTML = codeview.ShowRendered, string(out.HTML)
				return nil
			}
		}
	case markup.KindText, markup.KindPointer:
	}
	if f.Show != codeview.ShowText && !(f.HasPlain && f.Plain) {
		return nil
	}
	f.Show = codeview.ShowText
	lines, err := s.colours.Lines(c.Context(), id, name, data)
	if err != nil {
		return err
	}
	f.Lines, f.Language, f.Invalid, f.CRLF = lines.Lines, lines.Language, lines.Invalid, lines.CRLF
	f.Hidden = len(lines.Hidden) > 0
	return nil
}

func dirOf(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}

// emptyIsMissing makes an empty repository's pages ones that do not exist.
func emptyIsMissing(err error) error {
	if errors.Is(err, errEmpty) {
		return fault.New(fault.NotFound, "This repository has no commits yet.")
	}
	return lost(err)
}

// raw sends the bytes of a file: never as something that a browser would run.
func (s *Service) raw(c *web.Ctx) error {
	p, err := s.here(c)
	if err != nil {
		return emptyIsMissing(err)
	}
	e, err := p.git.EntryAt(c.Context(), p.rev.Commit, p.path)
	if err != nil {
		return lost(err)
	}
	if e.IsTree() || e.IsSubmodule() {
		return fault.New(fault.NotFound, "That is no file.")
	}
	if sent, err := s.sendLarge(c, p, e); sent || err != nil {
		return err
	}
	return s.sendBlob(c, p, e)
}

// sendBlob answers with a blob, or the ranges of it that were asked for.
func (s *Service) sendBlob(c *web.Ctx, p *place, e git.TreeEntry) error {
	body, size, err := p.git.BlobReader(c.Context(), e.OID)
	if err != nil {
		return lost(err)
	}
	defer body.Close() //nolint:errcheck // reading has shown its errors
	first := make([]byte, min(size, markup.HeadSize))
	if _, err := io.ReadFull(body, first); err != nil {
		return err
	}
	rawHeaders(c, p, path.Base(p.path), first, e.OID.String())
	h := c.W.Header()
	if size <= maxShown || c.R.Header.Get("Range") != "" && size <= maxRange {
		rest, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		http.ServeContent(c.W, c.R, "", time.Time{}, strings.NewReader(string(first)+string(rest)))
		return nil
	}
	if c.R.Header.Get("If-None-Match") == h.Get("ETag") {
		c.W.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Length", fmt.Sprint(size))
	h.Set("Accept-Ranges", "bytes")
	if c.R.Method == http.MethodHead {
		return nil
	}
	if _, err := c.W.Write(first); err != nil {
		return nil
	}
	_, _ = io.Copy(c.W, body)
	return nil
}

// maxRange is how large a file may be of which ranges are sent.
const maxRange = 256 << 20

// cacheFor lets what a full commit id names be kept for long.
func cacheFor(p *place) string {
	scope := "public"
	if p.repo.IsPrivate() {
		scope = "private"
	}
	if p.rev.Ref == "" && len(p.rev.Name) >= 40 {
		return scope + ", max-age=31536000, immutable"
	}
	return scope + ", max-age=0, must-revalidate"
}
