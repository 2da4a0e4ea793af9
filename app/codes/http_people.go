package codes

import (
	"context"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
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

// signedLines is lines with what is known of their signatures; one query more
// when there are any.
func (s *Service) signedLines(ctx context.Context, repo *model.Repo, commits []*git.Commit) ([]codeview.CommitLine, error) {
	out, err := s.lines(ctx, repo, commits)
	if err != nil {
		return nil, err
	}
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return nil, err
	}
	known, err := s.Signatures.Of(ctx, g, repo.ID, commits...)
	if err != nil {
		return nil, err
	}
	for i, c := range commits {
		if r, ok := known[c.OID]; ok {
			out[i].Signed = &codeview.Signed{Verified: r.Verified, Why: r.Words()}
		}
	}
	return out, nil
}

// contributorsPage lists who wrote the commits of the default branch.
func (s *Service) contributorsPage(c *web.Ctx) error {
	p, err := s.at(c.Context(), c.Repo, "")
	if err != nil {
		return emptyIsMissing(err)
	}
	stop := c.Time("git")
	list, err := s.contributors(c.Context(), p)
	stop()
	if err != nil {
		return err
	}
	props := codeview.PeopleProps{Repo: c.Repo}
	for _, one := range list[:min(len(list), 200)] {
		row := codeview.Contributor{Account: one.Account, Name: git.DecodeText(one.Name), Commits: one.Commits, First: one.First, Last: one.Last,
			Part: float64(one.Commits) / float64(max(list[0].Commits, 1))}
		if one.Account == nil {
			row.History = link.Q("author", git.DecodeText(one.Email)).On(link.Commits(p.repo.Owner.Name, p.repo.Name, p.ref(), ""))
		} else {
			row.History = link.Q("author", one.Account.Name).On(link.Commits(p.repo.Owner.Name, p.repo.Name, p.ref(), ""))
		}
		props.People = append(props.People, row)
	}
	props.More = len(list) - len(props.People)
	return s.show(c, web.Page{Title: "Contributors · " + c.Repo.FullName(), Body: codeview.PeoplePage(props)})
}
