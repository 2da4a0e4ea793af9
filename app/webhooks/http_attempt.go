package webhooks

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/alarms"
	"github.com/gitfor/gitfor/app/outbound"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/webhookdb"
)

// Timeout is how long a receiver may take to answer.
const Timeout = 10 * time.Second

// slowAfter is from when on a receiver is slow.
const slowAfter = 3 * time.Second

// maxResponse is how much of an answer is read and kept.
const maxResponse = 32 << 10

// backoff are the times between the attempts: six in about seven and a half
// hours.
func backoff() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour}
}

// attempt posts a delivery and records how that ended. It says whether the
// receiver was slow.
func (s *Service) attempt(ctx context.Context, j job) (slow bool) {
	try, res := s.post(ctx, j.dl)
	if ctx.Err() != nil {
		return true // stopped in the middle: the lease ends, and it comes again
	}
	settle(j.dl, try, res)
	record, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := j.place.In(record, s.DB, func(ctx context.Context, tx webhookdb.Tx) error {
		h, err := webhookdb.End(ctx, tx, j.dl, try)
		if err != nil || h == nil {
			return err
		}
		return warn(ctx, tx, j.place, h)
	})
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		s.Log.ErrorContext(ctx, "a webhook's attempt was not recorded", "place", j.place.String(), "delivery", j.dl.ID, "err", err)
	}
	return try.Millis >= slowAfter.Milliseconds()
}

func (s *Service) post(ctx context.Context, dl *model.Delivery) (model.HookTry, *model.HookResponse) {
	start := time.Now()
	try := model.HookTry{At: start.UTC().Truncate(time.Microsecond)}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, dl.Request.URL, strings.NewReader(dl.Request.Body))
	var a *outbound.Answer
	if err == nil {
		for k, v := range dl.Request.Headers {
			req.Header.Set(k, v)
		}
		a, err = s.Client.Do(req, outbound.Limits{Timeout: Timeout, Body: maxResponse})
	}
	try.Millis = time.Since(start).Milliseconds()
	if err != nil {
		try.Error = err.Error()
	}
	if a == nil {
		return try, nil
	}
	try.Status = a.Status
	res := &model.HookResponse{Headers: map[string]string{}, Body: text(a.Body), Cut: a.Cut}
	for k := range a.Header {
		res.Headers[k] = text([]byte(a.Header.Get(k)))
	}
	return try, res
}

// text is what a receiver sent as the database can keep it.
func text(b []byte) string {
	s := strings.ReplaceAll(string(b), "\x00", "")
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

// settle puts how an attempt ended into the delivery.
func settle(dl *model.Delivery, try model.HookTry, res *model.HookResponse) {
	dl.Attempts, dl.Response, dl.NextAt = append(dl.Attempts, try), res, nil
	switch {
	case try.OK():
		dl.State = model.DeliveryDone
	case dl.Attempt <= len(backoff()) && !dl.Again:
		next := try.At.Add(time.Duration(try.Millis)*time.Millisecond + backoff()[dl.Attempt-1])
		dl.NextAt = &next
	default:
		dl.State = model.DeliveryFailed
	}
}

// claimAtOnce is how many due attempts one ring of the alarm begins.
const claimAtOnce = 200

// ring is the alarm's task: it begins the attempts that are due and forgets
// old deliveries.
func (s *Service) ring(kind db.Kind) func(context.Context, int64, time.Time) (time.Time, error) {
	return func(ctx context.Context, id int64, _ time.Time) (next time.Time, err error) {
		p := webhookdb.Place{Kind: kind, ID: id}
		if kind == alarms.InstanceKind {
			p = webhookdb.OfInstance()
		}
		hooks, err := webhookdb.Hooks(ctx, s.DB, p)
		if err != nil || len(hooks) == 0 {
			return time.Time{}, err
		}
		active := map[int64]*model.Hook{}
		for _, h := range hooks {
			if h.Active {
				active[h.ID] = h
			}
		}
		var due []*model.Delivery
		err = p.In(ctx, s.DB, func(ctx context.Context, tx webhookdb.Tx) error {
			if due, err = webhookdb.Claim(ctx, tx, claimAtOnce); err != nil {
				return err
			}
			for _, dl := range due {
				if active[dl.HookID] != nil {
					continue
				}
				dl.State, dl.NextAt = model.DeliveryFailed, nil
				if _, err := webhookdb.End(ctx, tx, dl, model.HookTry{At: tx.Now(), Error: "the hook was switched off"}); err != nil {
					return err
				}
			}
			if err := webhookdb.Purge(ctx, tx); err != nil {
				return err
			}
			next, _, err = webhookdb.Next(ctx, tx)
			return err
		})
		if err != nil {
			return time.Time{}, err
		}
		for _, dl := range due {
			if h := active[dl.HookID]; h != nil {
				s.sign(h, dl)
				s.sender.Send(p, dl)
			}
		}
		return next, nil
	}
}
