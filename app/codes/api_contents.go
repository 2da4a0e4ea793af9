package codes

import (
	"encoding/base64"
	"errors"
	"net/http"
	"path"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/link"
)

// Content is GitHub's content of a file, link or submodule, or an entry of a
// folder (https://docs.github.com/rest/repos/contents#get-repository-content).
type Content struct {
	Type        string       `json:"type"`
	Encoding    *string      `json:"encoding,omitempty"`
	Size        int64        `json:"size"`
	Name        string       `json:"name"`
	Path        string       `json:"path"`
	Content     *string      `json:"content,omitempty"`
	SHA         string       `json:"sha"`
	URL         string       `json:"url"`
	GitURL      *string      `json:"git_url"`
	HTMLURL     *string      `json:"html_url"`
	DownloadURL *string      `json:"download_url"`
	Target      *string      `json:"target,omitempty"`
	Submodule   *string      `json:"submodule_git_url,omitempty"`
	Entries     *[]Content   `json:"entries,omitempty"`
	Links       contentLinks `json:"_links"`
}

type contentLinks struct {
	Self string  `json:"self"`
	Git  *string `json:"git"`
	HTML *string `json:"html"`
}

const (
	// maxInline is how large a file may be, in bytes, to be inside an answer;
	// maxRaw how large to be sent at all, as on GitHub.
	maxInline = 1 << 20
	maxRaw    = 100 << 20
)

// apiContents sends a file, or lists a folder.
func (s *Service) apiContents(c *web.Ctx) error {
	p, e, err := s.apiEntry(c, c.Param("*"))
	if err != nil {
		return err
	}
	if e.IsTree() {
		return s.apiFolder(c, p, e)
	}
	if e.IsSymlink() {
		// A link to a file is answered with the file.
		if to, target, err := p.git.FollowLinks(c.Context(), p.rev.Commit, p.path); err == nil && !target.IsTree() && !target.IsSubmodule() {
			p.path, e = to, target
		}
	}
	return s.apiFile(c, p, e)
}

// apiEntry resolves the query's ref and the entry at a path.
func (s *Service) apiEntry(c *web.Ctx, at string) (*place, git.TreeEntry, error) {
	p, err := s.apiRev(c, c.Query("ref"))
	if fault.Is(err, fault.Conflict) {
		return nil, git.TreeEntry{}, fault.Wrap(fault.NotFound, "This repository is empty.", err)
	}
	if err != nil {
		return nil, git.TreeEntry{}, err
	}
	p.path = strings.Trim(at, "/")
	e, err := p.git.EntryAt(c.Context(), p.rev.Commit, p.path)
	return p, e, lost(err)
}

// apiFile sends a file in the form that is asked for.
func (s *Service) apiFile(c *web.Ctx, p *place, e git.TreeEntry) error {
	kind := media(c)
	if e.IsSubmodule() {
		kind = ""
	}
	if kind == "raw" {
		return s.apiRaw(c, e.OID)
	}
	w, err := s.content(c, p, e, true)
	if err != nil {
		return err
	}
	if kind == "html" && markup.IsMarkdown(p.path) && w.Size <= maxReadme {
		text, err := p.git.Blob(c.Context(), e.OID, maxReadme)
		if err != nil {
			return err
		}
		html, err := s.document(c.Context(), p, dirOf(p.path), git.DecodeText(string(text)))
		if err != nil {
			return err
		}
		return s.sendMedia(c, kind, func() error { return c.Bytes([]byte(html)) })
	}
	return c.JSON(http.StatusOK, w)
}

// apiRaw sends the bytes of a file.
func (s *Service) apiRaw(c *web.Ctx, oid git.OID) error {
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	data, err := g.Blob(c.Context(), oid, maxRaw)
	if errors.Is(err, git.ErrTooLarge) {
		return fault.Wrap(fault.Forbidden, "This API returns blobs up to 100 MB in size. Use the raw address or git.", err)
	}
	if err != nil {
		return lost(err)
	}
	return s.sendMedia(c, "raw", func() error { return c.Bytes(data) })
}

// content is the entry at p; with body its bytes too.
func (s *Service) content(c *web.Ctx, p *place, e git.TreeEntry, body bool) (Content, error) {
	o, n, sha := p.repo.Owner.Name, p.repo.Name, e.OID.String()
	at, ref := link.Path(p.path), p.ref()
	w := Content{Type: "file", Name: git.Display(path.Base(p.path)), Path: git.Display(p.path), SHA: sha,
		URL: apiURL(c, "/contents/"+at) + "?ref=" + link.Segment(ref)}
	if p.path == "" {
		w.Name, w.URL = "", apiURL(c, "/contents")+"?ref="+link.Segment(ref)
	}
	gitURL, html := apiURL(c, "/git/blobs/"+sha), c.URL(link.Blob(o, n, ref, p.path))
	switch e.Kind() {
	case git.KindTree:
		w.Type, gitURL, html = "dir", apiURL(c, "/git/trees/"+sha), c.URL(link.Tree(o, n, ref, p.path))
	case git.KindSubmodule:
		if err := s.submodule(c, p, e, &w, body); err != nil {
			return w, err
		}
		w.Links = contentLinks{w.URL, w.GitURL, w.HTMLURL}
		return w, nil
	default:
		if e.IsSymlink() {
			w.Type = "symlink"
		}
		raw := c.URL(link.Raw(o, n, ref, p.path))
		w.DownloadURL = &raw
		info, err := p.git.Info(c.Context(), e.OID)
		if err != nil {
			return w, err
		}
		w.Size = info.Size
		if body {
			if err := s.contentBody(c, p, e, &w); err != nil {
				return w, err
			}
		}
	}
	w.GitURL, w.HTMLURL = &gitURL, &html
	w.Links = contentLinks{w.URL, w.GitURL, w.HTMLURL}
	return w, nil
}

// submodule fills in what is known of another repository's commit. In lists
// its type is "file", as GitHub has it for the sake of old clients.
func (s *Service) submodule(c *web.Ctx, p *place, e git.TreeEntry, w *Content, alone bool) error {
	modules, err := p.git.Submodules(c.Context(), p.rev.Commit)
	if err != nil {
		return err
	}
	if alone {
		w.Type = "submodule"
	}
	if m, ok := modules[p.path]; ok {
		address := git.DecodeText(m.URL)
		w.Submodule = &address
		if page := s.submodulePage(p.repo, m.URL, e.OID); page != "" {
			if strings.HasPrefix(page, "/") {
				page = c.URL(page)
			}
			w.HTMLURL = &page
		}
	}
	return nil
}

// contentBody puts the bytes of a file, or where a link leads, into w.
func (s *Service) contentBody(c *web.Ctx, p *place, e git.TreeEntry, w *Content) error {
	encoding, text := "base64", ""
	switch {
	case w.Size > maxRaw:
		return fault.New(fault.Forbidden, "This API returns files up to 100 MB in size. Use the raw address or git.")
	case w.Size > maxInline:
		encoding = "none"
	default:
		data, err := p.git.Blob(c.Context(), e.OID, maxInline)
		if err != nil {
			return err
		}
		if e.IsSymlink() {
			target := git.DecodeText(string(data))
			w.Target = &target
			return nil
		}
		text = wrapped(data)
	}
	w.Encoding, w.Content = &encoding, &text
	return nil
}

// wrapped is base64 in lines of 60, as GitHub sends it.
func wrapped(data []byte) string {
	s := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for len(s) > 0 {
		n := min(60, len(s))
		b.WriteString(s[:n])
		b.WriteByte('\n')
		s = s[n:]
	}
	return b.String()
}

// maxListed is how many entries of a folder the API lists, as on GitHub.
const maxListed = 1000

// apiFolder lists a folder.
func (s *Service) apiFolder(c *web.Ctx, p *place, e git.TreeEntry) error {
	entries, err := p.git.Tree(c.Context(), e.OID)
	if err != nil {
		return lost(err)
	}
	out := make([]Content, 0, min(len(entries), maxListed))
	for _, entry := range entries[:cap(out)] {
		in := *p
		in.path = join(p.path, entry.Name)
		w, err := s.content(c, &in, entry, false)
		if err != nil {
			return err
		}
		out = append(out, w)
	}
	if media(c) == "object" {
		w, err := s.content(c, p, e, false)
		if err != nil {
			return err
		}
		w.Entries = &out
		return c.JSON(http.StatusOK, w)
	}
	return c.JSON(http.StatusOK, out)
}

// apiReadme sends the file that describes a folder; in the root also one in
// .github or docs counts.
func (s *Service) apiReadme(c *web.Ctx) error {
	p, e, err := s.apiEntry(c, c.Param("*"))
	if err != nil {
		return err
	}
	if !e.IsTree() {
		return fault.New(fault.NotFound, "That is no folder.")
	}
	best, err := s.findReadme(c.Context(), p)
	if err != nil {
		return err
	}
	if best == "" {
		return fault.New(fault.NotFound, "There is no README.")
	}
	to, target, err := p.git.FollowLinks(c.Context(), p.rev.Commit, best)
	if err != nil {
		return lost(err)
	}
	p.path = to
	return s.apiFile(c, p, target)
}

type licenseContent struct {
	Content
	License *repos.License `json:"license"`
}

// apiLicense sends the repository's licence file.
func (s *Service) apiLicense(c *web.Ctx) error {
	p, _, err := s.apiEntry(c, "")
	if err != nil {
		return err
	}
	name, found, err := s.findLicence(c.Context(), p)
	if err != nil {
		return err
	}
	if name == "" {
		return fault.New(fault.NotFound, "There is no licence file.")
	}
	p.path = name
	e, err := p.git.EntryAt(c.Context(), p.rev.Commit, name)
	if err != nil {
		return lost(err)
	}
	if media(c) == "raw" {
		return s.apiRaw(c, e.OID)
	}
	w, err := s.content(c, p, e, true)
	if err != nil {
		return err
	}
	out := licenseContent{w, repos.WireLicence(found)}
	if out.License == nil {
		out.License = &repos.License{Key: "other", Name: "Other", SPDX: "NOASSERTION"}
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Service) apiTarball(c *web.Ctx) error { return s.apiArchive(c, "tar.gz") }
func (s *Service) apiZipball(c *web.Ctx) error { return s.apiArchive(c, "zip") }

// apiArchive sends the client to the archive's address.
func (s *Service) apiArchive(c *web.Ctx, format string) error {
	p, err := s.apiRev(c, c.Param("*"))
	if err != nil {
		return err
	}
	http.Redirect(c.W, c.R, c.URL(link.Archive(p.repo.Owner.Name, p.repo.Name, p.ref(), format)), http.StatusFound)
	return nil
}
