package access

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accessdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// Person is somebody with a role in a repository, and why.
type Person struct {
	Account *model.Account
	// Role is the highest that a reason gives.
	Role    model.Role
	Reasons []*accessdb.Reason
}

// Direct is the role that the person was given by name, RoleNone without one.
func (p *Person) Direct() model.Role {
	for _, r := range p.Reasons {
		if r.Via == accessdb.ByInvite {
			return r.Role
		}
	}
	return model.RoleNone
}

// Outside says that nothing else than being invited gives the person a role.
func (p *Person) Outside() bool {
	return len(p.Reasons) == 1 && p.Reasons[0].Via == accessdb.ByInvite
}

// Report says who has a role in the repository and why, by name.
func (s *Service) Report(ctx context.Context, repo *model.Repo) ([]*Person, error) {
	reasons, err := accessdb.Reasons(ctx, s.DB.Directory(), repo, 0)
	if err != nil {
		return nil, err
	}
	var people []*Person
	for _, r := range reasons {
		if n := len(people); n == 0 || people[n-1].Account.ID != r.ID {
			people = append(people, &Person{Account: &r.Account})
		}
		p := people[len(people)-1]
		p.Role, p.Reasons = model.MaxRole(p.Role, r.Role), append(p.Reasons, r)
	}
	return people, nil
}

// Role is what an account may do with the repository, by whatever reason;
// what is public everybody may read.
func (s *Service) Role(ctx context.Context, repo *model.Repo, accountID int64) (model.Role, error) {
	_, role, err := repodb.FindID(ctx, s.DB.Directory(), repo.ID, accountID)
	if errors.Is(err, db.ErrNotFound) {
		return model.RoleNone, nil
	}
	return role, err
}
