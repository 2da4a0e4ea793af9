package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// tool is one run of g1t.
type tool struct {
	in  *os.File
	out io.Writer
	err io.Writer
	// tty and width are of the output; colour says that it may be coloured.
	tty    bool
	width  int
	colour bool

	hostFlag string
	repoFlag string
	json     string // "" not asked for, "*" everything, else fields
	store    *store
}

func newTool(in, out, errs *os.File) *tool {
	t := &tool{in: in, out: out, err: errs, tty: term.IsTerminal(int(out.Fd())), width: 100, store: openStore()}
	if w, _, err := term.GetSize(int(out.Fd())); err == nil && w > 20 {
		t.width = w
	}
	_, plain := os.LookupEnv("NO_COLOR")
	t.colour = t.tty && !plain && os.Getenv("TERM") != "dumb"
	return t
}

const rootHelp = `Work with a gitfor server from the terminal.

Sign in once, then name a repository with --repo OWNER/NAME or run g1t inside
a clone. On a terminal g1t writes for people; in a pipe it writes tab-separated
lines without a heading, and with --json the API's own objects.

Environment:
  G1T_HOST        the server, such as https://git.example.com
  G1T_TOKEN       a token to use instead of the one that was kept
  G1T_CONFIG_DIR  where g1t keeps its settings (~/.config/g1t)
  NO_COLOR        write without colours`

func (t *tool) root() *cobra.Command {
	c := &cobra.Command{Use: "g1t", Short: "Work with a gitfor server", Long: rootHelp, Version: version,
		SilenceErrors: true, SilenceUsage: true,
		Example: "  g1t auth login --host https://git.example.com\n  g1t repo clone ann/box\n" +
			"  g1t issue create --title \"It broke\" --body \"When I press the button.\"\n  g1t work events --follow --type issue.opened"}
	c.SetOut(t.out)
	c.SetErr(t.err)
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.PersistentFlags().StringVar(&t.hostFlag, "host", "", "the server's address (default: G1T_HOST, the clone's, or the one signed in to last)")
	c.AddCommand(t.authCommand(), t.repoCommand(), t.issueCommand(), t.pullCommand(), t.workCommand(), t.apiCommand())
	c.InitDefaultCompletionCmd()
	for _, sub := range c.Commands() {
		guard(sub)
	}
	return c
}

// guard makes wrong arguments usage errors, and a group without a command
// print its help.
func guard(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usageError{err}
			}
			return nil
		}
	}
	if c.HasSubCommands() && c.Run == nil && c.RunE == nil {
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q; g1t %s --help lists them", args[0], strings.TrimPrefix(c.CommandPath(), "g1t "))
			}
			return c.Help()
		}
	}
	for _, sub := range c.Commands() {
		guard(sub)
	}
}

// repoFlags adds the flags of commands about one repository.
func (t *tool) repoFlags(cmds ...*cobra.Command) {
	for _, c := range cmds {
		c.Flags().StringVarP(&t.repoFlag, "repo", "R", "", "the repository, `OWNER/NAME` (default: that of the clone you are in)")
	}
}

// jsonFlag adds --json to commands that show something.
func (t *tool) jsonFlag(cmds ...*cobra.Command) {
	for _, c := range cmds {
		c.Flags().StringVar(&t.json, "json", "", "write JSON: everything, or --json=`FIELDS` such as number,title")
		c.Flags().Lookup("json").NoOptDefVal = "*"
	}
}
