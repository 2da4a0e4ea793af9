package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/webhookdb"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/webhookview"
)

// A hook's owners are told once it has failed this often and for this long.
const (
	warnAfter    = time.Hour
	warnFailures = 5
)

// WarnArgs are the arguments of the job that tells a failing hook's owners.
type WarnArgs struct {
	Place db.Kind `json:"place"`
	ID    int64   `json:"id"`
	Hook  int64   `json:"hook"`
}

// Kind names the job.
func (WarnArgs) Kind() string { return "webhooks.warn" }

// warn begins to tell the owners of a hook that keeps failing, once until it
// works again.
func warn(ctx context.Context, tx webhookdb.Tx, p webhookdb.Place, h *model.Hook) error {
	if h.FailingSince == nil || h.Failures < warnFailures || tx.Now().Sub(*h.FailingSince) < warnAfter {
		return nil
	}
	key := fmt.Sprintf("%s/%d/%d", p, h.ID, h.FailingSince.UnixMicro())
	first, err := tx.Handled(ctx, "webhooks.warn", key)
	if err != nil || !first {
		return err
	}
	return tx.Enqueue(ctx, WarnArgs{Place: p.Kind, ID: p.ID, Hook: h.ID}, nil)
}

// WarnNow does the job of WarnArgs. A hook that works again or is gone is none
// to warn of.
func (s *Service) WarnNow(ctx context.Context, a WarnArgs) error {
	p := webhookdb.Place{Kind: a.Place, ID: a.ID}
	h, err := webhookdb.Hook(ctx, s.DB, p, a.Hook)
	if errors.Is(err, db.ErrNotFound) || err == nil && (h.FailingSince == nil || !h.Active) {
		return nil
	}
	if err != nil {
		return err
	}
	base, whose, owner, err := s.whose(ctx, p)
	if err != nil || base == "" {
		return err
	}
	people, err := accountdb.Caretakers(ctx, s.DB.Directory(), owner, h.CreatorID)
	if err != nil || len(people) == 0 {
		return err
	}
	page := s.Kit.Config().URL + fmt.Sprintf("%s/%d", base, h.ID)
	return s.DB.InCell(ctx, func(ctx context.Context, tx db.CellTx) error {
		for _, u := range people {
			err := s.Mail.Enqueue(ctx, tx, mail.Message{To: u.Email, ToName: u.Account.DisplayName,
				Subject: "A webhook of " + whose + " keeps failing", Preview: h.URL,
				Body: webhookview.Failing(webhookview.FailingProps{Hook: h, Whose: whose, Page: page}),
				Why:  "You look after " + whose + ".", Manage: page,
				ID: fmt.Sprintf("hook-%d-%d-%d", h.ID, h.FailingSince.UnixMicro(), u.AccountID)})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// whose is where a place's hooks are looked after, what it is called, and the
// account that owns it, 0 for the instance; "" when it is gone.
func (s *Service) whose(ctx context.Context, p webhookdb.Place) (base, name string, owner int64, err error) {
	switch p.Kind {
	case db.RepoKind:
		repos, err := repodb.ByIDs(ctx, s.DB.Directory(), []int64{p.ID})
		r := repos[p.ID]
		if err != nil || r == nil || r.Owner == nil {
			return "", "", 0, err
		}
		return link.RepoSettings(r.Owner.Name, r.Name, "hooks"), r.FullName(), r.OwnerID, nil
	case db.AccountKind:
		accounts, err := accountdb.ByIDs(ctx, s.DB.Directory(), p.ID)
		a := accounts[p.ID]
		if err != nil || a == nil {
			return "", "", 0, err
		}
		return link.OrgSettings(a.Name, "hooks"), a.Name, a.ID, nil
	}
	return link.Admin("hooks"), "this instance", 0, nil
}
