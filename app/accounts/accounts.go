package accounts

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/db"
)

// Service holds the operations on accounts.
type Service struct {
	db *db.DB
	// changed is told whose record has changed.
	changed func(ctx context.Context, accountID int64)
	// OrgSections are the pages of an organisation's settings, in order.
	OrgSections []OrgSection
	instance    *instance.Service
	// Gate guards the routes; set before Routes.
	Gate *perms.Gate
}

// New makes the service.
func New(d *db.DB, settings *instance.Service) *Service {
	return &Service{db: d, instance: settings, changed: func(context.Context, int64) {}}
}

// RestoreWindow is how long a deleted account keeps its name and can come
// back.
func (s *Service) RestoreWindow(ctx context.Context) time.Duration {
	return time.Duration(s.instance.Get(ctx).DeletedKeepDays) * 24 * time.Hour
}

// OnChange sets who is told, after the commit, that an account's record has
// changed, such as what keeps it in memory.
func (s *Service) OnChange(f func(ctx context.Context, accountID int64)) { s.changed = f }

// inDirectory runs fn in a transaction and tells afterwards that the account
// has changed.
func (s *Service) inDirectory(ctx context.Context, id int64, fn func(ctx context.Context, tx db.DirectoryTx) error) error {
	err := s.db.InDirectory(ctx, fn)
	if err == nil {
		s.changed(ctx, id)
	}
	return err
}

// Change is a transaction that changes an account's record; what keeps it in
// memory is told.
func (s *Service) Change(ctx context.Context, id int64, fn func(ctx context.Context, tx db.DirectoryTx) error) error {
	return s.inDirectory(ctx, id, fn)
}
