package codes

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

// maxEntries is how many entries of one folder a page lists.
const maxEntries = 5000

// folder is what a folder's page shows.
func (s *Service) folder(ctx context.Context, p *place) (codeview.Folder, error) {
	f, err := s.rows(ctx, p)
	if err != nil {
		return f, err
	}
	entries, _, err := p.git.TreeAt(ctx, p.rev.Commit, p.path)
	if err != nil {
		return f, lost(err)
	}
	f.Readme, err = s.readme(ctx, p, entries)
	return f, err
}

// rows are the entries of a folder as its page lists them: folders first.
func (s *Service) rows(ctx context.Context, p *place) (codeview.Folder, error) {
	f := codeview.Folder{}
	shared, _, err := p.git.TreeAt(ctx, p.rev.Commit, p.path)
	if err != nil {
		return f, lost(err)
	}
	entries := slices.Clone(shared)
	f.Total = len(entries)
	sort.SliceStable(entries, func(i, j int) bool {
		a, b := entries[i].IsTree() || entries[i].IsSubmodule(), entries[j].IsTree() || entries[j].IsSubmodule()
		if a != b {
			return a
		}
		return entries[i].Name < entries[j].Name
	})
	if len(entries) > maxEntries {
		entries = entries[:maxEntries]
	}
	var modules map[string]git.Submodule
	for _, e := range entries {
		if e.IsSubmodule() && modules == nil {
			if modules, err = p.git.Submodules(ctx, p.rev.Commit); err != nil {
				return f, err
			}
		}
		row, err := s.entry(ctx, p, e, modules)
		if err != nil {
			return f, err
		}
		f.Entries = append(f.Entries, row)
	}
	return f, nil
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func (s *Service) entry(ctx context.Context, p *place, e git.TreeEntry, modules map[string]git.Submodule) (codeview.Entry, error) {
	o, n, path := p.repo.Owner.Name, p.repo.Name, join(p.path, e.Name)
	row := codeview.Entry{Key: e.Name, Name: git.Display(e.Name), Href: link.Blob(o, n, p.ref(), path), Icon: "file"}
	switch e.Kind() {
	case git.KindTree:
		row.Icon = "folder"
		// A folder that holds only a folder is shown joined with it.
		for range 10 {
			only, err := p.git.Tree(ctx, e.OID)
			if err != nil || len(only) != 1 || !only[0].IsTree() {
				break
			}
			e, path = only[0], path+"/"+only[0].Name
			row.Name += "/" + git.Display(only[0].Name)
		}
		row.Href, row.Kind = link.Tree(o, n, p.ref(), path), "Folder"
	case git.KindSymlink:
		row.Icon, row.Kind = "file-symlink", "Symbolic link"
		if target, err := p.git.Blob(ctx, e.OID, 4096); err == nil {
			row.Target = git.Display(string(target))
		}
	case git.KindSubmodule:
		row.Icon, row.Kind, row.Href = "folder-git-2", "Submodule", ""
		row.Target = e.OID.Short()
		if m, ok := modules[path]; ok {
			row.Href = s.submodulePage(p.repo, m.URL, e.OID)
		}
	case git.KindExecutable:
		row.Kind = "Executable file"
	case git.KindFile:
		row.Kind = "File"
	}
	return row, nil
}

// maxReadme is how much of a README is read, in bytes.
const maxReadme = 1 << 20

// readmeFolders are where the description of the root may lie instead.
func readmeFolders() []string { return []string{".github", "docs"} }

// findReadme is the path of the file that describes the folder at p, "" for
// none.
func (s *Service) findReadme(ctx context.Context, p *place) (string, error) {
	entries, _, err := p.git.TreeAt(ctx, p.rev.Commit, p.path)
	if err != nil {
		return "", lost(err)
	}
	return s.readmeOf(ctx, p, entries)
}

func (s *Service) readmeOf(ctx context.Context, p *place, entries []git.TreeEntry) (string, error) {
	if name := bestReadme(entries); name != "" {
		return join(p.path, name), nil
	}
	if p.path != "" {
		return "", nil
	}
	for _, dir := range readmeFolders() {
		for _, e := range entries {
			if e.Name != dir || !e.IsTree() {
				continue
			}
			inside, err := p.git.Tree(ctx, e.OID)
			if err != nil {
				return "", err
			}
			if name := bestReadme(inside); name != "" {
				return join(dir, name), nil
			}
		}
	}
	return "", nil
}

// bestReadme is the entry that describes its folder best. Of names that differ
// only in case the first in git's order is taken, so the choice is always the
// same.
func bestReadme(entries []git.TreeEntry) string {
	best, rank := "", 0
	for _, e := range entries {
		if e.IsTree() || e.IsSubmodule() {
			continue
		}
		if r := markup.ReadmeRank(e.Name); r > rank || r == rank && r > 0 && e.Name < best {
			best, rank = e.Name, r
		}
	}
	return best
}

// readme renders the file that describes a folder.
func (s *Service) readme(ctx context.Context, p *place, entries []git.TreeEntry) (*codeview.Readme, error) {
	at, err := s.readmeOf(ctx, p, entries)
	if err != nil || at == "" {
		return nil, err
	}
	path, e, err := p.git.FollowLinks(ctx, p.rev.Commit, at)
	if err != nil {
		return nil, nil //nolint:nilerr // a link that leads nowhere is no README
	}
	text, err := p.git.Blob(ctx, e.OID, maxReadme)
	if errors.Is(err, git.ErrTooLarge) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &codeview.Readme{Name: git.Display(strings.TrimPrefix(at, p.path+"/")),
		Href: link.Blob(p.repo.Owner.Name, p.repo.Name, p.ref(), at)}
	if markup.IsBinary(text) {
		return nil, nil
	}
	if !markup.IsMarkdown(path) {
		r.Text = git.DecodeText(string(text))
		return r, nil
	}
	dir := ""
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir = path[:i]
	}
	html, err := s.document(ctx, p, dir, git.DecodeText(string(text)))
	r.HTML = string(html)
	return r, err
}
