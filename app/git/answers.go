package git

import (
	"errors"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
)

// How many answers are kept for each open repository.
const (
	keptAnswers  = 512
	keptFolders  = 64 // last commits of
	keptBlames   = 32
	keptDiffs    = 32
	maxKeptFiles = 5000 // of one comparison
)

// answers is what was found out before. The keys are ids of objects, so an
// answer never changes; it is only ever dropped to make room.
type answers struct {
	counts        *lru.Cache[OID, int]
	divergences   *lru.Cache[OID, Divergence] // by both ids joined
	bases         *lru.Cache[OID, []OID]      // merge bases, by both ids joined
	lasts         *lru.Cache[lastKey, map[string]OID]
	blames        *lru.Cache[blameKey, []BlameHunk]
	diffs         *lru.Cache[string, []DiffFile]
	contributions atomic.Pointer[contributions]
	weeks         atomic.Pointer[authorWeeks]
}

func newAnswers() (*answers, error) {
	a := new(answers)
	var errs [6]error
	a.counts, errs[0] = lru.New[OID, int](keptAnswers)
	a.divergences, errs[1] = lru.New[OID, Divergence](4 * keptAnswers)
	a.bases, errs[2] = lru.New[OID, []OID](keptAnswers)
	a.lasts, errs[3] = lru.New[lastKey, map[string]OID](keptFolders)
	a.blames, errs[4] = lru.New[blameKey, []BlameHunk](keptBlames)
	a.diffs, errs[5] = lru.New[string, []DiffFile](keptDiffs)
	return a, errors.Join(errs[:]...)
}
