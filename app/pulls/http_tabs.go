package pulls

import (
	"net/http"
	"slices"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/statusdb"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/part"
	"github.com/gitfor/gitfor/views/pullview"
)

// maxCommits is how many commits the tab lists.
const maxCommits = 500

// render answers with a page of a pull request.
func (s *Service) render(c *web.Ctx, status int, pull *model.Pull, what string, body templ.Component, wide bool, head pullview.HeadProps) error {
	shell, err := s.Repos.Shell(c, "pulls")
	if err != nil {
		return err
	}
	return c.Render(web.Page{Status: status, Title: what + " · " + pull.Issue.Title + " · Pull request #" + num(pull.Number) + " · " + c.Repo.FullName(),
		Props: layout.Props{Wide: wide}, Shell: shell, Body: body,
		Parts: map[string]func() templ.Component{"thread-head": func() templ.Component { return pullview.Head(head) }}})
}

func (s *Service) commitsPage(c *web.Ctx) error {
	pull, g, err := s.found(c)
	if err != nil {
		return err
	}
	log, err := commitsOf(c.Context(), g, pull, maxCommits)
	if err != nil {
		return err
	}
	people, err := s.authors(c.Context(), log)
	if err != nil {
		return err
	}
	shas := make([]string, len(log))
	for i, commit := range log {
		shas[i] = commit.OID.String()
	}
	statuses, err := statusdb.Latest(c.Context(), s.DB.Repo(c.Repo.ID), "", shas...)
	if err != nil {
		return err
	}
	ids := []int64{pull.Issue.AuthorID}
	for _, r := range pull.Rounds {
		ids = append(ids, r.By)
	}
	accounts, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
	if err != nil {
		return err
	}
	p := pullview.CommitsProps{More: max(0, pull.Commits-len(log))}
	if p.Head, err = s.headProps(c, g, pull, accounts[pull.Issue.AuthorID], "commits"); err != nil {
		return err
	}
	for _, commit := range log {
		row := commitProps(c, commit, people)
		if list := statuses[row.OID]; len(list) > 0 {
			state := part.CheckState(model.Combined(list))
			row.Status, row.StatusTitle = &state, checked(list)
		}
		p.Commits = append(p.Commits, row)
	}
	p.Rounds = rounds(c, pull, accounts)
	return s.render(c, http.StatusOK, pull, "Commits", pullview.Commits(p), false, p.Head)
}

func commitProps(c *web.Ctx, commit *git.Commit, people map[string]*model.Account) pullview.Commit {
	title := commit.Title()
	if title == "" {
		title = "(no message)"
	}
	return pullview.Commit{OID: commit.OID.String(), Short: commit.OID.Short(), Title: title, Body: commit.Body(),
		Author: commit.AuthorName(), Account: people[model.Key(git.DecodeText(commit.Author.Email))], When: commit.Committer.When,
		Href: link.Commit(c.Repo.Owner.Name, c.Repo.Name, commit.OID.String())}
}

// checked says how many of a commit's checks have succeeded.
func checked(list []*model.Status) string {
	done := 0
	for _, st := range list {
		if st.Outcome() == model.StatusSuccess {
			done++
		}
	}
	return num(int64(done)) + " of " + num(int64(len(list))) + " checks have succeeded"
}

// rounds are the versions of the branch, the newest first.
func rounds(c *web.Ctx, pull *model.Pull, accounts map[int64]*model.Account) []pullview.Round {
	files := link.PullFiles(c.Repo.Owner.Name, c.Repo.Name, pull.Number)
	var out []pullview.Round
	for i, r := range pull.Rounds {
		round := pullview.Round{Number: i + 1, By: accounts[r.By], At: r.At, Forced: r.Forced, Head: r.Head,
			Href: link.Q("round", num(int64(i+1))).On(files)}
		if i > 0 {
			round.Compare = link.Q("from", num(int64(i)), "round", num(int64(i+1))).On(files)
		}
		out = append(out, round)
	}
	slices.Reverse(out)
	return out
}

// sidesOf reads which rounds are asked for.
func (s *Service) sidesOf(c *web.Ctx, g *git.Repository, pull *model.Pull) (Sides, error) {
	now := pull.Round()
	at := Sides{Base: diffBase(g, pull), Head: git.OID(pull.HeadSHA), Round: now}
	at.Round = c.QueryInt("round", now, 1, now)
	if at.Round != now {
		r := pull.Rounds[at.Round-1]
		at.Head, at.Base = git.OID(r.Head), git.OID(r.Base)
		if r.Base == "" {
			at.Base = g.EmptyTree()
		}
	}
	if from := c.QueryInt("from", 0, 0, at.Round-1); from > 0 {
		at.From = from
		var err error
		at.Base, err = s.between(c.Context(), g, pull, from, at.Round)
		return at, err
	}
	return at, nil
}
