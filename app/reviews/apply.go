package reviews

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/reviewdb"
)

// proposal is a suggestion that is about to be applied.
type proposal struct {
	id, thread, author int64
	path               string
	from, to           int // lines of the newest round
	lines              []string
}

// maxApplied is how many suggestions one commit applies.
const maxApplied = 100

// Apply commits the changes that comments propose to the head's branch, as one
// commit that credits those who proposed them, and resolves their
// conversations. message is the commit's title, "" for the usual one.
func (s *Service) Apply(ctx context.Context, p Place, number int64, ids []int64, message string) (string, error) {
	pull, err := s.Pulls.Find(ctx, p, number)
	if err != nil {
		return "", err
	}
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return "", err
	}
	if err := s.Follow(ctx, p, g, pull); err != nil {
		return "", err
	}
	list, err := s.proposals(ctx, p, pull, ids)
	if err != nil {
		return "", err
	}
	if message = strings.TrimSpace(message); message == "" {
		message = "Apply suggestion from code review"
		if len(list) > 1 {
			message = "Apply suggestions from code review"
		}
	}
	var people []int64
	for _, x := range list {
		if x.author != p.Viewer.ID() && !slices.Contains(people, x.author) {
			people = append(people, x.author)
		}
	}
	credit, err := s.Pulls.CoAuthors(ctx, people)
	if err != nil {
		return "", err
	}
	if credit != "" {
		message += "\n\n" + credit
	}
	made, err := s.Pulls.CommitToHead(ctx, p, number, pulls.HeadCommit{Head: pull.HeadSHA, Message: message + "\n",
		Tree: func(ctx context.Context, g *git.Repository, head git.OID) (git.OID, error) {
			return applied(ctx, g, head, list)
		}})
	if err != nil {
		return "", err
	}
	for _, x := range list {
		if _, err := s.Resolve(context.WithoutCancel(ctx), p, number, x.thread, true); err != nil && !fault.Is(err, fault.Forbidden) {
			return made, err
		}
	}
	return made, nil
}

// proposals are the suggestions of the comments, each where it stands now.
func (s *Service) proposals(ctx context.Context, p Place, pull *model.Pull, ids []int64) ([]proposal, error) {
	if len(ids) == 0 || len(ids) > maxApplied {
		return nil, fault.Field("ids", "Choose between one and 100 suggestions.")
	}
	var out []proposal
	for _, id := range ids {
		x, err := s.seen(ctx, s.DB.Repo(p.Repo.ID), p, pull.Number, id)
		if err != nil {
			return nil, err
		}
		first, err := reviewdb.Comment(ctx, s.DB.Repo(p.Repo.ID), x.Thread)
		if err != nil {
			return nil, err
		}
		_, after := suggested(x.Body)
		path, line, start, ok := where(first)
		switch {
		case after == nil || first.Left() || first.Line == 0:
			return nil, fault.Field("ids", "A comment proposes no change of lines.")
		case x.Pending:
			return nil, fault.New(fault.Conflict, "A suggestion that is not submitted yet cannot be applied.")
		case !ok:
			return nil, fault.New(fault.Conflict, "The lines in "+path+" have changed since, so the suggestion cannot be applied.")
		}
		if start == 0 {
			start = line
		}
		out = append(out, proposal{x.ID, x.Thread, x.AuthorID, path, start, line, after})
	}
	slices.SortFunc(out, func(a, b proposal) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		return a.from - b.from
	})
	for i := 1; i < len(out); i++ {
		if out[i].path == out[i-1].path && out[i].from <= out[i-1].to {
			return nil, fault.New(fault.Conflict, "Two of the suggestions change the same lines of "+out[i].path+". Apply one of them.")
		}
	}
	return out, nil
}

// applied is head's tree with the suggestions in it, which are in order.
// Lines that stay keep their bytes, new ones end as the file's do.
func applied(ctx context.Context, g *git.Repository, head git.OID, list []proposal) (git.OID, error) {
	var changes []git.Change
	for len(list) > 0 {
		path := list[0].path
		n := slices.IndexFunc(list, func(x proposal) bool { return x.path != path })
		if n < 0 {
			n = len(list)
		}
		data, entry, err := g.BlobAt(ctx, head, path, maxCommented)
		if errors.Is(err, git.ErrNotFound) {
			return "", fault.New(fault.Conflict, path+" is no longer there.")
		}
		if err != nil {
			return "", err
		}
		text, ok := git.EditableText(string(data))
		if !ok {
			return "", fault.New(fault.Conflict, path+" is not text.")
		}
		text, err = replaced(text, list[:n])
		if err != nil {
			return "", err
		}
		edited, err := git.EditText(string(data), text)
		if errors.Is(err, git.ErrEncoding) {
			return "", fault.New(fault.Conflict, "A suggestion for "+path+" holds characters that the file’s encoding lacks.")
		}
		if err != nil {
			return "", err
		}
		oid, err := g.WriteBlob(ctx, strings.NewReader(edited))
		if err != nil {
			return "", err
		}
		changes = append(changes, git.Change{Path: path, OID: oid, Mode: entry.Mode})
		list = list[n:]
	}
	tree, err := g.TreeOf(ctx, head)
	if err != nil {
		return "", err
	}
	made, err := g.EditTree(ctx, tree, changes)
	if err == nil && made == tree {
		return "", fault.New(fault.Conflict, "The suggestions change nothing.")
	}
	return made, err
}

// replaced is a text with the lines of the proposals in the place of those
// that they are about.
func replaced(text string, list []proposal) (string, error) {
	end := ""
	if strings.HasSuffix(text, "\n") {
		end = "\n"
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for _, x := range slices.Backward(list) {
		if x.to > len(lines) {
			return "", fault.New(fault.Conflict, "The lines in "+x.path+" have changed since, so the suggestion cannot be applied.")
		}
		lines = slices.Concat(lines[:x.from-1], x.lines, lines[x.to:])
	}
	if len(lines) == 0 {
		return "", nil
	}
	return strings.Join(lines, "\n") + end, nil
}
