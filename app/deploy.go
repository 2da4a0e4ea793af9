package app

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/app/deploykeys"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// machines are the features for other machines.
type machines struct {
	// DeployKeys is keys and tokens that open one repository.
	DeployKeys *deploykeys.Service
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
