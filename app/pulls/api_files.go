package pulls

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

const (
	// maxAPIFiles is how many files the API lists, as on GitHub.
	maxAPIFiles = 3000
	// maxPatchLines bounds the patch of one file in the API.
	maxPatchLines = 3000
)

func (s *Service) apiFiles(c *web.Ctx) error {
	pull, g, err := s.found(c)
	if err != nil {
		return err
	}
	stop := c.Time("git")
	base := diffBase(g, pull)
	all, err := g.DiffFiles(c.Context(), git.DiffOptions{Base: base, Head: git.OID(pull.HeadSHA)})
	if err != nil {
		return err
	}
	if len(all) > maxAPIFiles {
		all = all[:maxAPIFiles]
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(all))
	all = slice(all, page)
	out := []File{}
	if len(all) > 0 {
		opts := git.DiffOptions{Base: base, Head: git.OID(pull.HeadSHA), MaxFileLines: maxPatchLines, MaxLines: 10 * maxPatchLines}
		for i := range all {
			opts.Paths = append(opts.Paths, all[i].Paths()...)
		}
		files, err := g.Diff(c.Context(), opts)
		if err != nil {
			return err
		}
		for i := range files {
			out = append(out, fileWire(c, pull, &files[i]))
		}
	}
	stop()
	return c.JSON(http.StatusOK, out)
}

// diffBase is what the head of a pull request is compared with: the merge
// base, or nothing where there is none.
func diffBase(g *git.Repository, pull *model.Pull) git.OID {
	if pull.MergeBase == "" {
		return g.EmptyTree()
	}
	return git.OID(pull.MergeBase)
}

func fileWire(c *web.Ctx, pull *model.Pull, f *git.DiffFile) File {
	o, n := c.Repo.Owner.Name, c.Repo.Name
	rev, name, oid := pull.HeadSHA, f.Name(), f.NewOID
	if f.Status == git.StatusDeleted {
		rev, oid = pull.MergeBase, f.OldOID
	}
	out := File{SHA: some(oid.String()), Filename: git.Display(name), Status: f.Status.String(), Additions: f.Additions, Deletions: f.Deletions,
		Changes: f.Additions + f.Deletions, BlobURL: c.URL(link.Blob(o, n, rev, name)), RawURL: c.URL(link.Raw(o, n, rev, name)),
		ContentsURL: apiBase(c) + "/contents/" + link.Path(name) + "?ref=" + rev}
	if f.OldName != f.NewName {
		out.PreviousFilename = git.Display(f.OldName)
	}
	if !f.Truncated {
		out.Patch = patchText(f)
	}
	return out
}

// patchText is the hunks of a file as a diff shows them.
func patchText(f *git.DiffFile) string {
	var b strings.Builder
	for i := range f.Hunks {
		writeHunk(&b, &f.Hunks[i])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeHunk(b *strings.Builder, h *git.Hunk) {
	fmt.Fprintf(b, "@@ -%s +%s @@", span(h.OldStart, h.OldLines), span(h.NewStart, h.NewLines))
	if h.Section != "" {
		b.WriteString(" " + git.DecodeText(h.Section))
	}
	b.WriteByte('\n')
	for i := range h.Lines {
		l := &h.Lines[i]
		b.WriteByte(byte(l.Kind))
		b.WriteString(git.DecodeText(l.Text))
		b.WriteByte('\n')
		if l.NoNewline {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
}

// span is a range of lines in a hunk's head; a single line needs no count.
func span(start, lines int) string {
	if lines == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

// authors are the accounts of those who wrote commits, by Key of the address.
func (s *Service) authors(ctx context.Context, log []*git.Commit) (map[string]*model.Account, error) {
	seen := map[string]bool{}
	var emails []string
	for _, c := range log {
		for _, e := range []string{git.DecodeText(c.Author.Email), git.DecodeText(c.Committer.Email)} {
			if e != "" && !seen[e] {
				seen[e] = true
				emails = append(emails, e)
			}
		}
	}
	return accountdb.ByEmails(ctx, s.DB.Directory(), emails)
}
