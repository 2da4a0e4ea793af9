package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// clientID is by what the server knows g1t in the device flow.
const clientID = "g1t"

func (t *tool) authCommand() *cobra.Command {
	c := &cobra.Command{Use: "auth", Short: "Sign in and out"}
	c.AddCommand(t.loginCommand(), t.statusCommand(), t.logoutCommand(), t.tokenCommand(), t.setupGitCommand(), t.credentialCommand())
	return c
}

func (t *tool) loginCommand() *cobra.Command {
	var withToken bool
	var storage, scopes string
	c := &cobra.Command{Use: "login", Short: "Sign in to a server", Args: cobra.NoArgs,
		Long: `Sign in to a server.

g1t shows a code, which you confirm in a browser on any device. Where the server
does not offer this, or with --with-token, it takes an access token, which you
make at <server>/settings/tokens/new. The token is kept in the system's keyring,
or else in a file that only you can read.`,
		Example: "  g1t auth login --host https://git.example.com\n  g1t auth login --host http://localhost:3000 --with-token < token.txt",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if storage != "auto" && storage != "keyring" && storage != "file" {
				return usagef("--storage is auto, keyring or file")
			}
			return t.login(cmd.Context(), withToken, storage, scopes)
		}}
	c.Flags().BoolVar(&withToken, "with-token", false, "take an access token, from a prompt or standard input")
	c.Flags().StringVar(&storage, "storage", "auto", "where to keep the token: auto, keyring or file")
	c.Flags().StringVar(&scopes, "scopes", "repo,user,read:org,workflow,gist,notifications", "what to ask for when signing in by browser")
	return c
}

func (t *tool) login(ctx context.Context, withToken bool, storage, scopes string) error {
	host, err := t.loginHost()
	if err != nil {
		return err
	}
	c := newClient(host)
	if !withToken {
		c.token, err = t.deviceLogin(ctx, c, scopes)
		if errors.Is(err, errNoDevice) {
			t.note("%s has no sign-in by browser for g1t.", host)
			withToken = true
		} else if err != nil {
			return err
		}
	}
	if withToken {
		if c.token, err = t.readToken(host); err != nil {
			return err
		}
	}
	var me struct {
		Login string `json:"login"`
	}
	if _, err := c.get(ctx, "/user", &me); err != nil {
		return fmt.Errorf("the token was not accepted: %w", err)
	}
	place, err := t.store.keep(host, me.Login, c.token, storage)
	if err != nil {
		return err
	}
	t.note("You are signed in to %s as %s. The token is in %s.", host, cell(me.Login), place)
	return nil
}

func (t *tool) loginHost() (string, error) {
	for _, s := range []string{t.hostFlag, os.Getenv("G1T_HOST")} {
		if s != "" {
			return cleanHost(s)
		}
	}
	v, err := t.store.load()
	if err != nil {
		return "", err
	}
	if !term.IsTerminal(int(t.in.Fd())) {
		if v.Default != "" {
			return v.Default, nil
		}
		return "", usagef("name the server with --host https://your.server")
	}
	fmt.Fprintf(t.err, "Server [%s]: ", orElse(v.Default, "http://localhost:3000"))
	line, err := bufio.NewReader(t.in).ReadString('\n')
	if err != nil && line == "" {
		return "", err
	}
	return cleanHost(orElse(strings.TrimSpace(line), orElse(v.Default, "http://localhost:3000")))
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (t *tool) readToken(host string) (string, error) {
	var text string
	if term.IsTerminal(int(t.in.Fd())) {
		fmt.Fprintf(t.err, "Make a token at %s/settings/tokens/new and paste it here (it is not shown): ", host)
		b, err := term.ReadPassword(int(t.in.Fd()))
		fmt.Fprintln(t.err)
		if err != nil {
			return "", err
		}
		text = string(b)
	} else {
		b, err := io.ReadAll(io.LimitReader(t.in, 10_000))
		if err != nil {
			return "", err
		}
		text = string(b)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", usagef("no token was given; pipe one into g1t auth login --with-token")
	}
	if strings.ContainsAny(text, " \t\r\n") {
		return "", usagef("this is no token: it has spaces in it")
	}
	return text, nil
}

var errNoDevice = errors.New("no device flow")

// form posts to the sign-in addresses, which are not part of the API.
func (c *client) form(ctx context.Context, path string, values url.Values, dst any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.host+path, strings.NewReader(values.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "g1t/"+version)
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", c.host, errors.Unwrap(err))
	}
	defer res.Body.Close() //nolint:errcheck // read whole below
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return err
	}
	if !strings.Contains(res.Header.Get("Content-Type"), "json") {
		return errNoDevice
	}
	return json.Unmarshal(b, dst)
}

// deviceLogin is the device flow (RFC 8628) at GitHub's addresses.
func (t *tool) deviceLogin(ctx context.Context, c *client, scopes string) (string, error) {
	var code struct {
		Device   string `json:"device_code"`
		User     string `json:"user_code"`
		Address  string `json:"verification_uri"`
		Expires  int    `json:"expires_in"`
		Interval int    `json:"interval"`
		Error    string `json:"error"`
		About    string `json:"error_description"`
	}
	err := c.form(ctx, "/login/device/code", url.Values{"client_id": {clientID}, "scope": {strings.ReplaceAll(scopes, ",", " ")}}, &code)
	if err != nil {
		return "", err
	}
	if code.Device == "" {
		return "", errNoDevice
	}
	t.note("Open %s and enter the code %s", cell(code.Address), t.style("1", cell(code.User)))
	every := time.Duration(max(code.Interval, 1)) * time.Second
	end := time.Now().Add(time.Duration(max(code.Expires, 60)) * time.Second)
	for time.Now().Before(end) {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(every):
		}
		var out struct {
			Token string `json:"access_token"`
			Error string `json:"error"`
			About string `json:"error_description"`
		}
		err := c.form(ctx, "/login/oauth/access_token", url.Values{"client_id": {clientID}, "device_code": {code.Device},
			"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}}, &out)
		switch {
		case err != nil:
			return "", err
		case out.Token != "":
			return out.Token, nil
		case out.Error == "slow_down":
			every += 5 * time.Second
		case out.Error != "authorization_pending":
			return "", fmt.Errorf("the sign-in was not confirmed: %s", orElse(out.About, out.Error))
		}
	}
	return "", errors.New("the code has ended; run g1t auth login again")
}

func (t *tool) statusCommand() *cobra.Command {
	return &cobra.Command{Use: "status", Short: "Show where you are signed in, and whether the tokens still work", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.status(cmd.Context()) }}
}

func (t *tool) status(ctx context.Context) error {
	v, err := t.store.load()
	if err != nil {
		return err
	}
	hosts := v.Hosts
	if token := os.Getenv("G1T_TOKEN"); token != "" {
		host, err := t.host()
		if err != nil {
			return err
		}
		hosts = map[string]login{host: {Token: token, User: "G1T_TOKEN"}}
	}
	if len(hosts) == 0 {
		return fmt.Errorf("%w: run g1t auth login --host https://your.server", errNoToken)
	}
	var rows [][]string
	var failed error
	for host, entry := range hosts {
		if entry.Token == "" {
			entry, err = t.store.token(host)
		}
		row := []string{host, entry.User, "works", ""}
		if host == v.Default {
			row[3] = "default"
		}
		if err == nil {
			c := newClient(host)
			c.token = entry.Token
			var me struct {
				Login string `json:"login"`
			}
			_, err = c.get(ctx, "/user", &me)
			row[1] = orElse(me.Login, row[1])
		}
		if err != nil {
			row[2], failed = err.Error(), err
		}
		rows = append(rows, row)
	}
	t.table([]column{{Head: "SERVER"}, {Head: "ACCOUNT", Style: t.bold}, {Head: "TOKEN", Gives: true}, {Head: ""}}, rows)
	if failed != nil {
		return fmt.Errorf("not every token works: %w", failed)
	}
	return nil
}

func (t *tool) logoutCommand() *cobra.Command {
	return &cobra.Command{Use: "logout", Short: "Forget the token of a server", Args: cobra.NoArgs,
		Long: "Forget the token of a server. It works on until you revoke it at <server>/settings/tokens.",
		RunE: func(*cobra.Command, []string) error {
			host, err := t.host()
			if err != nil {
				return err
			}
			if err := t.store.forget(host); err != nil {
				return err
			}
			t.note("You are signed out of %s. The token works until it is revoked at %s/settings/tokens.", host, host)
			return nil
		}}
}

func (t *tool) tokenCommand() *cobra.Command {
	return &cobra.Command{Use: "token", Short: "Print the token that g1t uses", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := t.client()
			if err == nil {
				t.printf("%s\n", c.token)
			}
			return err
		}}
}

func (t *tool) setupGitCommand() *cobra.Command {
	return &cobra.Command{Use: "setup-git", Short: "Let git use g1t's token for the server", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := t.client()
			if err != nil {
				return err
			}
			opts, err := c.helper()
			if err != nil {
				return err
			}
			for i, opt := range []string{opts[1], opts[3]} {
				key, value, _ := strings.Cut(opt, "=")
				how := "--replace-all"
				if i > 0 {
					how = "--add"
				}
				if err := t.git(cmd.Context(), "config", "--global", how, key, value); err != nil {
					return err
				}
			}
			t.note("git asks g1t for the token of %s from now on.", c.host)
			return nil
		}}
}

// credentialCommand answers git, see git-credential(1).
func (t *tool) credentialCommand() *cobra.Command {
	return &cobra.Command{Use: "git-credential", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] != "get" {
				return nil
			}
			asked := map[string]string{}
			lines := bufio.NewScanner(t.in)
			for lines.Scan() && lines.Text() != "" {
				k, v, _ := strings.Cut(lines.Text(), "=")
				asked[k] = v
			}
			if err := lines.Err(); err != nil {
				return err
			}
			host := strings.ToLower(asked["protocol"] + "://" + asked["host"])
			token := os.Getenv("G1T_TOKEN")
			user := "g1t"
			if own, err := cleanHost(os.Getenv("G1T_HOST")); token == "" || err != nil || own != host {
				entry, err := t.store.token(host)
				if err != nil {
					return err
				}
				user, token = entry.User, entry.Token
			}
			t.printf("username=%s\npassword=%s\n", user, token)
			return nil
		}}
}
