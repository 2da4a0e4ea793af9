package orgs

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

// write mails an invitation to the person or address, if and only if tx
// commits. One by link goes to nobody.
func (s *Service) write(ctx context.Context, tx db.DirectoryTx, viewer *model.Viewer, org *model.Account, inv *Invitation) error {
	if s.Mail == nil || inv.AccountID == 0 && inv.Email == "" {
		return nil
	}
	m := mail.Message{To: inv.Email, Reason: "invitation", Subject: viewer.Name() + " invites you to " + org.Shown(),
		Why: "You get this because " + viewer.Name() + " gave this address."}
	at := s.URL + "/invitations/" + inv.Token
	if inv.AccountID != 0 {
		u, err := accountdb.User(ctx, tx.Directory, inv.AccountID)
		if errors.Is(err, db.ErrNotFound) || err == nil && u.Email == "" {
			return nil
		}
		if err != nil {
			return err
		}
		m.To, m.ToName = u.Email, u.Account.DisplayName
		m.Why = "You get this because somebody named your account " + u.Account.Name + "."
		at = s.URL + link.Org(org.Name, "invitation")
	}
	m.Body = mailview.Invitation(mailview.InvitationProps{Inviter: viewer.Name(), To: org.Shown(),
		As: map[string]string{Owner: "an owner", Member: "a member"}[inv.Role], URL: at, Days: int(LinkTime / (24 * time.Hour))})
	return s.Mail.Enqueue(ctx, tx, m)
}
