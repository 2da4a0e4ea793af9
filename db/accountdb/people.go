package accountdb

import (
	"context"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// How an account stands to a repository, in GitHub's words
// (https://docs.github.com/graphql/reference/enums#commentauthorassociation).
const (
	AssociationOwner        = "OWNER"
	AssociationMember       = "MEMBER"
	AssociationCollaborator = "COLLABORATOR"
	AssociationNone         = "NONE"
)

// People are accounts as they appear on a page about a repository.
type People struct {
	ByID map[int64]*model.Account
	// ByName holds those that were asked for by name, by Key of the name.
	ByName map[string]*model.Account
	// Association says for each id how the account stands to the repository.
	Association map[int64]string
}

// Get is the account with this id, nil where it is unknown.
func (p *People) Get(id int64) *model.Account {
	if p == nil {
		return nil
	}
	return p.ByID[id]
}

// PeopleOf returns accounts by id (deleted ones too) and by name, with how
// they stand to the repository, in one query.
func PeopleOf(ctx context.Context, dir db.Directory, repo *model.Repo, ids []int64, names []string) (*People, error) {
	p := &People{ByID: map[int64]*model.Account{}, ByName: map[string]*model.Account{}, Association: map[int64]string{}}
	if len(ids)+len(names) == 0 {
		return p, nil
	}
	// An empty list would be no SQL.
	ids = append(ids[:len(ids):len(ids)], 0)
	keys := []string{""}
	for _, n := range names {
		keys = append(keys, model.Key(n))
	}
	var rows []struct {
		model.Account `bun:",extend"`

		Association string `bun:"association,scanonly"`
	}
	err := dir.NewSelect().Model(&rows).ColumnExpr("a.*").
		ColumnExpr(`CASE WHEN a.id = ?0 THEN 'OWNER'
			WHEN EXISTS (SELECT 1 FROM directory.org_members m WHERE m.org_id = ?0 AND m.user_id = a.id) THEN 'MEMBER'
			WHEN EXISTS (SELECT 1 FROM directory.collaborators c WHERE c.repo_id = ?1 AND c.account_id = a.id) THEN 'COLLABORATOR'
			ELSE 'NONE' END AS association`, repo.OwnerID, repo.ID).
		Where("a.id IN (?) OR a.name_key IN (?) AND a.deleted_at IS NULL", bun.List(ids), bun.List(keys)).Scan(ctx)
	if err != nil {
		return nil, db.Map(err)
	}
	asked := map[string]bool{}
	for _, k := range keys {
		asked[k] = true
	}
	for i := range rows {
		a := &rows[i].Account
		p.ByID[a.ID], p.Association[a.ID] = a, rows[i].Association
		if asked[a.NameKey] && a.DeletedAt == nil {
			p.ByName[a.NameKey] = a
		}
	}
	return p, nil
}

// Candidate is an account that somebody wants to give something to do.
type Candidate struct {
	model.Account `bun:",extend"`

	// Member says that the account has more to do with the repository than
	// the public.
	Member bool `bun:"member,scanonly"`
}

// Candidates returns the accounts of these names, by Key of the name, and
// whether each is a member of the repository, in one query.
func Candidates(ctx context.Context, dir db.Directory, repo *model.Repo, names []string) (map[string]*Candidate, error) {
	out := map[string]*Candidate{}
	if len(names) == 0 {
		return out, nil
	}
	keys := make([]string, len(names))
	for i, n := range names {
		keys[i] = model.Key(n)
	}
	var rows []*Candidate
	err := dir.NewSelect().Model(&rows).ColumnExpr("a.*").
		ColumnExpr(`(a.id = ?0 OR EXISTS (SELECT 1 FROM directory.collaborators c WHERE c.repo_id = ?1 AND c.account_id = a.id)
			OR EXISTS (SELECT 1 FROM directory.org_members m WHERE m.org_id = ?0 AND m.user_id = a.id)
			OR EXISTS (SELECT 1 FROM directory.team_repos tr JOIN directory.team_members tm ON tm.team_id = tr.team_id
				WHERE tr.repo_id = ?1 AND tm.user_id = a.id)) AS member`, repo.OwnerID, repo.ID).
		Where("a.name_key IN (?) AND a.deleted_at IS NULL", bun.List(keys)).Scan(ctx)
	for _, c := range rows {
		out[c.NameKey] = c
	}
	return out, db.Map(err)
}
