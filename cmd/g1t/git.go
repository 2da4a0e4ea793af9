package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
)

// gitOut runs git and returns what it prints.
func gitOut(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output() //nolint:gosec,noctx // the user's own git, in their clone
	return strings.TrimSpace(string(out)), err
}

// git runs git before the user's eyes.
func (t *tool) git(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the user's own git
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.in, t.err, t.err
	if err := cmd.Run(); err != nil {
		for len(args) > 2 && args[0] == "-c" {
			args = args[2:]
		}
		return fmt.Errorf("git %s failed", args[0])
	}
	return nil
}

// remotes are the addresses of the clone that g1t runs in, upstream and origin
// first.
func remotes() []string {
	text, err := gitOut("remote")
	if err != nil {
		return nil
	}
	var first, rest []string
	for name := range strings.FieldsSeq(text) {
		address, err := gitOut("remote", "get-url", name)
		switch {
		case err != nil:
		case name == "origin" || name == "upstream":
			first = append([]string{address}, first...)
		default:
			rest = append(rest, address)
		}
	}
	return append(first, rest...)
}

// parseRemote reads a git address: https, ssh:// or host:path.
func parseRemote(address string) (host, owner, name string, ok bool) {
	rest := ""
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host, rest = u.Hostname(), u.Path
		if u.Scheme == "http" || u.Scheme == "https" {
			host = u.Host
		}
	} else if before, after, found := strings.Cut(address, ":"); found {
		if _, h, at := strings.Cut(before, "@"); at {
			before = h
		}
		host, rest = before, after
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(rest, "/"), ".git"), "/")
	if host == "" || len(parts) < 2 {
		return "", "", "", false
	}
	return strings.ToLower(host), parts[len(parts)-2], parts[len(parts)-1], true
}

// serves says whether a clone's address belongs to the server: SSH runs on
// another port of the same name.
func serves(server, host string) bool {
	u, err := url.Parse(server)
	return err == nil && (u.Host == host || u.Hostname() == host)
}

// remoteHost is the known server that the clone belongs to, "" for none.
func remoteHost(v *settings) string {
	if len(v.Hosts) < 2 { // nothing to choose between
		return ""
	}
	for _, address := range remotes() {
		host, _, _, ok := parseRemote(address)
		for server := range v.Hosts {
			if ok && serves(server, host) {
				return server
			}
		}
	}
	return ""
}

// repo is the repository that the command is about, as OWNER/NAME.
func (t *tool) repo(c *client) (string, error) {
	name := t.repoFlag
	if name == "" {
		name = os.Getenv("G1T_REPO")
	}
	if name != "" {
		return c.fullName(name)
	}
	for _, address := range remotes() {
		if host, owner, name, ok := parseRemote(address); ok && serves(c.host, host) {
			return owner + "/" + name, nil
		}
	}
	return "", usagef("name the repository with --repo OWNER/NAME, or run g1t in a clone from %s", c.host)
}

// fullName completes a repository's name; without an owner it is one's own.
func (c *client) fullName(name string) (string, error) {
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, c.host), "/"), ".git")
	owner, rest, ok := strings.Cut(name, "/")
	if !ok && c.user != "" {
		owner, rest = c.user, name
	}
	if owner == "" || rest == "" || strings.Contains(rest, "/") {
		return "", usagef("%q is no repository such as ann/box", name)
	}
	return owner + "/" + rest, nil
}

// repoPath is a path of the API below a repository.
func repoPath(full string, parts ...string) string {
	owner, name, _ := strings.Cut(full, "/")
	return "/repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name) + strings.Join(parts, "")
}

// helper is the option that lets git ask g1t for the server's token.
func (c *client) helper() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(self, `'"\`) {
		return nil, errors.New("g1t lies at a path with quotes in it")
	}
	key := "credential." + c.host + ".helper"
	return []string{"-c", key + "=", "-c", key + "=!'" + self + "' auth git-credential"}, nil
}
