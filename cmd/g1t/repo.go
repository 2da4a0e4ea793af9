package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// repository is what g1t shows of one, as the API names it.
type repository struct {
	FullName      string    `json:"full_name"`
	Description   *string   `json:"description"`
	Private       bool      `json:"private"`
	Fork          bool      `json:"fork"`
	Archived      bool      `json:"archived"`
	HTMLURL       string    `json:"html_url"`
	CloneURL      string    `json:"clone_url"`
	SSHURL        string    `json:"ssh_url"`
	DefaultBranch string    `json:"default_branch"`
	Stars         int64     `json:"stargazers_count"`
	Forks         int64     `json:"forks_count"`
	OpenIssues    int64     `json:"open_issues_count"`
	PushedAt      time.Time `json:"pushed_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

func (r *repository) about() string {
	if r.Description == nil {
		return ""
	}
	return *r.Description
}

func (r *repository) kind() string {
	words := []string{"public"}
	if r.Private {
		words[0] = "private"
	}
	if r.Fork {
		words = append(words, "fork")
	}
	if r.Archived {
		words = append(words, "archived")
	}
	return strings.Join(words, ", ")
}

func (t *tool) repoCommand() *cobra.Command {
	c := &cobra.Command{Use: "repo", Short: "Make, list, clone and look at repositories"}
	c.AddCommand(t.repoCreateCommand(), t.repoListCommand(), t.repoCloneCommand(), t.repoViewCommand())
	return c
}

func (t *tool) repoCreateCommand() *cobra.Command {
	var in struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Private     bool   `json:"private"`
		Init        bool   `json:"auto_init"`
		Licence     string `json:"license_template,omitempty"`
		Gitignore   string `json:"gitignore_template,omitempty"`
	}
	var public, clone bool
	c := &cobra.Command{Use: "create [OWNER/]NAME", Short: "Make a repository", Args: cobra.ExactArgs(1),
		Long:    "Make a repository, a private one unless --public says otherwise. The owner is you, or an organisation.",
		Example: "  g1t repo create box --public --readme --clone\n  g1t repo create guild/tools --description \"What we use\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.client()
			if err != nil {
				return err
			}
			owner, name, ok := strings.Cut(args[0], "/")
			if !ok {
				owner, name = "", args[0]
			}
			in.Name, in.Private = name, !public
			path := "/user/repos"
			if owner != "" && !strings.EqualFold(owner, c.user) {
				path = "/orgs/" + url.PathEscape(owner) + "/repos"
			}
			b, _, err := c.do(cmd.Context(), http.MethodPost, path, in)
			if err != nil {
				return err
			}
			var r repository
			if err := json.Unmarshal(b, &r); err != nil {
				return err
			}
			if t.json != "" {
				err = t.asJSON(b)
			} else {
				t.printf("%s\n", r.HTMLURL)
			}
			if err == nil && clone {
				err = t.clone(cmd.Context(), c, &r, nil, false)
			}
			return err
		}}
	f := c.Flags()
	f.StringVarP(&in.Description, "description", "d", "", "what it is about")
	f.BoolVar(&public, "public", false, "let everybody read it")
	f.BoolVar(&in.Private, "private", true, "let only those read it who are invited")
	c.MarkFlagsMutuallyExclusive("public", "private")
	f.BoolVar(&in.Init, "readme", false, "begin with a README")
	f.StringVar(&in.Licence, "license", "", "begin with a licence, such as mit")
	f.StringVar(&in.Gitignore, "gitignore", "", "begin with a .gitignore, such as Go")
	f.BoolVar(&clone, "clone", false, "clone it into a folder here")
	t.jsonFlag(c)
	return c
}

func (t *tool) repoListCommand() *cobra.Command {
	var limit int
	c := &cobra.Command{Use: "list [OWNER]", Short: "List your repositories, or those of a person or organisation", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.client()
			if err != nil {
				return err
			}
			path := "/user/repos"
			if len(args) > 0 {
				path = "/users/" + url.PathEscape(args[0]) + "/repos"
			}
			items, err := c.list(cmd.Context(), path, url.Values{"sort": {"pushed"}}, limit)
			if err != nil {
				return err
			}
			if t.json != "" {
				return t.asJSON(joined(items))
			}
			repos, err := decoded[repository](items)
			if err != nil {
				return err
			}
			rows := make([][]string, len(repos))
			for i, r := range repos {
				rows[i] = []string{r.FullName, r.about(), r.kind(), t.ago(latest(r.PushedAt, r.UpdatedAt))}
			}
			t.table([]column{{Head: "NAME", Style: t.bold}, {Head: "ABOUT", Gives: true}, {Head: "KIND", Style: t.muted}, {Head: "UPDATED", Style: t.muted}}, rows)
			return nil
		}}
	c.Flags().IntVarP(&limit, "limit", "L", 30, "how many at most")
	t.jsonFlag(c)
	return c
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (t *tool) repoCloneCommand() *cobra.Command {
	var ssh bool
	c := &cobra.Command{Use: "clone [OWNER/]NAME [FOLDER] [-- GIT OPTIONS]", Short: "Clone a repository",
		Long: "Clone a repository over HTTP with your token, or over SSH. Later pulls and pushes\nin the clone use the token too.",
		Args: cobra.MinimumNArgs(1), Example: "  g1t repo clone ann/box\n  g1t repo clone ann/box here -- --depth 1",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.client()
			if err != nil {
				return err
			}
			full, err := c.fullName(args[0])
			if err != nil {
				return err
			}
			var r repository
			if _, err := c.get(cmd.Context(), repoPath(full), &r); err != nil {
				return err
			}
			return t.clone(cmd.Context(), c, &r, args[1:], ssh)
		}}
	c.Flags().BoolVar(&ssh, "ssh", false, "over SSH")
	return c
}

func (t *tool) clone(ctx context.Context, c *client, r *repository, rest []string, ssh bool) error {
	if ssh {
		return t.git(ctx, append(append([]string{"clone", "--"}, r.SSHURL), rest...)...)
	}
	opts, err := c.helper()
	if err != nil {
		return err
	}
	// As clone's own options they are kept in the clone.
	args := []string{"clone", "--config", opts[1], "--config", opts[3]}
	folder := rest
	for i, a := range rest {
		if strings.HasPrefix(a, "-") {
			folder = rest[:i]
			args = append(args, rest[i:]...)
			break
		}
	}
	// The server may be reached by another name than it gives itself.
	address := c.host + "/" + r.FullName + ".git"
	return t.git(ctx, append(append(args, "--", address), folder...)...)
}

func (t *tool) repoViewCommand() *cobra.Command {
	c := &cobra.Command{Use: "view [[OWNER/]NAME]", Short: "Show a repository", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := t.client()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				t.repoFlag = args[0]
			}
			full, err := t.repo(c)
			if err != nil {
				return err
			}
			var r repository
			b, err := c.get(cmd.Context(), repoPath(full), &r)
			if err != nil {
				return err
			}
			if t.json != "" {
				return t.asJSON(b)
			}
			t.facts([][2]string{{"name", r.FullName}, {"about", r.about()}, {"kind", r.kind()}, {"branch", r.DefaultBranch},
				{"stars", strconv.FormatInt(r.Stars, 10)}, {"forks", strconv.FormatInt(r.Forks, 10)}, {"open", strconv.FormatInt(r.OpenIssues, 10) + " issues and pull requests"},
				{"pushed", t.ago(r.PushedAt)}, {"page", r.HTMLURL}, {"clone", r.CloneURL}, {"ssh", r.SSHURL}})
			return nil
		}}
	t.jsonFlag(c)
	return c
}

// facts writes names with what belongs to them, a line each.
func (t *tool) facts(list [][2]string) {
	for _, f := range list {
		switch {
		case f[1] == "":
		case t.tty:
			t.printf("%s%s%s\n", t.muted(f[0]), strings.Repeat(" ", max(1, 10-len(f[0]))), cell(f[1]))
		default:
			t.printf("%s\t%s\n", f[0], cell(f[1]))
		}
	}
}
