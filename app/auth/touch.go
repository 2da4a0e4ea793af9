package auth

import (
	"context"
	"sync"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
)

const (
	// touchEvery is how exact "last used" is, flushEvery how often what was
	// seen is written.
	touchEvery = 5 * time.Minute
	flushEvery = time.Minute
)

// touches gathers which credentials were used, to be written together.
type touches struct {
	mu       sync.Mutex
	accounts map[int64]*touch
}

type touch struct {
	sessions    map[hash]sessionTouch
	credentials map[int64]time.Time
}

type sessionTouch struct{ seen, ends time.Time }

func (t *touches) of(account int64) *touch {
	if t.accounts == nil {
		t.accounts = map[int64]*touch{}
	}
	a := t.accounts[account]
	if a == nil {
		a = &touch{sessions: map[hash]sessionTouch{}, credentials: map[int64]time.Time{}}
		t.accounts[account] = a
	}
	return a
}

func (t *touches) session(ses *session, now time.Time) {
	if now.Sub(ses.seen) < touchEvery {
		return
	}
	ends := now.Add(idle)
	if last := ses.began.Add(longest); ends.After(last) {
		ends = last
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(ses.account).sessions[ses.hash] = sessionTouch{now, ends}
}

func (t *touches) token(tok *token, now time.Time) { t.credential(tok.account, tok.id, tok.used, now) }

func (t *touches) credential(account, id int64, used *time.Time, now time.Time) {
	if used != nil && now.Sub(*used) < touchEvery {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(account).credentials[id] = now
}

func (t *touches) take() map[int64]*touch {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.accounts
	t.accounts = nil
	return out
}

// Flush writes when credentials were last used.
func (s *Service) Flush(ctx context.Context) error {
	seen := s.touched.take()
	ids := make([]int64, 0, len(seen))
	for id, t := range seen {
		ids = append(ids, id)
		if err := s.db.InAccount(ctx, id, func(ctx context.Context, tx *db.AccountTx) error {
			return writeTouch(ctx, tx, t)
		}); err != nil {
			return s.wrap("write last use", err)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return accountdb.Active(ctx, s.db.Directory(), s.now(), ids...)
}

func writeTouch(ctx context.Context, tx *db.AccountTx, t *touch) error {
	for h, seen := range t.sessions {
		if err := accountdb.TouchSession(ctx, tx, h[:], seen.seen, seen.ends); err != nil {
			return err
		}
	}
	for id, at := range t.credentials {
		if err := accountdb.TouchCredential(ctx, tx, id, at); err != nil {
			return err
		}
	}
	return nil
}
