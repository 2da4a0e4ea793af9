// Package limits stores how many API requests everybody made in this hour, so
// that a restart gives nobody a fresh one, and processes of one instance know
// of each other. What is counted is counted in memory and written every
// minute.
package limits

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/limitdb"
)

const (
	every = time.Minute
	// batch bounds the rows of one statement, keep how long rows stay.
	batch = 1000
	keep  = 48 * time.Hour
)

// Service stores the counts between Start and Stop.
type Service struct {
	db   *db.DB
	kit  *web.Kit
	log  *slog.Logger
	stop chan struct{}
	done chan struct{}
}

// New makes the service.
func New(d *db.DB, kit *web.Kit, log *slog.Logger) *Service {
	return &Service{db: d, kit: kit, log: log}
}

// Start reads what was used in this hour and begins to write.
func (s *Service) Start(ctx context.Context) error {
	rows, err := limitdb.Since(ctx, s.db.Directory(), time.Now().Truncate(time.Hour))
	if err != nil {
		return err
	}
	s.put(rows)
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(s.done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-tick.C:
				if err := s.Flush(ctx); err != nil {
					s.log.ErrorContext(ctx, "request counts were not stored", "err", err)
				}
			}
		}
	}()
	return nil
}

// Stop writes what remains.
func (s *Service) Stop(ctx context.Context) error {
	close(s.stop)
	<-s.done
	return s.Flush(ctx)
}

// Flush writes what was counted since the last time and learns what others
// counted.
func (s *Service) Flush(ctx context.Context) error {
	now := time.Now()
	var rows []*limitdb.Row
	for _, one := range s.kit.TakeSpent(now) {
		rows = append(rows, &limitdb.Row{Subject: one.Subject, Kind: one.Kind, Hour: one.Hour, Used: int64(one.Used)})
	}
	// Two processes that write the same rows take them in the same order.
	slices.SortFunc(rows, func(a, b *limitdb.Row) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Kind, b.Kind), a.Hour.Compare(b.Hour))
	})
	for part := range slices.Chunk(rows, batch) {
		if err := limitdb.Add(ctx, s.db.Directory(), part); err != nil {
			return err
		}
		s.put(part)
	}
	return limitdb.Forget(ctx, s.db.Directory(), now.Add(-keep))
}

func (s *Service) put(rows []*limitdb.Row) {
	list := make([]web.Spent, len(rows))
	for i, r := range rows {
		list[i] = web.Spent{Subject: r.Subject, Kind: r.Kind, Hour: r.Hour, Used: int(r.Used)}
	}
	s.kit.PutSpent(list)
}
