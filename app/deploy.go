package app

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/app/deploykeys"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/mirrors"
	"github.com/gitfor/gitfor/app/outbound"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/app/transport"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// machines are the features for other machines.
type machines struct {
	// DeployKeys is keys and tokens that open one repository.
	DeployKeys *deploykeys.Service
	// Mirrors copies repositories from and to elsewhere.
	Mirrors *mirrors.Service
}

// buildDeploy makes keys and tokens for machines.
func (a *App) buildDeploy() {
	a.DeployKeys = deploykeys.New(deploykeys.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, Auth: a.Auth, Ring: a.Ring})
	a.Auth.SetKind(secret.Deploy, a.DeployKeys.ByToken)
	a.Repos.Sections = append(a.Repos.Sections, deploykeys.Sections()...)
}

// bySSHKey is who a key acts for: a person, or a machine in one repository.
func (a *App) bySSHKey(ctx context.Context, fingerprint string) (*model.Viewer, error) {
	viewer, err := a.Auth.BySSHKey(ctx, fingerprint)
	if errors.Is(err, db.ErrNotFound) {
		return a.DeployKeys.BySSHKey(ctx, fingerprint)
	}
	return viewer, err
}

// buildMirrors makes imports and mirrors.
func (a *App) buildMirrors(guard *outbound.Guard) {
	a.Mirrors = mirrors.New(mirrors.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, Ring: a.Ring, Guard: guard, Mail: a.Mail, URL: a.cfg.URL, Log: a.log})
	a.services = append(a.services, a.Mirrors)
	a.Repos.Sections = append(a.Repos.Sections, mirrors.Section())
	a.Events.Subscribe(events.Subscriber{Service: "work", Name: "mirrors.push", Types: []string{"git.push"}, Handle: a.Mirrors.OnPush})
}

// mirrorRules keeps people from pushing to what follows another repository.
type mirrorRules struct{ a *App }

// CheckPush refuses every command for such a repository.
func (r mirrorRules) CheckPush(_ context.Context, p *transport.Incoming) error {
	if err := r.a.Mirrors.CheckWrite(p.Target); err != nil {
		for _, c := range p.Pending() {
			c.Reject("%s", fault.From(err).Message)
		}
	}
	return nil
}
