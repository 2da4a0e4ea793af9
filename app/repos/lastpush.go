package repos

import (
	"sync"
	"time"

	"github.com/gitfor/gitfor/app/git"
)

// LastPush is the branch that somebody pushed last to a repository.
type LastPush struct {
	Branch string
	At     time.Time
}

// lastPushes remembers the last push of each person to each repository, in
// this process and for a while: it serves a hint on pages.
type lastPushes struct {
	mu   sync.Mutex
	last map[[2]int64]LastPush
}

// maxLastPushes is how many are remembered.
const maxLastPushes = 10_000

func (l *lastPushes) note(p *Push, moved []git.RefUpdate) {
	branch := ""
	for _, u := range moved {
		if name, ok := branchOf(u.Name); ok && !u.New.IsZero() {
			branch = name
		}
	}
	if branch == "" || p.Actor.ID() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || len(l.last) >= maxLastPushes {
		l.last = map[[2]int64]LastPush{}
	}
	l.last[[2]int64{p.Repo.ID, p.Actor.ID()}] = LastPush{branch, time.Now()}
}

// LastPush returns the branch that the account pushed last to the repository.
func (s *Service) LastPush(repoID, accountID int64) (LastPush, bool) {
	s.pushes.mu.Lock()
	defer s.pushes.mu.Unlock()
	p, ok := s.pushes.last[[2]int64{repoID, accountID}]
	return p, ok
}
