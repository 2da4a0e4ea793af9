package mirrors

import (
	"context"
	"fmt"

	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/mirrordb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/mirrorview"
)

// warnFailures is after how many failures in a row a mirror's owners are told,
// once until it works again.
const warnFailures = 3

// WarnArgs are the arguments of the job that tells a failing mirror's owners.
type WarnArgs RunArgs

// Kind names the job.
func (WarnArgs) Kind() string { return "mirrors.warn" }

// WarnNow does the job of WarnArgs. A mirror that works again or is gone is
// none to warn of.
func (s *Service) WarnNow(ctx context.Context, args WarnArgs) error {
	m, err := mirrordb.Find(ctx, s.DB.Repo(args.RepoID), args.ID)
	if gone(err) || err == nil && m.Failures < warnFailures {
		return nil
	}
	if err != nil {
		return err
	}
	repo, err := repodb.ByIDAny(ctx, s.DB.Directory(), args.RepoID)
	if gone(err) || err == nil && repo.DeletedAt != nil {
		return nil
	}
	if err != nil {
		return err
	}
	people, err := accountdb.Caretakers(ctx, s.DB.Directory(), repo.OwnerID, m.AccountID)
	if err != nil {
		return err
	}
	page := s.URL + link.RepoSettings(repo.Owner.Name, repo.Name, "mirrors")
	subject := repo.FullName() + " cannot follow its source"
	if m.Kind == model.MirrorPush {
		subject = "The mirror of " + repo.FullName() + " keeps failing"
	}
	return s.DB.InCell(ctx, func(ctx context.Context, tx db.CellTx) error {
		for _, u := range people {
			err := s.Mail.Enqueue(ctx, tx, mail.Message{To: u.Email, ToName: u.Account.DisplayName, Subject: subject, Preview: m.Message,
				Body: mirrorview.Failing(mirrorview.FailingProps{Mirror: m, Repo: repo, Page: page}),
				Why:  "You look after " + repo.FullName() + ".", Manage: page,
				ID: fmt.Sprintf("mirror-%d-%d-%d-%d", repo.ID, m.ID, m.FinishedAt.UnixMicro(), u.AccountID)})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
