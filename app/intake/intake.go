// Package intake looks at what a push, an edit or the API brings into a
// repository before its refs move: sizes and names of files, and secrets among
// their lines, by gitleaks' rules.
//
//	intake.go   Service, Check: the verdict on a set of moves
//	new.go      which files are new, found in this process
//	secrets.go  gitleaks' rules, and what is allowed in spite of them
//	http.go     the settings page and the page that allows a secret
//
// What is allowed stands in the repository's settings. Views: views/intakeview.
package intake

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// Deps are what the checks are built on.
type Deps struct {
	DB    *db.DB
	Gate  *perms.Gate
	Repos *repos.Service
	// URL is the public address.
	URL string
	// MaxFile is the instance's bound on the size of a file in bytes; 0 is none.
	MaxFile func(ctx context.Context) int64
}

// Service checks what comes into repositories.
type Service struct {
	Deps

	detector rules
	slots    chan struct{}
}

// New makes the service. The rules are loaded when they are first needed.
func New(deps Deps) *Service {
	return &Service{Deps: deps, slots: make(chan struct{}, 2)}
}

// rules are gitleaks' own, which take some megabytes while they are loaded.
type rules struct {
	mu     sync.Mutex
	loaded *detect.Detector
}

func (r *rules) get() (*detect.Detector, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loaded != nil {
		return r.loaded, nil
	}
	d, err := newDetector()
	r.loaded = d
	return d, err
}

// Rest lets go of the rules until they are needed again.
func (s *Service) Rest() {
	s.detector.mu.Lock()
	defer s.detector.mu.Unlock()
	s.detector.loaded = nil
}

// maxPath is the longest path of a file, in bytes.
const maxPath = 4096

// Finding is what is wrong with a file that comes in.
type Finding struct {
	Commit git.OID
	Path   string
	// Line is 0 where the whole file is meant.
	Line int
	// Rule is gitleaks' name of the rule, or "file-size", "path-length",
	// "forbidden-path".
	Rule string
	// Why is a sentence for people.
	Why string
	// Code stands for the secret where somebody allows it; empty for others.
	Code string
}

// String is the finding in one line.
func (f Finding) String() string {
	at := git.Display(f.Path)
	if f.Line > 0 {
		at += fmt.Sprintf(":%d", f.Line)
	}
	return fmt.Sprintf("%s %s: %s (%s)", f.Commit.Short(), at, f.Why, f.Rule)
}

// Verdict is what was found; the zero value is nothing.
type Verdict struct {
	Files   []Finding
	Secrets []Finding
	// Partly says that the push was too large to look at all of its history.
	Partly bool
	// History says that an empty repository was given a history of some length.
	// Its secrets were out before, and whoever moves here cannot take them out
	// of old commits, so they are told and let in.
	History bool
}

// maxFresh is how many commits the first push may have to count as new work.
const maxFresh = 50

// maxFindings bounds what is told; the first is enough to refuse.
const maxFindings = 20

// Check looks at what moves bring into repo. g reads the new objects; known,
// when set, has only the old ones, and what it has is not looked at again.
func (s *Service) Check(ctx context.Context, g, known *git.Repository, repo *model.Repo, moves []git.RefUpdate) (*Verdict, error) {
	found, err := newFiles(ctx, g, moves)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Partly: found.partly, History: found.first && found.commits > maxFresh}
	max := repo.Settings.MaxFileBytes
	if s.MaxFile != nil {
		if all := s.MaxFile(ctx); all > 0 && (max == 0 || all < max) {
			max = all
		}
	}
	var look []newFile
	for _, f := range found.files {
		if problem := checkPath(repo.Settings.ForbiddenPaths, f); problem.Rule != "" {
			v.Files = append(v.Files, problem)
		}
		if f.entry.IsSymlink() || f.entry.IsSubmodule() {
			continue
		}
		if known != nil {
			if has, err := known.Has(ctx, f.entry.OID); err != nil || has {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		info, err := g.Info(ctx, f.entry.OID)
		if err != nil {
			return nil, err
		}
		if max > 0 && info.Size > max {
			v.Files = append(v.Files, Finding{Commit: f.commit, Path: f.path, Rule: "file-size",
				Why: fmt.Sprintf("the file has %d bytes, at most %d are allowed; use git-lfs for large files", info.Size, max)})
		}
		f.size = info.Size
		look = append(look, f)
		if len(v.Files) >= maxFindings {
			return v, nil
		}
	}
	if !repo.Settings.SecretPushAllow {
		partly, err := s.scan(ctx, g, repo, look, v)
		if err != nil {
			return nil, err
		}
		v.Partly = v.Partly || partly
	}
	return v, nil
}

// checkPath holds a new file's path against the rules; Rule is "" when nothing
// is wrong.
func checkPath(forbidden []string, f newFile) Finding {
	out := Finding{Commit: f.commit, Path: f.path}
	if len(f.path) > maxPath {
		out.Rule, out.Why = "path-length", fmt.Sprintf("the path is longer than %d bytes", maxPath)
		return out
	}
	for _, pattern := range forbidden {
		if MatchPath(pattern, f.path) {
			out.Rule, out.Why = "forbidden-path", "files named "+pattern+" are not allowed here"
			return out
		}
	}
	return out
}

// MatchPath says whether a pattern stands for a file: with a slash for the whole
// path, else for its name. * is anything within a part; a pattern that ends in a
// slash stands for a folder and all below it.
func MatchPath(pattern, file string) bool {
	if folder, ok := strings.CutSuffix(pattern, "/"); ok {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if MatchPath(folder, dir) {
				return true
			}
		}
		return false
	}
	if !strings.Contains(pattern, "/") {
		file = path.Base(file)
	}
	ok, err := path.Match(strings.ToLower(strings.TrimPrefix(pattern, "/")), strings.ToLower(file))
	return err == nil && ok
}

// allowAddress is where a secret can be allowed.
func (s *Service) allowAddress(repo *model.Repo, f Finding) string {
	return s.URL + link.Q("code", f.Code, "rule", f.Rule, "file", git.Display(f.Path)).On(link.RepoPage(repo.Owner.Name, repo.Name, "allow-secret"))
}

// CheckMove is asked by writers of refs in this process, such as the editor
// and the API. Merges bring what was pushed, and so checked, before.
func (s *Service) CheckMove(ctx context.Context, g *git.Repository, p *repos.Push) error {
	if p.Via == "merge" || p.Via == "mirror" {
		return nil
	}
	v, err := s.Check(ctx, g, nil, p.Repo, p.Updates)
	if err != nil {
		return err
	}
	if len(v.Files) > 0 {
		f := v.Files[0]
		return fault.Field("path", git.Display(f.Path)+": "+f.Why+".")
	}
	if len(v.Secrets) > 0 {
		f := v.Secrets[0]
		return fault.Field("path", fmt.Sprintf("%s, line %d: %s (%s). Take it out, or allow it with a reason at %s",
			git.Display(f.Path), f.Line, f.Why, f.Rule, s.allowAddress(p.Repo, f)))
	}
	return nil
}

// Words are the verdict for the person who pushes, line by line; empty when
// nothing was found.
func (s *Service) Words(repo *model.Repo, v *Verdict) string {
	var b strings.Builder
	for _, f := range v.Files {
		b.WriteString(f.String() + "\n")
	}
	if len(v.Secrets) > 0 && v.History {
		b.WriteString("This history holds what looks like secrets. It was let in as it is; make new ones if they are real:\n")
		for _, f := range v.Secrets {
			b.WriteString("  " + f.String() + "\n")
		}
		return b.String()
	}
	if len(v.Secrets) > 0 {
		b.WriteString("The push was refused because it holds what looks like secrets:\n")
		for _, f := range v.Secrets {
			b.WriteString("  " + f.String() + "\n")
		}
		b.WriteString("Take them out of the commits (and make new ones: they may have been seen).\n" +
			"If they are none, push again with: git push -o secret.allow=\"<the reason>\"\n" +
			"or allow the first one at " + s.allowAddress(repo, v.Secrets[0]) + "\n")
	}
	return b.String()
}
