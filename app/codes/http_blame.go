package codes

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"path"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

const (
	// blameTime is how long a page may take to find who wrote what.
	blameTime = 15 * time.Second
	// maxBlamed is how many lines a file may have.
	maxBlamed = 25_000
)

// blame shows who last changed each line of a file.
func (s *Service) blame(c *web.Ctx) error {
	p, err := s.here(c)
	if err != nil {
		return emptyIsMissing(err)
	}
	e, err := p.git.EntryAt(c.Context(), p.rev.Commit, p.path)
	if err != nil {
		return lost(err)
	}
	o, n := p.repo.Owner.Name, p.repo.Name
	if e.IsTree() || e.IsSubmodule() {
		return c.Redirect(link.Tree(o, n, p.ref(), p.path))
	}
	head, err := s.head(c, p, "blame")
	if err != nil {
		return err
	}
	props := codeview.BlameProps{Head: head, Name: git.Display(path.Base(p.path)), File: link.Blob(o, n, p.ref(), p.path),
		Raw: link.Raw(o, n, p.ref(), p.path), History: link.Commits(o, n, p.ref(), p.path), All: c.Query("all") == "1"}
	lines, err := s.blamedLines(c, p, e)
	if err != nil {
		return err
	}
	hunks, err := s.blamed(c, p, &props)
	if err != nil {
		return err
	}
	if err := s.blameBlocks(c.Context(), p, &props, hunks, lines); err != nil {
		return err
	}
	return s.show(c, web.Page{Title: "Blame of " + git.Display(p.path) + " · " + p.repo.FullName(), Body: codeview.BlamePage(props)})
}

// blamedLines are the coloured lines of a file that is fit for it.
func (s *Service) blamedLines(c *web.Ctx, p *place, e git.TreeEntry) ([]template.HTML, error) {
	defer c.Time("git")()
	data, err := p.git.Blob(c.Context(), e.OID, maxShown)
	if errors.Is(err, git.ErrTooLarge) {
		return nil, fault.New(fault.TooLarge, "This file is too large to tell who wrote each line.")
	}
	if err != nil {
		return nil, lost(err)
	}
	if markup.IsBinary(data) {
		return nil, fault.New(fault.NotFound, "This file is not text, so it has no lines to blame.")
	}
	coloured, err := s.colours.Lines(c.Context(), e.OID.String(), path.Base(p.path), data)
	if err != nil {
		return nil, err
	}
	if len(coloured.Lines) > maxBlamed {
		return nil, fault.New(fault.TooLarge, fmt.Sprintf("This file has more than %d lines, too many to tell who wrote each.", maxBlamed))
	}
	return coloured.Lines, nil
}

// blamed asks git, within the time and the budget for it.
func (s *Service) blamed(c *web.Ctx, p *place, props *codeview.BlameProps) ([]git.BlameHunk, error) {
	leave, err := s.costly.enter(c)
	if err != nil {
		return nil, err
	}
	defer leave()
	defer c.Time("git")()
	if e, err := p.git.EntryAt(c.Context(), p.rev.Commit, git.IgnoreRevsFile); err == nil && !e.IsTree() {
		props.IgnoreFile = link.Blob(p.repo.Owner.Name, p.repo.Name, p.ref(), git.IgnoreRevsFile)
	}
	ctx, cancel := context.WithTimeout(c.Context(), blameTime)
	defer cancel()
	hunks, err := p.git.Blame(ctx, p.rev.Commit, p.path, git.BlameOptions{IgnoreRevs: !props.All})
	if err != nil && ctx.Err() != nil && c.Context().Err() == nil {
		props.Partial = true
		return hunks, nil
	}
	return hunks, lost(err)
}

// blameBlocks joins the lines with what is known of them; lines that nobody
// was found for stand alone.
func (s *Service) blameBlocks(ctx context.Context, p *place, props *codeview.BlameProps, hunks []git.BlameHunk, lines []template.HTML) error {
	commits := make([]*git.Commit, 0, len(hunks))
	seen := map[git.OID]bool{}
	oldest, newest := time.Now(), time.Time{}
	for _, h := range hunks {
		if !seen[h.Commit.OID] {
			seen[h.Commit.OID] = true
			commits = append(commits, h.Commit)
		}
		if h.Commit.Author.When.Before(oldest) {
			oldest = h.Commit.Author.When
		}
		if h.Commit.Author.When.After(newest) {
			newest = h.Commit.Author.When
		}
	}
	people, err := s.people(ctx, commits)
	if err != nil {
		return err
	}
	next := 1
	plain := func(until int) {
		if until > next {
			props.Blocks = append(props.Blocks, codeview.BlameBlock{First: next, Lines: lines[next-1 : until-1]})
		}
	}
	for _, h := range hunks {
		if h.Line < next || h.Line+h.Count-1 > len(lines) {
			continue
		}
		plain(h.Line)
		commit := line(p.repo, h.Commit, people)
		block := codeview.BlameBlock{Commit: &commit, First: h.Line, Lines: lines[h.Line-1 : h.Line+h.Count-1],
			Heat: heat(h.Commit.Author.When, oldest, newest)}
		if h.Previous != "" {
			block.Before = link.Blame(p.repo.Owner.Name, p.repo.Name, h.Previous.String(), h.PreviousPath) + fmt.Sprintf("#L%d", h.OrigLine)
		}
		props.Blocks = append(props.Blocks, block)
		next = h.Line + h.Count
	}
	plain(len(lines) + 1)
	return nil
}

// heat is how new a change is among those of its file, from 0 to 4.
func heat(at, oldest, newest time.Time) int {
	span := newest.Sub(oldest)
	if span <= 0 {
		return 4
	}
	return int(min(max(at.Sub(oldest)*5/span, 0), 4))
}
