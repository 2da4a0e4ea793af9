package codes

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
)

// personInput is an author or committer as a client names one.
type personInput struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Date  string `json:"date"`
}

// person is the person that is named, nil where none is.
func (in *personInput) person(field string) (*git.Person, error) {
	if in == nil {
		return nil, nil
	}
	p := git.Person{Name: strings.TrimSpace(in.Name), Email: strings.TrimSpace(in.Email), When: time.Now()}
	f := fault.Fields{}
	if p.Name == "" || strings.ContainsAny(p.Name, "<>\n\x00") {
		f.Add(field+".name", "Give a name without < and >.")
	}
	if p.Email == "" || strings.ContainsAny(p.Email, "<> \n\x00") {
		f.Add(field+".email", "Give an address.")
	}
	if in.Date != "" {
		when, err := time.Parse(time.RFC3339, in.Date)
		if err != nil {
			f.Add(field+".date", "Give the time as in 2006-01-02T15:04:05Z.")
		}
		p.When = when
	}
	return &p, f.Err()
}

// contentsInput is GitHub's input for writing or deleting a file.
type contentsInput struct {
	Message   string       `json:"message"`
	Content   *string      `json:"content"`
	SHA       string       `json:"sha"`
	Branch    string       `json:"branch"`
	Author    *personInput `json:"author"`
	Committer *personInput `json:"committer"`
}

type contentsChanged struct {
	Content *Content  `json:"content"`
	Commit  GitCommit `json:"commit"`
}

func (in *contentsInput) change(c *web.Ctx, file FileChange) (ChangeInput, error) {
	out := ChangeInput{Branch: strings.TrimPrefix(in.Branch, git.BranchPrefix), Message: in.Message, Files: []FileChange{file}}
	var err error
	if out.Author, err = in.Author.person("author"); err != nil {
		return out, err
	}
	if out.Committer, err = in.Committer.person("committer"); err != nil {
		return out, err
	}
	if out.Committer != nil && out.Author == nil {
		out.Author = out.Committer
	}
	if in.SHA != "" {
		sha, ok := git.ParseOID(in.SHA)
		if !ok {
			return out, fault.Field("sha", "That is no object id.")
		}
		out.Files[0].Expect = &sha
	}
	return out, nil
}

// apiPutContents writes one file.
func (s *Service) apiPutContents(c *web.Ctx) error {
	var in contentsInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.Content == nil {
		return fault.Field("content", "content wasn't supplied")
	}
	data, err := decode64(*in.Content)
	if err != nil {
		return err
	}
	file := FileChange{Path: strings.TrimPrefix(c.Param("*"), "/"), Content: data}
	change, err := in.change(c, file)
	if err != nil {
		return err
	}
	created := change.Files[0].Expect == nil
	if created {
		none := git.OID("")
		change.Files[0].Expect = &none
	}
	commit, err := s.Change(c.Context(), c.Viewer, c.Repo, change)
	var moved *Moved
	switch {
	case errors.As(err, &moved) && created:
		return fault.New(fault.Invalid, "Invalid request.\n\n\"sha\" wasn't supplied.")
	case errors.As(err, &moved):
		return fault.Wrap(fault.Conflict, git.Display(file.Path)+" does not match "+in.SHA, err)
	case err != nil:
		return err
	}
	p, e, err := s.changed1(c, commit, change.Branch, file.Path)
	if err != nil {
		return err
	}
	w, err := s.content(c, p, e, false)
	if err != nil {
		return err
	}
	out := contentsChanged{Content: &w}
	if out.Commit, err = s.gitCommit(c, p.git, commit); err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return c.JSON(status, out)
}

// changed1 is the file that a commit wrote.
func (s *Service) changed1(c *web.Ctx, commit *git.Commit, branch, path string) (*place, git.TreeEntry, error) {
	g, err := s.apiGit(c)
	if err != nil {
		return nil, git.TreeEntry{}, err
	}
	if branch == "" {
		branch = c.Repo.DefaultBranch
	}
	p := &place{repo: c.Repo, git: g, path: path,
		rev: git.Revision{Name: branch, Ref: git.BranchPrefix + branch, OID: commit.OID, Commit: commit.OID}}
	e, err := g.EntryAt(c.Context(), commit.OID, path)
	return p, e, err
}

// decode64 reads base64 with or without line ends.
func decode64(s string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "", " ", "").Replace(s))
	if err != nil {
		return nil, fault.Field("content", "content is not valid Base64")
	}
	return data, nil
}

// apiDeleteContents deletes one file. Clients that send no body use the query.
func (s *Service) apiDeleteContents(c *web.Ctx) error {
	in := contentsInput{Message: c.Query("message"), SHA: c.Query("sha"), Branch: c.Query("branch")}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.SHA == "" {
		return fault.New(fault.Invalid, "Invalid request.\n\n\"sha\" wasn't supplied.")
	}
	file := FileChange{Path: strings.TrimPrefix(c.Param("*"), "/"), Delete: true}
	change, err := in.change(c, file)
	if err != nil {
		return err
	}
	commit, err := s.Change(c.Context(), c.Viewer, c.Repo, change)
	var moved *Moved
	switch {
	case errors.As(err, &moved) && moved.Now == "":
		return fault.Wrap(fault.NotFound, "There is no such file.", err)
	case errors.As(err, &moved):
		return fault.Wrap(fault.Conflict, git.Display(file.Path)+" does not match "+in.SHA, err)
	case err != nil:
		return err
	}
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	out := contentsChanged{}
	if out.Commit, err = s.gitCommit(c, g, commit); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out)
}

// mergeInput is GitHub's input for merging a branch
// (https://docs.github.com/rest/branches/branches#merge-a-branch).
type mergeInput struct {
	Base    string `json:"base"`
	Head    string `json:"head"`
	Message string `json:"commit_message"`
}

func (s *Service) apiMerge(c *web.Ctx) error {
	var in mergeInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	f := fault.Fields{}
	if in.Base == "" {
		f.Add("base", "base wasn't supplied")
	}
	if in.Head == "" {
		f.Add("head", "head wasn't supplied")
	}
	if err := f.Err(); err != nil {
		return err
	}
	commit, err := s.Merge(c.Context(), c.Viewer, c.Repo, MergeInput(in))
	if err != nil {
		return err
	}
	if commit == nil {
		return c.NoContent()
	}
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	list, err := s.WireCommits(c, g, []*git.Commit{commit})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, list[0])
}
