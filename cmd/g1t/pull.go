package main

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// pull is what g1t shows of a pull request, as the API names it.
type pull struct {
	issue
	Draft     bool   `json:"draft"`
	Merged    bool   `json:"merged"`
	MergedAt  string `json:"merged_at"`
	Mergeable *bool  `json:"mergeable"`
	Head      end    `json:"head"`
	Base      end    `json:"base"`
	Commits   int64  `json:"commits"`
	Additions int64  `json:"additions"`
	Deletions int64  `json:"deletions"`
	Files     int64  `json:"changed_files"`
}

type end struct {
	Ref   string      `json:"ref"`
	SHA   string      `json:"sha"`
	Label string      `json:"label"`
	Repo  *repository `json:"repo"`
}

func (p *pull) state() string {
	switch {
	case p.Merged || p.MergedAt != "":
		return "merged"
	case p.Draft && p.State == "open":
		return "draft"
	}
	return p.State
}

func (t *tool) pullCommand() *cobra.Command {
	c := &cobra.Command{Use: "pr", Aliases: []string{"pull"}, Short: "List, make and check out pull requests"}
	shows := []*cobra.Command{t.pullListCommand(), t.pullViewCommand(), t.pullCreateCommand()}
	t.jsonFlag(shows...)
	list := append(shows, t.pullCheckoutCommand())
	t.repoFlags(list...)
	c.AddCommand(list...)
	return c
}

func (t *tool) pullListCommand() *cobra.Command {
	var state, base, head string
	var limit int
	c := &cobra.Command{Use: "list", Short: "List pull requests", Args: cobra.NoArgs,
		RunE: t.inRepo(func(cmd *cobra.Command, c *client, full string, _ []string) error {
			q := url.Values{"state": {state}}
			if base != "" {
				q.Set("base", base)
			}
			if head != "" {
				q.Set("head", head)
			}
			items, err := c.list(cmd.Context(), repoPath(full, "/pulls"), q, limit)
			if err != nil {
				return err
			}
			if t.json != "" {
				return t.asJSON(joined(items))
			}
			list, err := decoded[pull](items)
			if err != nil {
				return err
			}
			rows := make([][]string, len(list))
			for i, p := range list {
				rows[i] = []string{"#" + strconv.FormatInt(p.Number, 10), p.state(), p.Title, p.Head.Ref, p.User.name(), t.ago(p.UpdatedAt)}
			}
			t.table([]column{{Head: "", Style: t.bold, Right: true}, {Head: "STATE", Style: t.state}, {Head: "TITLE", Gives: true}, {Head: "BRANCH", Style: t.muted},
				{Head: "AUTHOR"}, {Head: "UPDATED", Style: t.muted}}, rows)
			return nil
		})}
	f := c.Flags()
	f.StringVarP(&state, "state", "s", "open", "open, closed or all")
	f.StringVarP(&base, "base", "B", "", "only into this branch")
	f.StringVarP(&head, "head", "H", "", "only from this branch, such as ann:fix")
	f.IntVarP(&limit, "limit", "L", 30, "how many at most")
	return c
}

func (t *tool) pullViewCommand() *cobra.Command {
	var comments bool
	c := &cobra.Command{Use: "view NUMBER", Short: "Show a pull request", Args: cobra.ExactArgs(1),
		RunE: t.inRepo(func(cmd *cobra.Command, c *client, full string, args []string) error {
			n, err := number(args[0])
			if err != nil {
				return err
			}
			var p pull
			b, err := c.get(cmd.Context(), repoPath(full, "/pulls/", n), &p)
			if err != nil {
				return err
			}
			if t.json != "" {
				return t.asJSON(b)
			}
			fits := "not known yet"
			if p.Mergeable != nil {
				fits = map[bool]string{true: "yes", false: "no, it conflicts"}[*p.Mergeable]
			}
			if p.state() == "merged" {
				fits = ""
			}
			t.heading(p.Number, p.state(), p.Title)
			t.facts([][2]string{{"author", p.User.name()}, {"opened", t.ago(p.CreatedAt)}, {"into", p.Base.Ref}, {"from", orElse(p.Head.Label, p.Head.Ref)},
				{"changes", strconv.FormatInt(p.Commits, 10) + " commits, " + strconv.FormatInt(p.Files, 10) + " files, +" +
					strconv.FormatInt(p.Additions, 10) + " -" + strconv.FormatInt(p.Deletions, 10)}, {"fits", fits},
				{"labels", labelNames(p.Labels)}, {"assigned", logins(p.Assignees)}, {"page", p.HTMLURL}})
			return t.thread(cmd, c, full, n, p.Body, comments)
		})}
	c.Flags().BoolVarP(&comments, "comments", "c", false, "with all comments")
	return c
}

func (t *tool) pullCreateCommand() *cobra.Command {
	var title, base, head string
	var draft, fill bool
	var body bodyFlags
	c := &cobra.Command{Use: "create", Short: "Open a pull request", Args: cobra.NoArgs,
		Long:    "Open a pull request from the branch you are on, which must be pushed, into the\ndefault branch.",
		Example: "  git push -u origin fix && g1t pr create --fill\n  g1t pr create --title \"Mend it\" --body \"Fixes #3\" --head fix --base main",
		RunE: t.inRepo(func(cmd *cobra.Command, c *client, full string, _ []string) error {
			var err error
			if head == "" {
				if head, err = gitOut("symbolic-ref", "--short", "HEAD"); err != nil {
					return usagef("give the branch with --head, or run g1t on a branch of a clone")
				}
			}
			if base == "" {
				var r repository
				if _, err := c.get(cmd.Context(), repoPath(full), &r); err != nil {
					return err
				}
				base = r.DefaultBranch
			}
			text := ""
			if fill {
				subject, err := gitOut("log", "-1", "--format=%s", head)
				if err != nil {
					return usagef("--fill needs a clone with the branch %s", head)
				}
				text, _ = gitOut("log", "-1", "--format=%b", head) // found a moment ago
				title = orElse(title, subject)
			}
			if title == "" {
				if title, err = t.ask("Title", "title"); err != nil {
					return err
				}
			}
			if !fill || cmd.Flags().Changed("body") || body.file != "" {
				if text, err = t.read(cmd, &body, false); err != nil {
					return err
				}
			}
			in := map[string]any{"title": title, "body": text, "head": head, "base": base, "draft": draft}
			return t.sendIssue(cmd, c, http.MethodPost, repoPath(full, "/pulls"), in, "")
		})}
	f := c.Flags()
	f.StringVarP(&title, "title", "t", "", "the title")
	f.StringVarP(&base, "base", "B", "", "the branch to merge into (default: the repository's default branch)")
	f.StringVarP(&head, "head", "H", "", "the branch with the changes, such as fix or ann:fix (default: the one you are on)")
	f.BoolVar(&draft, "draft", false, "not ready yet")
	f.BoolVar(&fill, "fill", false, "take title and text from the newest commit")
	body.add(c)
	return c
}

func (t *tool) pullCheckoutCommand() *cobra.Command {
	var branch string
	c := &cobra.Command{Use: "checkout NUMBER", Aliases: []string{"co"}, Short: "Switch to the changes of a pull request", Args: cobra.ExactArgs(1),
		RunE: t.inRepo(func(cmd *cobra.Command, c *client, full string, args []string) error {
			n, err := number(args[0])
			if err != nil {
				return err
			}
			var p pull
			if _, err := c.get(cmd.Context(), repoPath(full, "/pulls/", n), &p); err != nil {
				return err
			}
			if branch == "" {
				branch = "pr-" + n
				if p.Head.Repo != nil && p.Base.Repo != nil && p.Head.Repo.FullName == p.Base.Repo.FullName {
					branch = p.Head.Ref
				}
			}
			if strings.HasPrefix(branch, "-") {
				return usagef("%q cannot be the name of a branch", branch)
			}
			opts, err := c.helper()
			if err != nil {
				return err
			}
			// By the server's own address, as a remote may be called anything,
			// and by the commit, as the refs of pull requests are hidden.
			fetch := append(opts, "fetch", c.host+"/"+full+".git", p.Head.SHA)
			if err := t.git(cmd.Context(), fetch...); err != nil {
				return err
			}
			if _, err := gitOut("rev-parse", "--verify", "--quiet", "refs/heads/"+branch); err == nil {
				if err := t.git(cmd.Context(), "switch", branch); err != nil {
					return err
				}
				return t.git(cmd.Context(), "merge", "--ff-only", "FETCH_HEAD")
			}
			return t.git(cmd.Context(), "switch", "-c", branch, "FETCH_HEAD")
		})}
	c.Flags().StringVarP(&branch, "branch", "b", "", "the local branch (default: its name, pr-NUMBER from a fork)")
	return c
}
