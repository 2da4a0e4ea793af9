package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/riverqueue/river"
)

// Handle does a batch job: the subscriber handles its events one by one. An
// event that fails becomes a job of its own, so that it holds up no other;
// an event that is alone in its job makes the job fail, to be tried again and
// kept as a dead letter in the end. When ctx ends in the middle, what is left
// becomes a job too.
func (s *Service) Handle(ctx context.Context, args BatchArgs) error {
	sub := s.subs[args.Subscriber]
	if sub == nil {
		return fmt.Errorf("no subscriber %q in this version", args.Subscriber)
	}
	list, err := eventdb.Range(ctx, s.db.Events(), time.UnixMicro(args.At).UTC(), args.From, args.To)
	if err != nil {
		return err
	}
	for _, e := range list {
		if ctx.Err() != nil {
			rest := args
			rest.From = e.Seq
			return s.again(ctx, sub, rest)
		}
		if !sub.wants(e.Type) || !slices.Contains(s.routed(e.Type), sub.Service) {
			continue
		}
		if err := s.handleOne(ctx, sub, e); err != nil {
			if args.From == args.To {
				return fmt.Errorf("event %s (%s): %w", e.EventID, e.Type, err)
			}
			if ctx.Err() != nil {
				rest := args
				rest.From = e.Seq
				return s.again(ctx, sub, rest)
			}
			s.log.WarnContext(ctx, "a subscriber failed on an event, which becomes a job of its own",
				"subscriber", sub.Name, "event", e.EventID, "type", e.Type, "err", err)
			if err := s.again(ctx, sub, BatchArgs{sub.Name, args.At, e.Seq, e.Seq}); err != nil {
				return err
			}
		}
	}
	return nil
}

// handleOne calls the subscriber, a panic being an error.
func (s *Service) handleOne(ctx context.Context, sub *Subscriber, e *model.Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return sub.Handle(ctx, e)
}

// again makes a job of a part of a batch; also after ctx ended.
func (s *Service) again(ctx context.Context, sub *Subscriber, args BatchArgs) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return s.db.InCell(ctx, func(ctx context.Context, tx db.CellTx) error {
		return tx.Enqueue(ctx, args, &river.InsertOpts{Queue: QueuePrefix + sub.Service})
	})
}

// ErrUnknownAfter says that the log does not hold the event after which a
// reader wants to go on.
var ErrUnknownAfter = errors.New("the log does not hold this event")
