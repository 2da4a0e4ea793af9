package mirrors

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db/model"
)

// staging is where a fetch puts refs before they move as one push. Clients do
// not see it.
const staging = "refs/mirror/"

// network prepares a run of git that may reach the mirror's address and nothing
// else.
func (s *Service) network(cmd *git.Cmd, repo *model.Repo, m *model.Mirror) (*git.Cmd, error) {
	u, err := url.Parse(m.URL)
	if err != nil {
		return nil, err
	}
	cmd.Config("protocol."+u.Scheme+".allow", "always").Config("http.proxy", s.proxy.URL()).Config("http.followRedirects", "false").
		Config("http.emptyAuth", "false").Config("http.lowSpeedLimit", "1000").Config("http.lowSpeedTime", "120").
		Config("credential.helper", "").Config("fetch.recurseSubmodules", "false").Config("push.recurseSubmodules", "no")
	if len(m.Secret) > 0 {
		password, err := s.Ring.Open(sealFor(repo.ID, m.ID), m.Secret)
		if err != nil {
			return nil, err
		}
		user := m.Username
		if user == "" {
			user = "git"
		}
		cmd.Config("http."+u.Scheme+"://"+u.Host+"/.extraHeader",
			"Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+string(password))))
	}
	return cmd, nil
}

// copy is what a run does.
func (s *Service) copy(ctx context.Context, repo *model.Repo, m *model.Mirror, p *progress) error {
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return err
	}
	if m.Kind == model.MirrorPush {
		return s.push(ctx, g, repo, m, p)
	}
	head, err := s.head(ctx, g, repo, m)
	if err != nil {
		return err
	}
	cmd, err := s.network(g.Command(ctx, "fetch", "--no-tags", "--prune", "--force", "--no-write-fetch-head", "--progress").Stderr(p), repo, m)
	if err != nil {
		return err
	}
	if err := cmd.Revs(m.URL, "+refs/heads/*:"+staging+"heads/*", "+refs/tags/*:"+staging+"tags/*").Run(); err != nil {
		return err
	}
	p.set("Moving branches", 100)
	if err := s.move(ctx, g, repo, m); err != nil {
		return err
	}
	return s.adopt(ctx, g, repo, m, head)
}

// head is the branch that the other repository shows first, "" when it says
// none.
func (s *Service) head(ctx context.Context, g *git.Repository, repo *model.Repo, m *model.Mirror) (string, error) {
	cmd, err := s.network(g.Command(ctx, "ls-remote", "--symref"), repo, m)
	if err != nil {
		return "", err
	}
	out, err := cmd.Revs(m.URL, "HEAD").Output()
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(out) {
		if rest, ok := strings.CutPrefix(string(line), "ref: "+git.BranchPrefix); ok {
			branch, _, _ := strings.Cut(rest, "\t")
			return branch, nil
		}
	}
	return "", nil
}

// move brings branches and tags to where the other repository has them, as one
// push, and takes the staging refs away.
func (s *Service) move(ctx context.Context, g *git.Repository, repo *model.Repo, m *model.Mirror) error {
	staged, err := g.Refs(ctx, staging)
	if err != nil {
		return err
	}
	now := map[string]git.OID{}
	for _, prefix := range []string{git.BranchPrefix, git.TagPrefix} {
		refs, err := g.Refs(ctx, prefix)
		if err != nil {
			return err
		}
		for _, r := range refs {
			now[r.Name] = r.OID
		}
	}
	var moves, drops, away []git.RefUpdate
	for _, r := range staged {
		name := "refs/" + strings.TrimPrefix(r.Name, staging)
		away = append(away, git.RefUpdate{Name: r.Name, Old: r.OID, New: g.ZeroOID()})
		have, ok := now[name]
		delete(now, name)
		switch {
		case !ok:
			moves = append(moves, git.RefUpdate{Name: name, Old: g.ZeroOID(), New: r.OID})
		case have != r.OID:
			moves = append(moves, git.RefUpdate{Name: name, Old: have, New: r.OID})
		}
	}
	if m.Kind == model.MirrorPull && len(staged) > 0 {
		for name, oid := range now {
			drops = append(drops, git.RefUpdate{Name: name, Old: oid, New: g.ZeroOID()})
		}
	}
	actor := &model.Viewer{Account: &model.Account{ID: m.AccountID}}
	step := func(updates []git.RefUpdate) error {
		if len(updates) == 0 {
			return nil
		}
		return s.Repos.MoveRefs(ctx, g, &repos.Push{Repo: repo, Actor: actor, Via: "mirror", Judged: true, Updates: updates})
	}
	err = step(append(append([]git.RefUpdate{}, drops...), moves...))
	if errors.Is(err, git.ErrRefConflict) && len(drops) > 0 {
		// A name became a folder of names: one goes before the other comes.
		if err = step(drops); err == nil {
			err = step(moves)
		}
	}
	if err != nil {
		return err
	}
	return g.UpdateRefs(ctx, away)
}

// adopt makes the other repository's first branch the default one: of a mirror
// always, after an import where there is none.
func (s *Service) adopt(ctx context.Context, g *git.Repository, repo *model.Repo, m *model.Mirror, head string) error {
	if head != "" && head != repo.DefaultBranch && utf8.ValidString(head) {
		_, err := g.Ref(ctx, git.BranchPrefix+head)
		_, mine := g.Ref(ctx, git.BranchPrefix+repo.DefaultBranch)
		if err == nil && (m.Kind == model.MirrorPull || errors.Is(mine, git.ErrNotFound)) {
			return s.Repos.Edit(ctx, nil, repo, repos.EditInput{DefaultBranch: &head})
		}
	}
	branches, err := g.Branches(ctx)
	if err != nil {
		return err
	}
	var all []git.RefUpdate
	for _, b := range branches {
		all = append(all, git.RefUpdate{Name: b.Name, New: b.OID})
	}
	return s.Repos.AdoptBranch(ctx, repo, all)
}

func (s *Service) push(ctx context.Context, g *git.Repository, repo *model.Repo, m *model.Mirror, p *progress) error {
	cmd, err := s.network(g.Command(ctx, "push", "--prune", "--force", "--progress").Stderr(p), repo, m)
	if err != nil {
		return err
	}
	return cmd.Revs(m.URL, "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*").Run()
}

// progress reads git's lines about how far it is.
type progress struct {
	mu      sync.Mutex
	line    []byte
	phase   string
	percent int
}

func newProgress() *progress { return &progress{phase: "Connecting"} }

func (p *progress) set(phase string, percent int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.percent = phase, percent
}

func (p *progress) now() (string, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.phase, p.percent
}

// Write takes what git writes to standard error, such as
// "Receiving objects:  45% (9/20), 1.00 MiB | 2.00 MiB/s".
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range b {
		if c != '\r' && c != '\n' {
			if len(p.line) < 500 {
				p.line = append(p.line, c)
			}
			continue
		}
		name, rest, ok := strings.Cut(strings.TrimPrefix(string(p.line), "remote: "), ":")
		number, _, percent := strings.Cut(strings.TrimSpace(rest), "%")
		if n, err := strconv.Atoi(number); ok && percent && err == nil && len(name) < 40 && n >= 0 && n <= 100 {
			p.phase, p.percent = strings.ToValidUTF8(name, "?"), n
		}
		p.line = p.line[:0]
	}
	return len(b), nil
}

// explain tells a person why a run failed.
func explain(err error) string {
	var failed *git.CommandError
	if !errors.As(err, &failed) {
		if f := fault.From(err); f.Kind != fault.Internal {
			text := f.Message
			for _, m := range f.Fields {
				text += " " + m
			}
			return text
		}
		return "Something went wrong here. It is in the log of this site."
	}
	text := failed.Stderr
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "It took longer than six hours."
	case has("response 403", "HTTP code 403 from proxy"):
		return "The address is not on the public network, and the operator of this site has not allowed it."
	case has("response 502", "error: 502", "HTTP code 502 from proxy", "Could not resolve", "Connection refused", "Failed to connect"):
		return "The other side cannot be reached."
	case has("Authentication failed", "could not read Username", "could not read Password", "error: 401", "error: 403"):
		return "The other side asks for a user name and password, or refuses these."
	case has("error: 30"):
		return "The address redirects elsewhere. Give the one that it leads to."
	case has("not found", "error: 404"):
		return "There is no repository at this address, or it needs a user name and password."
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "fatal: "); ok {
			return "git says: " + clip(rest)
		}
	}
	if len(lines) > 0 {
		return "git says: " + clip(lines[len(lines)-1])
	}
	return "git failed without saying why."
}

func clip(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}
