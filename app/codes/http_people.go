package codes

import (
	"context"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/link"
)

// people finds the accounts behind the authors of commits by their addresses,
// in one query.
func (s *Service) people(ctx context.Context, commits []*git.Commit) (map[string]*model.Account, error) {
	emails := make([]string, 0, len(commits))
	for _, c := range commits {
		emails = append(emails, git.DecodeText(c.Author.Email))
	}
	return s.accounts(ctx, emails)
}

func (s *Service) accounts(ctx context.Context, emails []string) (map[string]*model.Account, error) {
	return accountdb.ByEmails(ctx, s.DB.Directory(), emails)
}

// line is a commit as lists show it.
func line(repo *model.Repo, c *git.Commit, people map[string]*model.Account) codeview.CommitLine {
	l := codeview.CommitLine{OID: c.OID.String(), Short: c.OID.Short(), Title: c.Title(), Body: c.Body(),
		Author: c.AuthorName(), Committer: c.CommitterName(), When: c.Committer.When, Authored: c.Author.When,
		Account: people[model.Key(git.DecodeText(c.Author.Email))],
		Href:    link.Commit(repo.Owner.Name, repo.Name, c.OID.String())}
	if l.Title == "" {
		l.Title = "(no message)"
	}
	for _, p := range c.CoAuthors() {
		l.CoAuthors = append(l.CoAuthors, git.DecodeText(p.Name))
	}
	return l
}

// lines is line for a list.
func (s *Service) lines(ctx context.Context, repo *model.Repo, commits []*git.Commit) ([]codeview.CommitLine, error) {
	people, err := s.people(ctx, commits)
	if err != nil {
		return nil, err
	}
	out := make([]codeview.CommitLine, len(commits))
	for i, c := range commits {
		out[i] = line(repo, c, people)
	}
	return out, nil
}
