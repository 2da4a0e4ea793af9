package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/instancedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/riverqueue/river"
)

// Backfill works through what was there before a feature, a page at a time:
// each page is a job that notes the next one's place and starts it. A killed
// run goes on where it was; a page that runs twice must do its work once.
// Readers must do without until it is finished.
type Backfill struct {
	// Name is unique and never changes; About says what it builds.
	Name, About string
	// Total is about how many pieces there are, for the progress.
	Total func(ctx context.Context) (int64, error)
	// Page works from cursor on, "" for the start, and returns where the
	// next page begins, "" for the end, and how many pieces were done.
	Page func(ctx context.Context, cursor string) (next string, done int64, err error)
}

// AddBackfill adds a backfill, which then runs once by itself; before Start
// only.
func (s *Service) AddBackfill(b Backfill) { s.backfills = append(s.backfills, b) }

// PageArgs is the job of one page of a backfill.
type PageArgs struct {
	Name   string `json:"name"`
	Cursor string `json:"cursor"`
}

// Kind is the job's kind.
func (PageArgs) Kind() string { return "state.backfill" }

// InsertOpts gives it the queue of what may take long.
func (PageArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: Queue} }

// StartArgs is the job that starts backfills which never ran, and takes up
// those whose job was lost.
type StartArgs struct{}

// Kind is the job's kind.
func (StartArgs) Kind() string { return "state.backfills" }

// InsertOpts gives it the queue of upkeep.
func (StartArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: Queue} }

// StartBackfills does the job.
func (s *Service) StartBackfills(ctx context.Context, _ StartArgs) error {
	runs, err := instancedb.Backfills(ctx, s.DB.Directory())
	if err != nil {
		return err
	}
	var failed []error
	for _, b := range s.backfills {
		switch run := runs[b.Name]; {
		case run == nil:
			failed = append(failed, s.RunBackfill(ctx, b.Name))
		case run.FinishedAt == nil:
			// A page that is under way already makes this one stop.
			failed = append(failed, s.enqueuePage(ctx, PageArgs{b.Name, run.Cursor}))
		}
	}
	return errors.Join(failed...)
}

func (s *Service) enqueuePage(ctx context.Context, args PageArgs) error {
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error { return tx.Enqueue(ctx, args, nil) })
}

func (s *Service) backfill(name string) (Backfill, bool) {
	for _, b := range s.backfills {
		if b.Name == name {
			return b, true
		}
	}
	return Backfill{}, false
}

// RunBackfill starts a backfill from the beginning. fault.NotFound when there
// is none of this name.
func (s *Service) RunBackfill(ctx context.Context, name string) error {
	b, ok := s.backfill(name)
	if !ok {
		return fault.New(fault.NotFound, "There is no backfill "+name+".")
	}
	total, err := b.Total(ctx)
	if err != nil {
		return err
	}
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		if err := instancedb.StartBackfill(ctx, tx, name, total); err != nil {
			return err
		}
		return tx.Enqueue(ctx, PageArgs{Name: name}, nil)
	})
}

// BackfillPage does one page and starts the next.
func (s *Service) BackfillPage(ctx context.Context, args PageArgs) error {
	b, ok := s.backfill(args.Name)
	if !ok {
		return nil // a backfill of another version
	}
	runs, err := instancedb.Backfills(ctx, s.DB.Directory())
	if err != nil {
		return err
	}
	if run := runs[args.Name]; run == nil || run.FinishedAt != nil || run.Cursor != args.Cursor {
		return nil // somebody else has done this page
	}
	next, done, err := b.Page(ctx, args.Cursor)
	if err == nil {
		err = s.DB.FailPoint("backfill.page")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("backfill %s at %q: %w", args.Name, args.Cursor, err),
			instancedb.FailBackfill(context.WithoutCancel(ctx), s.DB.Directory(), args.Name, err.Error()))
	}
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		moved, err := instancedb.StepBackfill(ctx, tx, args.Name, args.Cursor, next, done)
		if err != nil || !moved || next == "" {
			return err
		}
		return tx.Enqueue(ctx, PageArgs{args.Name, next}, nil)
	})
}

// BackfillRun is a backfill with how far it is; Run is nil before its first
// run.
type BackfillRun struct {
	Backfill
	Run *model.BackfillRun
}

// Backfills lists the backfills with how far they are.
func (s *Service) Backfills(ctx context.Context) ([]BackfillRun, error) {
	runs, err := instancedb.Backfills(ctx, s.DB.Directory())
	if err != nil {
		return nil, err
	}
	var out []BackfillRun
	for _, b := range s.backfills {
		out = append(out, BackfillRun{b, runs[b.Name]})
	}
	return out, nil
}
