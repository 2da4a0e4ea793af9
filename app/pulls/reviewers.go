package pulls

import (
	"context"

	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// TeamsOf are those of the teams asked for a review that an account is in.
func (s *Service) TeamsOf(ctx context.Context, pull *model.Pull, account int64) ([]int64, error) {
	if len(pull.TeamIDs) == 0 {
		return nil, nil
	}
	return accountdb.TeamsWith(ctx, s.DB.Directory(), pull.TeamIDs, account)
}
