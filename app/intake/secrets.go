package intake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// Bounds of what is searched for secrets in one push.
const (
	maxScanFile  = 1 << 20
	maxScanBytes = 32 << 20
	maxScanTime  = 20 * time.Second
)

// doubtful are the rules of gitleaks that go by the look of a line rather than
// by the form of a secret: they would refuse far more than they find.
var doubtful = []string{"generic-api-key", "curl-auth-header", "curl-auth-user", "kubernetes-secret-yaml", "jwt", "jwt-base64", "sourcegraph-access-token"}

// fixture is a path of tests and samples, where keys that open nothing are at
// home.
var fixture = regexp.MustCompile(`(?i)(^|/)(tests?|testdata|fixtures?|specs?|examples?|samples?|mocks?)/|[_.-](test|spec)\.[a-z]+$`)

// refuses says whether a rule holds for a file.
func refuses(rule, file string) bool {
	return !slices.Contains(doubtful, rule) && (rule != "private-key" || !fixture.MatchString(file))
}

// newDetector loads gitleaks' own rules. A comment in the line does not switch
// them off: what is allowed is written down with its reason.
func newDetector() (*detect.Detector, error) {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return nil, fmt.Errorf("load the rules about secrets: %w", err)
	}
	d.IgnoreGitleaksAllow = true
	return d, nil
}

// scan looks for secrets in new files. It reports whether something was left
// out for a bound.
func (s *Service) scan(ctx context.Context, g *git.Repository, repo *model.Repo, files []newFile, v *Verdict) (partly bool, err error) {
	if len(files) == 0 {
		return false, nil
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	end, sum := time.Now().Add(maxScanTime), int64(0)
	seen := map[git.OID]bool{}
	for _, f := range files {
		if seen[f.entry.OID] || f.size > maxScanFile || f.size == 0 {
			continue
		}
		seen[f.entry.OID] = true
		if sum += f.size; sum > maxScanBytes || time.Now().After(end) {
			return true, nil
		}
		data, err := g.Blob(ctx, f.entry.OID, maxScanFile)
		if err != nil {
			return false, err
		}
		if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
			continue
		}
		found, err := s.secretsIn(ctx, f, data)
		if err != nil {
			return false, err
		}
		for _, x := range found {
			if !slices.ContainsFunc(repo.Settings.SecretsAllowed, func(a model.SecretAllowed) bool { return a.Code == x.Code }) {
				v.Secrets = append(v.Secrets, x)
			}
		}
		if len(v.Secrets) >= maxFindings {
			v.Secrets = v.Secrets[:maxFindings]
			return false, nil
		}
	}
	return false, nil
}

func (s *Service) secretsIn(ctx context.Context, f newFile, data []byte) ([]Finding, error) {
	d, err := s.detector.get()
	if err != nil {
		return nil, err
	}
	var out []Finding
	//nolint:staticcheck // DetectContext takes no other type yet
	for _, x := range d.DetectContext(ctx, detect.Fragment{Raw: string(data), FilePath: f.path}) {
		if !refuses(x.RuleID, f.path) {
			continue
		}
		line := x.StartLine + 1
		if i := strings.Index(string(data), x.Secret); i >= 0 {
			line = 1 + bytes.Count(data[:i], []byte("\n"))
		}
		code := codeOf(x.Secret)
		if slices.ContainsFunc(out, func(f Finding) bool { return f.Code == code }) {
			continue // several rules know it
		}
		out = append(out, Finding{Commit: f.commit, Path: f.path, Line: line, Rule: x.RuleID,
			Why: "looks like " + article(describe(x.RuleID)), Code: code})
	}
	return out, nil
}

// describe makes words of a rule's name: "github-pat" is "github pat".
func describe(rule string) string { return strings.ReplaceAll(rule, "-", " ") }

func article(s string) string {
	if s != "" && strings.ContainsRune("aeiou", rune(s[0])) {
		return "an " + s
	}
	return "a " + s
}

// codeOf stands for a secret without telling it.
func codeOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:12])
}

// maxAllowed bounds the secrets that a repository allows.
const maxAllowed = 200

// Allow lets a secret in from now on, with a reason that is written down.
func (s *Service) Allow(ctx context.Context, viewer *model.Viewer, repo *model.Repo, code, rule, file, reason string) error {
	f := fault.Fields{}
	reason = strings.TrimSpace(reason)
	if raw, err := hex.DecodeString(code); err != nil || len(raw) != 12 {
		f.Add("code", "This is no code of a secret: copy the address from the message.")
	}
	if problem := checkReason(reason); problem != "" {
		f.Add("reason", problem)
	}
	if len(repo.Settings.SecretsAllowed) >= maxAllowed {
		f.Add("reason", "A repository can allow at most 200 secrets.")
	}
	if err := f.Err(); err != nil {
		return err
	}
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		fresh := *repo
		fresh.Settings.SecretsAllowed = append(slices.Clone(repo.Settings.SecretsAllowed),
			model.SecretAllowed{Code: code, Rule: rule, File: file, Reason: reason, By: viewer.ID(), At: tx.Now()})
		if err := repodb.Update(ctx, tx, &fresh, "settings"); err != nil {
			return err
		}
		return note(ctx, tx, viewer, repo, reason, []Finding{{Rule: rule, Path: file}})
	})
}

func checkReason(reason string) string {
	switch {
	case utf8.RuneCountInString(reason) < 3:
		return "Say why it may be pushed."
	case len(reason) > 500 || !utf8.ValidString(reason):
		return "The reason is too long."
	}
	return ""
}

// AllowOption is the push option that lets secrets in once, with a reason.
const AllowOption = "secret.allow="

// Reason is the reason that push options give for letting secrets in, "" for
// none.
func Reason(options []string) string {
	for _, o := range options {
		if r, ok := strings.CutPrefix(o, AllowOption); ok && checkReason(strings.TrimSpace(r)) == "" {
			return strings.TrimSpace(r)
		}
	}
	return ""
}

// Bypassed writes down that a push brought secrets, and why.
func (s *Service) Bypassed(ctx context.Context, viewer *model.Viewer, repo *model.Repo, reason string, v *Verdict) error {
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return note(ctx, tx, viewer, repo, reason, v.Secrets)
	})
}

func note(ctx context.Context, tx db.Tx, viewer *model.Viewer, repo *model.Repo, reason string, found []Finding) error {
	list := make([]string, len(found))
	for i, f := range found {
		list[i] = fmt.Sprintf("%s in %s", f.Rule, git.Display(f.Path))
	}
	return audit.Record(ctx, tx, audit.Entry{Action: "secret_scanning_push_protection.bypass", Actor: viewer, Repo: repo,
		After: audit.Facts{"reason": reason, "secrets": list}})
}
