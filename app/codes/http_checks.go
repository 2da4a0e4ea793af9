package codes

import (
	"context"
	"strconv"

	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/statusdb"
	"github.com/gitfor/gitfor/views/codeview"
	"github.com/gitfor/gitfor/views/part"
)

// checked adds to commits what their statuses and checks came to.
func (s *Service) checked(ctx context.Context, repo *model.Repo, lines []codeview.CommitLine) error {
	shas := make([]string, len(lines))
	for i := range lines {
		shas[i] = lines[i].OID
	}
	all, err := statusdb.Latest(ctx, s.DB.Repo(repo.ID), "", shas...)
	if err != nil {
		return err
	}
	for i := range lines {
		list := all[lines[i].OID]
		if len(list) == 0 {
			continue
		}
		done := 0
		for _, st := range list {
			if st.Outcome() == model.StatusSuccess {
				done++
			}
		}
		state := part.CheckState(model.Combined(list))
		lines[i].Checks, lines[i].ChecksWhy = &state, strconv.Itoa(done)+" of "+strconv.Itoa(len(list))+" checks have succeeded"
	}
	return nil
}
