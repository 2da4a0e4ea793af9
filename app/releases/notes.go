package releases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/db/releasedb"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/link"
	"go.yaml.in/yaml/v3"
)

// NotesInput says for what notes are made. Previous is the tag since which
// changes are told, "" for that of the release before. Release is the one
// that they are for, 0 for a new one. Config is a file on the branch that
// groups them, "" for .github/release.yml or .yaml.
type NotesInput struct {
	Tag, Target, Previous, Config string
	Release                       int64
}

// Notes are what is made of the merged pull requests. Previous is the tag
// since which they tell, "" for the beginning.
type Notes struct{ Name, Body, Previous string }

const (
	maxNoteCommits = 10_000
	maxNotePulls   = 2_000
	maxConfig      = 64 << 10
)

// notesConfig groups and leaves out pull requests, as GitHub's release.yml
// does
// (https://docs.github.com/repositories/releasing-projects-on-github/automatically-generated-release-notes).
type notesConfig struct {
	Changelog struct {
		Exclude    notesFilter     `yaml:"exclude"`
		Categories []notesCategory `yaml:"categories"`
	} `yaml:"changelog"`
}

type notesFilter struct {
	Labels  []string `yaml:"labels"`
	Authors []string `yaml:"authors"`
}

type notesCategory struct {
	Title   string      `yaml:"title"`
	Labels  []string    `yaml:"labels"`
	Exclude notesFilter `yaml:"exclude"`
}

// change is a merged pull request as notes tell it.
type change struct {
	number        int64
	title, author string
	authorID      int64
	labels        []string
}

func (f notesFilter) matches(c change) bool {
	if slices.ContainsFunc(f.Authors, func(a string) bool { return model.Key(a) == model.Key(c.author) }) {
		return true
	}
	return anyLabel(f.Labels, c.labels)
}

func anyLabel(wanted, have []string) bool {
	return slices.ContainsFunc(wanted, func(w string) bool {
		return w == "*" || slices.ContainsFunc(have, func(l string) bool { return model.Key(l) == model.Key(w) })
	})
}

// Notes makes notes of the pull requests that were merged since the release
// before.
func (s *Service) Notes(ctx context.Context, repo *model.Repo, in NotesInput) (*Notes, error) {
	if in.Tag == "" || !git.ValidTagName(in.Tag) {
		return nil, fault.Field("tag_name", "Name the tag first.")
	}
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return nil, err
	}
	to, _, err := s.commitOf(ctx, g, repo, in.Tag, in.Target)
	if err != nil {
		return nil, err
	}
	previous, opts, err := s.since(ctx, g, repo, in)
	if err != nil {
		return nil, err
	}
	log, err := g.Log(ctx, to, opts)
	if err != nil {
		return nil, err
	}
	commits := make(map[string]bool, len(log))
	for _, c := range log {
		commits[c.OID.String()] = true
	}
	changes, firsts, err := s.changes(ctx, repo, commits)
	if err != nil {
		return nil, err
	}
	config, err := s.notesConfig(ctx, g, to, in.Config)
	if err != nil {
		return nil, err
	}
	out := &Notes{Name: in.Tag, Previous: previous}
	out.Body = s.write(repo, in.Tag, previous, config, changes, firsts)
	return out, nil
}

// since finds the tag since which notes tell, and what of the history is not
// of them.
func (s *Service) since(ctx context.Context, g *git.Repository, repo *model.Repo, in NotesInput) (string, git.LogOptions, error) {
	opts := git.LogOptions{Limit: maxNoteCommits}
	previous := in.Previous
	if previous == "" {
		r, err := releasedb.Before(ctx, s.DB.Repo(repo.ID), in.Release, in.Tag, false)
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			return "", opts, err
		}
		if err == nil {
			previous = r.Tag
		}
	}
	if previous == "" {
		return "", opts, nil
	}
	rev, err := g.ResolveRef(ctx, git.TagPrefix+previous)
	switch {
	case errors.Is(err, git.ErrNotFound) && in.Previous == "":
		return "", opts, nil
	case errors.Is(err, git.ErrNotFound) || err == nil && rev.Commit == "":
		return "", opts, fault.Field("previous_tag_name", "There is no tag named "+git.Display(previous)+".")
	case err != nil:
		return "", opts, err
	}
	opts.Exclude = []git.OID{rev.Commit}
	return previous, opts, nil
}

// changes are the pull requests that brought one of the commits, and by
// number those of them that are their author's first.
func (s *Service) changes(ctx context.Context, repo *model.Repo, commits map[string]bool) ([]change, map[int64]bool, error) {
	state := s.DB.Repo(repo.ID)
	merged, err := pulldb.Merged(ctx, state, maxNotePulls)
	if err != nil {
		return nil, nil, err
	}
	facts, err := threaddb.LoadContext(ctx, state, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	firsts, known := map[int64]bool{}, map[int64]bool{}
	var out []change
	var ids []int64
	for _, p := range merged {
		if p.Issue == nil {
			continue
		}
		if author := p.Issue.AuthorID; !known[author] {
			known[author], firsts[p.Number] = true, true
		}
		if !commits[p.MergeSHA] && !commits[p.HeadSHA] || p.Issue.Confidential {
			continue
		}
		c := change{number: p.Number, title: p.Issue.Title, authorID: p.Issue.AuthorID}
		for _, l := range facts.Labels {
			if slices.Contains(p.Issue.LabelIDs, l.ID) {
				c.labels = append(c.labels, l.Name)
			}
		}
		ids = append(ids, c.authorID)
		out = append(out, c)
	}
	people, err := accountdb.ByIDs(ctx, s.DB.Directory(), ids...)
	if err != nil {
		return nil, nil, err
	}
	for i := range out {
		out[i].author = "ghost"
		if a := people[out[i].authorID]; a != nil {
			out[i].author = a.Name
		}
	}
	return out, firsts, nil
}

// notesConfig reads how notes are grouped; a file that cannot be read groups
// nothing.
func (s *Service) notesConfig(ctx context.Context, g *git.Repository, at git.OID, file string) (notesConfig, error) {
	var config notesConfig
	files := []string{".github/release.yml", ".github/release.yaml"}
	if file != "" {
		files = []string{file}
	}
	for _, f := range files {
		data, _, err := g.BlobAt(ctx, at, f, maxConfig)
		if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrWrongType) || errors.Is(err, git.ErrTooLarge) {
			continue
		}
		if err != nil {
			return config, err
		}
		if yaml.Unmarshal(data, &config) != nil {
			return notesConfig{}, nil
		}
		return config, nil
	}
	return config, nil
}

func (s *Service) write(repo *model.Repo, tag, previous string, config notesConfig, changes []change, firsts map[int64]bool) string {
	var b strings.Builder
	changes = slices.DeleteFunc(changes, config.Changelog.Exclude.matches)
	if len(changes) > 0 {
		b.WriteString("## What changed\n")
		s.grouped(&b, repo, config.Changelog.Categories, changes)
	}
	changes = slices.DeleteFunc(slices.Clone(changes), func(c change) bool { return !firsts[c.number] || c.author == "ghost" })
	if len(changes) > 0 && previous != "" {
		b.WriteString("\n## New contributors\n")
		for _, c := range changes {
			fmt.Fprintf(&b, "* @%s made their first contribution in %s\n", c.author, s.pullURL(repo, c.number))
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	if previous == "" {
		b.WriteString("**All changes**: " + s.URL + link.Commits(repo.Owner.Name, repo.Name, tag, ""))
	} else {
		b.WriteString("**All changes**: " + s.URL + link.Compare(repo.Owner.Name, repo.Name, previous, tag))
	}
	return b.String()
}

func (s *Service) pullURL(repo *model.Repo, n int64) string {
	return s.URL + link.Pull(repo.Owner.Name, repo.Name, n)
}

// grouped writes the changes by category, each into the first that fits.
func (s *Service) grouped(b *strings.Builder, repo *model.Repo, categories []notesCategory, changes []change) {
	line := func(c change) {
		fmt.Fprintf(b, "* %s by @%s in %s\n", escaped(c.title), c.author, s.pullURL(repo, c.number))
	}
	if len(categories) == 0 {
		for _, c := range changes {
			line(c)
		}
		return
	}
	left := slices.Clone(changes)
	for _, cat := range append(slices.Clone(categories), notesCategory{Title: "Other changes", Labels: []string{"*"}}) {
		titled := false
		left = slices.DeleteFunc(left, func(c change) bool {
			if !anyLabel(cat.Labels, c.labels) && !slices.Contains(cat.Labels, "*") || cat.Exclude.matches(c) {
				return false
			}
			if !titled {
				b.WriteString("### " + cat.Title + "\n")
				titled = true
			}
			line(c)
			return true
		})
	}
}

// escaped keeps a title from meaning something in Markdown: a title is text.
func escaped(title string) string {
	return strings.NewReplacer(`\`, `\\`, "<", `\<`, "[", `\[`, "]", `\]`, "*", `\*`, "_", `\_`, "`", "\\`", "@", "@\u200b").Replace(title)
}
