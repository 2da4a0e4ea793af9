package db

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Stats counts the statements sent for one request, transaction control and
// locks included, and the time spent in them.
type Stats struct {
	queries atomic.Int64
	nanos   atomic.Int64
}

// Queries is the number of statements sent so far.
func (s *Stats) Queries() int { return int(s.queries.Load()) }

// Duration is the time spent waiting for the database so far.
func (s *Stats) Duration() time.Duration { return time.Duration(s.nanos.Load()) }

type statsKey struct{}
type startKey struct{}

// WithStats returns a context whose statements are counted.
func WithStats(ctx context.Context) (context.Context, *Stats) {
	s := new(Stats)
	return context.WithValue(ctx, statsKey{}, s), s
}

// uncounted is a context whose statements belong to no request.
func uncounted(ctx context.Context) context.Context {
	return context.WithValue(ctx, statsKey{}, (*Stats)(nil))
}

// tracer counts statements and, where a check is set, looks at each.
type tracer struct {
	check func(sql string)
}

func (t *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if t.check != nil {
		t.check(data.SQL)
	}
	if s, ok := ctx.Value(statsKey{}).(*Stats); ok && s != nil {
		s.queries.Add(1)
		return context.WithValue(ctx, startKey{}, time.Now())
	}
	return ctx
}

func (t *tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	s, ok := ctx.Value(statsKey{}).(*Stats)
	start, timed := ctx.Value(startKey{}).(time.Time)
	if ok && s != nil && timed {
		s.nanos.Add(int64(time.Since(start)))
	}
}
