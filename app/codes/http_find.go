package codes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

const (
	// maxFound is how many files a search of names lists, maxNames in how many
	// it looks.
	maxFound = 50
	maxNames = 300_000
)

// find is the page that goes to a file by parts of its name.
func (s *Service) find(c *web.Ctx) error {
	p, err := s.here(c)
	if err != nil {
		return emptyIsMissing(err)
	}
	paths, more, err := s.names(c, p)
	if err != nil {
		return err
	}
	q := strings.TrimSpace(c.Query("q"))
	props := codeview.FindProps{Query: q, Action: link.Find(p.repo.Owner.Name, p.repo.Name, p.ref()), Ref: git.Display(p.ref()), Partial: more,
		Total: len(paths)}
	for _, path := range bestPaths(paths, q) {
		props.Files = append(props.Files, codeview.RefLink{Name: git.Display(path), Href: link.Blob(p.repo.Owner.Name, p.repo.Name, p.ref(), path)})
	}
	if c.HTMX() && c.Target() == "found" {
		return c.Render(web.Page{Body: codeview.Found(props)})
	}
	if props.Head, err = s.head(c, p, "tree"); err != nil {
		return err
	}
	return s.show(c, web.Page{Title: "Go to file · " + p.repo.FullName(), Body: codeview.FindPage(props),
		Parts: map[string]func() templ.Component{"found": func() templ.Component { return codeview.Found(props) }}})
}

// FindFiles are the paths of a repository's default branch that match parts of
// a name, the best first, and the branch; none where there are no commits.
func (s *Service) FindFiles(c *web.Ctx, repo *model.Repo, q string, limit int) (paths []string, ref string, err error) {
	p, err := s.at(c.Context(), repo, "")
	if errors.Is(err, errEmpty) || errors.Is(err, db.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	all, _, err := s.names(c, p)
	if err != nil {
		return nil, "", err
	}
	found := bestPaths(all, q)
	return found[:min(len(found), limit)], p.ref(), nil
}

// fileNames are the paths of all files of one tree.
type fileNames struct {
	paths []string
	more  bool
}

// names are the paths of all files at p, kept by their tree.
func (s *Service) names(c *web.Ctx, p *place) ([]string, bool, error) {
	defer c.Time("git")()
	tree, err := p.git.TreeOf(c.Context(), p.rev.Commit)
	if err != nil {
		return nil, false, lost(err)
	}
	var failed error
	out, err := s.files.Do(c.Context(), tree, func() (fileNames, int64, bool) {
		// Others may wait for the same names, so one who leaves does not end it.
		paths, more, err := p.git.Files(context.WithoutCancel(c.Context()), tree, maxNames)
		size := int64(0)
		for _, path := range paths {
			size += int64(len(path)) + 16
		}
		failed = err
		return fileNames{paths, more}, size, err == nil
	})
	if failed != nil {
		err = failed
	}
	return out.paths, out.more, err
}

// bestPaths are the paths that hold the letters of q in order, the best first:
// those that hold all of it together, in the file's own name, near its start.
func bestPaths(paths []string, q string) []string {
	q = strings.ToLower(strings.ReplaceAll(q, " ", ""))
	if q == "" {
		return paths[:min(len(paths), maxFound)]
	}
	type match struct {
		path  string
		score int
	}
	var found []match
	for _, path := range paths {
		if score, ok := matchPath(strings.ToLower(path), q); ok {
			found = append(found, match{path, score})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return len(a.path) - len(b.path)
	})
	found = found[:min(len(found), maxFound)]
	out := make([]string, len(found))
	for i, m := range found {
		out[i] = m.path
	}
	return out
}

// matchPath scores how well q is found in a path; both are lower case.
func matchPath(path, q string) (score int, ok bool) {
	name := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case name == q:
		return 4000, true
	case strings.HasPrefix(name, q):
		return 3000 - len(name), true
	case strings.Contains(name, q):
		return 2000 - len(name), true
	case strings.Contains(path, q):
		return 1000 - len(path)/10, true
	}
	at, last, start := 0, -2, true
	for i, r := range path {
		if at == len(q) {
			break
		}
		want, size := utf8.DecodeRuneInString(q[at:])
		if r == want {
			at += size
			if last == i-1 {
				score += 5
			}
			if start {
				score += 8
			}
			last = i
		}
		start = !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	return score - len(path)/20, at == len(q)
}
