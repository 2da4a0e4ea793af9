package codes

import (
	"context"
	"html/template"

	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/views/link"
)

// files resolves the relative links of a document at p.
func (p *place) files() markup.Files {
	o, n, ref := p.repo.Owner.Name, p.repo.Name, p.ref()
	return markup.Files{
		Page:   func(path string) string { return link.Blob(o, n, ref, path) },
		Folder: func(path string) string { return link.Tree(o, n, ref, path) },
		Raw:    func(path string) string { return link.Raw(o, n, ref, path) },
		Home:   link.Repo(o, n),
		Key:    o + "/" + n + "@" + ref,
	}
}

// document renders a Markdown file of the repository.
func (s *Service) document(ctx context.Context, p *place, dir, text string) (template.HTML, error) {
	out, err := s.Markup.Render(ctx, markup.Lookup{}, text, markup.Options{Mode: markup.Document,
		Owner: p.repo.Owner.Name, Repo: p.repo.Name, Dir: dir, Files: p.files()})
	return out.HTML, err
}
