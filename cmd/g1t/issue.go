package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

type account struct {
	Login string `json:"login"`
}

type label struct {
	Name string `json:"name"`
}

// issue is what g1t shows of one, as the API names it.
type issue struct {
	Number    int64      `json:"number"`
	Title     string     `json:"title"`
	Body      *string    `json:"body"`
	State     string     `json:"state"`
	Reason    *string    `json:"state_reason"`
	User      *account   `json:"user"`
	Labels    []label    `json:"labels"`
	Assignees []account  `json:"assignees"`
	Milestone *milestone `json:"milestone"`
	Comments  int64      `json:"comments"`
	HTMLURL   string     `json:"html_url"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	// Pull is there when it is a pull request.
	Pull json.RawMessage `json:"pull_request"`
}

type milestone struct {
	Title string `json:"title"`
}

type comment struct {
	User      *account  `json:"user"`
	Body      string    `json:"body"`
	HTMLURL   string    `json:"html_url"`
	CreatedAt time.Time `json:"created_at"`
}

func (a *account) name() string {
	if a == nil {
		return "ghost"
	}
	return a.Login
}

func labelNames(list []label) string {
	names := make([]string, len(list))
	for i, l := range list {
		names[i] = l.Name
	}
	return strings.Join(names, ", ")
}

func logins(list []account) string {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.Login
	}
	return strings.Join(names, ", ")
}

func (t *tool) issueCommand() *cobra.Command {
	c := &cobra.Command{Use: "issue", Short: "List, make and discuss issues"}
	list := []*cobra.Command{t.issueListCommand(), t.issueCreateCommand(), t.issueViewCommand(), t.issueCommentCommand(),
		t.issueCloseCommand(), t.issueReopenCommand()}
	t.repoFlags(list...)
	t.jsonFlag(list...)
	c.AddCommand(list...)
	return c
}

// inRepo gives run a client and the repository.
func (t *tool) inRepo(run func(cmd *cobra.Command, c *client, full string, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := t.client()
		if err != nil {
			return err
		}
		full, err := t.repo(c)
		if err != nil {
			return err
		}
		return run(cmd, c, full, args)
	}
}

// number reads 12, #12 or an address that ends with it.
func number(s string) (string, error) {
	at := strings.TrimPrefix(s[strings.LastIndex(s, "/")+1:], "#")
	if n, err := strconv.ParseInt(at, 10, 64); err != nil || n <= 0 {
		return "", usagef("%q is no number of an issue or pull request", s)
	}
	return at, nil
}

func (t *tool) issueListCommand() *cobra.Command {
	var state, assignee, author, milestone string
	var labels []string
	var limit int
	c := &cobra.Command{Use: "list", Short: "List issues", Args: cobra.NoArgs,
		Example: "  g1t issue list --label bug --assignee ann\n  g1t issue list --state all --json=number,title",
		RunE: t.inRepo(func(cmd *cobra.Command, c *client, full string, _ []string) error {
			q := url.Values{"state": {state}}
			for name, v := range map[string]string{"assignee": assignee, "creator": author, "milestone": milestone, "labels": strings.Join(labels, ",")} {
				if v != "" {
					q.Set(name, v)
				}
			}
			items, err := t.issues(cmd, c, full, q, limit)
			if err != nil {
				return err
			}
			if t.json != "" {
				return t.asJSON(joined(items))
			}
			list, err := decoded[issue](items)
			if err != nil {
				return err
			}
			rows := make([][]string, len(list))
			for i, it := range list {
				rows[i] = []string{"#" + strconv.FormatInt(it.Number, 10), it.State, it.Title, labelNames(it.Labels), it.User.name(), t.ago(it.UpdatedAt)}
			}
			t.table([]column{{Head: "", Style: t.bold, Right: true}, {Head: "STATE", Style: t.state}, {Head: "TITLE", Gives: true}, {Head: "LABELS", Style: t.muted},
				{Head: "AUTHOR"}, {Head: "UPDATED", Style: t.muted}}, rows)
			return nil
		})}
	f := c.Flags()
	f.StringVarP(&state, "state", "s", "open", "open, closed or all")
	f.StringSliceVarP(&labels, "label", "l", nil, "only with this label; may be given again")
	f.StringVarP(&assignee, "assignee", "a", "", "only those of this person; none for those of nobody")
	f.StringVarP(&author, "author", "A", "", "only those that this person opened")
	f.StringVarP(&milestone, "milestone", "m", "", "only of the milestone with this number")
	f.IntVarP(&limit, "limit", "L", 30, "how many at most")
	return c
}

// issues lists issues without the pull requests that the API mixes in.
func (t *tool) issues(cmd *cobra.Command, c *client, full string, q url.Values, limit int) ([]json.RawMessage, error) {
	q.Set("per_page", "100")
	out := []json.RawMessage{}
	for at := repoPath(full, "/issues") + "?" + q.Encode(); at != "" && len(out) < limit; {
		b, h, err := c.do(cmd.Context(), http.MethodGet, at, nil)
		if err != nil {
			return nil, err
		}
		var page []json.RawMessage
		if err := json.Unmarshal(b, &page); err != nil {
			return nil, err
		}
		for _, item := range page {
			var kind struct {
				Pull json.RawMessage `json:"pull_request"`
			}
			if err := json.Unmarshal(item, &kind); err != nil {
				return nil, err
			}
			if len(kind.Pull) == 0 || string(kind.Pull) == "null" {
				out = append(out, item)
			}
		}
		at = next(h)
	}
	return out[:min(len(out), limit)], nil
}

// bodyFlags are --body and --body-file.
type bodyFlags struct{ text, file string }

func (b *bodyFlags) add(c *cobra.Command) {
	c.Flags().StringVarP(&b.text, "body", "b", "", "the text, in Markdown")
	c.Flags().StringVarP(&b.file, "body-file", "F", "", "a `FILE` with the text, - for standard input")
	c.MarkFlagsMutuallyExclusive("body", "body-file")
}

// read is the text that was given; on a terminal, where none was, what the
// person writes in their editor.
func (t *tool) read(c *cobra.Command, b *bodyFlags, needed bool) (string, error) {
	switch {
	case c.Flags().Changed("body"):
		return b.text, nil
	case b.file == "-":
		text, err := io.ReadAll(t.in)
		return string(text), err
	case b.file != "":
		text, err := os.ReadFile(b.file)
		return string(text), err
	case term.IsTerminal(int(t.in.Fd())) && t.tty:
		return t.edit()
	case needed:
		return "", usagef("give the text with --body or --body-file")
	}
	return "", nil
}

// edit opens the person's editor on an empty file.
func (t *tool) edit() (string, error) {
	f, err := os.CreateTemp("", "g1t-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // a temporary file
	if err := f.Close(); err != nil {
		return "", err
	}
	editor := orElse(os.Getenv("VISUAL"), orElse(os.Getenv("EDITOR"), "vi"))
	cmd := exec.Command("sh", "-c", editor+` "$1"`, "sh", f.Name()) //nolint:gosec,noctx // the person's own editor
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.in, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor %s failed: %w", editor, err)
	}
	text, err := os.ReadFile(f.Name())
	return strings.TrimSpace(string(text)), err
}

// ask asks for a line on a terminal.
func (t *tool) ask(what, flag string) (string, error) {
	if !term.IsTerminal(int(t.in.Fd())) {
		return "", usagef("give --%s", flag)
	}
	fmt.Fprintf(t.err, "%s: ", what)
	line, err := bufio.NewReader(t.in).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.Join(usagef("give --%s", flag), err)
	}
	return line, nil
}

func (t *tool) issueCreateCommand() *cobra.Command {
	var title string
	var labels, assignees []string
	var body bodyFlags
	c := &cobra.Command{Use: "create", Short: "Open an issue", Args: cobra.NoArgs,
		Example: "  g1t issue create --title \"It broke\" --body \"When I press the button.\" --label bug\n  go test ./... 2>&1 | g1t issue create --title \"Tests fail\" --body-file -",
		RunE: t.inRepo(func(cmd *cobra.Command, c *client, full string, _ []string) error {
			var err error
			if title == "" {
				if title, err = t.ask("Title", "title"); err != nil {
					return err
				}
			}
			text, err := t.read(cmd, &body, false)
			if err != nil {
				return err
			}
			in := map[string]any{"title": title, "body": text}
			if len(labels) > 0 {
				in["labels"] = labels
			}
			if len(assignees) > 0 {
				in["assignees"] = assignees
			}
			return t.sendIssue(cmd, c, http.MethodPost, repoPath(full, "/issues"), in, "")
		})}
	c.Flags().StringVarP(&title, "title", "t", "", "the title")
	c.Flags().StringSliceVarP(&labels, "label", "l", nil, "add a label; may be given again")
	c.Flags().StringSliceVarP(&assignees, "assignee", "a", nil, "assign it to a person; may be given again")
	body.add(c)
	return c
}

// sendIssue makes or changes an issue, pull request or comment, and prints its
// address, or after a change of state what has become of it.
func (t *tool) sendIssue(cmd *cobra.Command, c *client, method, path string, in any, done string) error {
	b, _, err := c.do(cmd.Context(), method, path, in)
	if err != nil {
		return err
	}
	if t.json != "" {
		return t.asJSON(b)
	}
	var out issue
	if err := json.Unmarshal(b, &out); err != nil {
		return err
	}
	if done != "" {
		t.note("#%d %s: %s", out.Number, done, cell(out.Title))
	}
	t.printf("%s\n", out.HTMLURL)
	return nil
}

func (t *tool) issueViewCommand() *cobra.Command {
	var comments bool
	c := &cobra.Command{Use: "view NUMBER", Short: "Show an issue", Args: cobra.ExactArgs(1),
		RunE: t.inRepo(func(cmd *cobra.Command, c *client, full string, args []string) error {
			n, err := number(args[0])
			if err != nil {
				return err
			}
			var it issue
			b, err := c.get(cmd.Context(), repoPath(full, "/issues/", n), &it)
			if err != nil {
				return err
			}
			if t.json != "" {
				return t.asJSON(b)
			}
			facts := [][2]string{{"author", it.User.name()}, {"opened", t.ago(it.CreatedAt)}, {"labels", labelNames(it.Labels)},
				{"assigned", logins(it.Assignees)}, {"comments", strconv.FormatInt(it.Comments, 10)}, {"page", it.HTMLURL}}
			if it.Milestone != nil {
				facts = append(facts, [2]string{"milestone", it.Milestone.Title})
			}
			t.heading(it.Number, it.State, it.Title)
			t.facts(facts)
			return t.thread(cmd, c, full, n, it.Body, comments)
		})}
	c.Flags().BoolVarP(&comments, "comments", "c", false, "with all comments")
	return c
}

func (t *tool) heading(n int64, state, title string) {
	if t.tty {
		t.printf("%s %s  %s\n", t.bold(cell(title)), t.muted("#"+strconv.FormatInt(n, 10)), t.state(state))
		return
	}
	t.facts([][2]string{{"number", strconv.FormatInt(n, 10)}, {"title", title}, {"state", state}})
}

// thread writes a body and, where asked for, the comments.
func (t *tool) thread(cmd *cobra.Command, c *client, full, n string, body *string, comments bool) error {
	if body != nil && *body != "" {
		t.printf("\n")
		t.text(t.out, *body)
	}
	if !comments {
		return nil
	}
	items, err := c.list(cmd.Context(), repoPath(full, "/issues/", n, "/comments"), url.Values{}, 1000)
	if err != nil {
		return err
	}
	list, err := decoded[comment](items)
	for _, cm := range list {
		t.printf("\n%s %s\n", t.bold(cell(cm.User.name())), t.muted(t.ago(cm.CreatedAt)))
		t.text(t.out, cm.Body)
	}
	return err
}

func (t *tool) issueCommentCommand() *cobra.Command {
	var body bodyFlags
	c := &cobra.Command{Use: "comment NUMBER", Short: "Comment on an issue or pull request", Args: cobra.ExactArgs(1),
		RunE: t.inRepo(func(cmd *cobra.Command, c *client, full string, args []string) error {
			n, err := number(args[0])
			if err != nil {
				return err
			}
			text, err := t.read(cmd, &body, true)
			if err != nil {
				return err
			}
			return t.sendIssue(cmd, c, http.MethodPost, repoPath(full, "/issues/", n, "/comments"), map[string]string{"body": text}, "")
		})}
	body.add(c)
	return c
}

func (t *tool) issueCloseCommand() *cobra.Command {
	var reason, words string
	c := &cobra.Command{Use: "close NUMBER", Short: "Close an issue", Args: cobra.ExactArgs(1),
		RunE: t.inRepo(func(cmd *cobra.Command, c *client, full string, args []string) error {
			n, err := number(args[0])
			if err != nil {
				return err
			}
			why := strings.NewReplacer(" ", "_", "-", "_").Replace(reason)
			if why != "completed" && why != "not_planned" {
				return usagef("--reason is completed or not-planned")
			}
			if words != "" {
				if _, _, err := c.do(cmd.Context(), http.MethodPost, repoPath(full, "/issues/", n, "/comments"), map[string]string{"body": words}); err != nil {
					return err
				}
			}
			return t.sendIssue(cmd, c, http.MethodPatch, repoPath(full, "/issues/", n), map[string]string{"state": "closed", "state_reason": why}, "is closed")
		})}
	c.Flags().StringVarP(&reason, "reason", "r", "completed", "completed or not-planned")
	c.Flags().StringVarP(&words, "comment", "c", "", "comment first")
	return c
}

func (t *tool) issueReopenCommand() *cobra.Command {
	return &cobra.Command{Use: "reopen NUMBER", Short: "Open a closed issue again", Args: cobra.ExactArgs(1),
		RunE: t.inRepo(func(cmd *cobra.Command, c *client, full string, args []string) error {
			n, err := number(args[0])
			if err != nil {
				return err
			}
			return t.sendIssue(cmd, c, http.MethodPatch, repoPath(full, "/issues/", n), map[string]string{"state": "open"}, "is open again")
		})}
}
