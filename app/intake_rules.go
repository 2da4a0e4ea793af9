package app

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/git/protocol"
	"github.com/gitfor/gitfor/app/intake"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/transport"
)

// buildIntake makes the checks of the files that come into repositories; it
// comes before the writers of refs.
func (a *App) buildIntake() {
	a.Intake = intake.New(intake.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, URL: a.cfg.URL,
		MaxFile: func(ctx context.Context) int64 { return int64(a.Instance.Get(ctx).MaxFileMB) << 20 }})
	a.Repos.Files = a.Intake.CheckMove
	a.Repos.Sections = append(a.Repos.Sections, intake.Section())
}

// intakeRules asks about the files of pushes of git's clients.
type intakeRules struct {
	intake *intake.Service
	repos  *repos.Service
}

// CheckPush refuses a push that brings forbidden files, or secrets for which no
// reason is given.
func (r intakeRules) CheckPush(ctx context.Context, p *transport.Incoming) error {
	var moves []git.RefUpdate
	for _, c := range p.Pending() {
		if c.Kind != protocol.Delete {
			moves = append(moves, git.RefUpdate{Name: c.Ref, Old: c.Old, New: c.New})
		}
	}
	if len(moves) == 0 {
		return nil
	}
	known, err := r.repos.Open(ctx, p.Target)
	if err != nil {
		return err
	}
	v, err := r.intake.Check(ctx, p.Repo, known, p.Target, moves)
	if err != nil {
		return err
	}
	if len(v.Secrets) > 0 && len(v.Files) == 0 {
		if reason := intake.Reason(p.Options); reason != "" {
			p.Remote("%d secrets were let in for the reason given; it is written down.", len(v.Secrets))
			return r.intake.Bypassed(ctx, p.Viewer, p.Target, reason, v)
		}
	}
	switch {
	case len(v.Secrets) > 0 && len(v.Files) == 0 && v.History:
		for line := range strings.Lines(r.intake.Words(p.Target, v)) {
			p.Remote("%s", strings.TrimSuffix(line, "\n"))
		}
		return r.intake.Bypassed(ctx, p.Viewer, p.Target, "came with the history of an empty repository", v)
	case len(v.Files) > 0:
		return &protocol.Refusal{Message: r.intake.Words(p.Target, v), Reason: "files are not allowed here"}
	case len(v.Secrets) > 0:
		return &protocol.Refusal{Message: r.intake.Words(p.Target, v), Reason: "push holds secrets"}
	case v.Partly:
		p.Remote("This push is large: only its newest commits were searched for secrets and forbidden files.")
	}
	return nil
}
