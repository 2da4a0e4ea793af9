package repos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// CreateInput describes a new repository; JSON names are GitHub's
// (https://docs.github.com/rest/repos/repos#create-a-repository-for-the-authenticated-user).
type CreateInput struct {
	Owner       string `form:"owner" json:"-"`
	Name        string `form:"name" json:"name"`
	Description string `form:"description" json:"description"`
	Website     string `form:"website" json:"homepage"`
	Visibility  string `form:"visibility" json:"visibility"`
	Private     bool   `form:"-" json:"private"`
	Readme      bool   `form:"readme" json:"auto_init"`
	Licence     string `form:"licence" json:"license_template"`
	Gitignore   string `form:"gitignore" json:"gitignore_template"`
	Branch      string `form:"branch" json:"default_branch"`
	Template    bool   `form:"-" json:"is_template"`
	HasIssues   *bool  `form:"-" json:"has_issues"`
}

// Validate returns what is wrong, by field.
func (in *CreateInput) Validate() fault.Fields {
	f := fault.Fields{}
	in.Name, in.Description, in.Website = strings.TrimSpace(in.Name), strings.TrimSpace(in.Description), strings.TrimSpace(in.Website)
	f.Add("name", CheckName(in.Name))
	f.Add("description", checkText(in.Description, MaxDescription))
	f.Add("website", checkWebsite(in.Website))
	switch in.Visibility {
	case "":
		in.Visibility = model.Public
		if in.Private {
			in.Visibility = model.Private
		}
	case model.Public, model.Private:
	default:
		f.Add("visibility", "Choose public or private.")
	}
	if _, ok := FindLicence(in.Licence); in.Licence != "" && !ok {
		f.Add("licence", "That licence is not among those offered.")
	}
	if _, ok := gitignore(in.Gitignore); in.Gitignore != "" && !ok {
		f.Add("gitignore", "That .gitignore is not among those offered.")
	}
	if in.Branch == "" {
		in.Branch = "main"
	}
	if !git.ValidBranchName(in.Branch) {
		f.Add("branch", "That cannot be the name of a branch.")
	}
	return f
}

// checkText says what is wrong with a one-line text of at most limit
// characters.
func checkText(s string, limit int) string {
	switch {
	case !utf8.ValidString(s):
		return "This is not valid UTF-8 text."
	case strings.ContainsRune(s, 0):
		return "This contains a NUL character."
	case utf8.RuneCountInString(s) > limit:
		return fmt.Sprintf("This is longer than %d characters.", limit)
	}
	return ""
}

func checkWebsite(s string) string {
	if s != "" && !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
		return "Start the address with https:// or http://."
	}
	return checkText(s, 255)
}

// Create makes a repository for viewer and, where the input asks for files,
// its first commit.
func (s *Service) Create(ctx context.Context, viewer *model.Viewer, in CreateInput) (*model.Repo, error) {
	fields := in.Validate()
	if err := fields.Err(); err != nil {
		return nil, err
	}
	owner, err := s.mayCreate(ctx, viewer, in.Owner)
	if err != nil {
		return nil, err
	}
	if !viewer.Has("repo") && (in.Visibility == model.Private || !viewer.Has("public_repo")) {
		return nil, fault.New(fault.Forbidden, "This token lacks the scope repo.")
	}
	repo := &model.Repo{OwnerID: owner.ID, Owner: owner, Name: in.Name, NameKey: model.Key(in.Name),
		Description: in.Description, Website: in.Website, Topics: []string{}, Visibility: in.Visibility,
		DefaultBranch: in.Branch, Template: in.Template, Languages: map[string]int64{}}
	if l, ok := FindLicence(in.Licence); ok {
		repo.Licence = l.SPDX
	}
	if in.HasIssues != nil {
		repo.Settings.NoIssues = !*in.HasIssues
	}
	if err := s.insert(ctx, viewer, repo, Created{facts(repo)}); err != nil {
		return nil, err
	}
	if err := s.firstCommit(ctx, viewer, repo, in); err != nil {
		return nil, fmt.Errorf("first commit of %s: %w", repo.FullName(), err)
	}
	return repo, nil
}

// insertWatched writes a repository that whoever makes it watches.
func insertWatched(ctx context.Context, tx db.DirectoryTx, viewer *model.Viewer, repo *model.Repo) error {
	if viewer.SignedIn() {
		repo.Watchers = 1
	}
	if err := repodb.Insert(ctx, tx, repo); err != nil || !viewer.SignedIn() {
		return err
	}
	return repodb.WatchFirst(ctx, tx, repo.ID, viewer.ID())
}

// insert writes the repository's row with its event.
func (s *Service) insert(ctx context.Context, viewer *model.Viewer, repo *model.Repo, e events.Payload) error {
	err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := insertWatched(ctx, tx, viewer, repo); err != nil {
			return err
		}
		if err := audit.Record(ctx, tx, audit.Entry{Action: "repo.create", Actor: viewer, Repo: repo,
			After: audit.Facts{"visibility": repo.Visibility}}); err != nil {
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: repo, Actor: viewer}, e)
	})
	if errors.Is(err, db.ErrConflict) {
		return fault.Field("name", repo.Owner.Name+" already has a repository called “"+repo.Name+"”.")
	}
	return err
}

// firstCommit writes README, licence and .gitignore where they were asked for.
func (s *Service) firstCommit(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in CreateInput) error {
	files := map[string]string{}
	if in.Readme {
		files["README.md"] = "# " + repo.Name + "\n"
		if repo.Description != "" {
			files["README.md"] += "\n" + repo.Description + "\n"
		}
	}
	if l, ok := FindLicence(in.Licence); ok {
		text, err := l.Text(viewer.Account.Shown(), time.Now().Year())
		if err != nil {
			return err
		}
		files["LICENSE"] = text
	}
	if text, ok := gitignore(in.Gitignore); ok {
		files[".gitignore"] = text
	}
	if len(files) == 0 {
		return nil
	}
	return s.commitFiles(ctx, viewer, repo, files, "Initial commit")
}

// MayCreate says whether the viewer could create the repository owner/name: a
// fault tells why not.
func (s *Service) MayCreate(ctx context.Context, viewer *model.Viewer, owner, name string) error {
	if _, err := s.mayCreate(ctx, viewer, owner); err != nil {
		return err
	}
	if !viewer.Has("repo") {
		return fault.New(fault.Forbidden, "This token lacks the scope repo.")
	}
	if message := CheckName(name); message != "" {
		return fault.Field("name", message)
	}
	return nil
}
