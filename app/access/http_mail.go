package access

import (
	"context"
	"errors"
	"time"

	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/mailview"
)

// write mails an invitation to the person, if and only if tx commits.
func (s *Service) write(ctx context.Context, tx db.DirectoryTx, user *model.Account, viewer *model.Viewer, repo *model.Repo, inv *model.Invitation) error {
	if s.Mail == nil {
		return nil
	}
	u, err := accountdb.User(ctx, tx.Directory, user.ID)
	if errors.Is(err, db.ErrNotFound) || err == nil && u.Email == "" {
		return nil
	}
	if err != nil {
		return err
	}
	return s.Mail.Enqueue(ctx, tx, mail.Message{To: u.Email, ToName: user.DisplayName, Reason: "invitation",
		Subject: viewer.Name() + " invites you to " + repo.FullName(),
		Why:     "You get this because somebody named your account " + user.Name + ".",
		Body: mailview.Invitation(mailview.InvitationProps{Inviter: viewer.Name(), To: repo.FullName(), As: "a collaborator with the role " + inv.Role,
			URL: s.URL + link.RepoPage(repo.Owner.Name, repo.Name, "invitations"), Days: int(InvitationTime / (24 * time.Hour))})})
}
