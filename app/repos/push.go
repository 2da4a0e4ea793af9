package repos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/pushdb"
	"github.com/gitfor/gitfor/db/repodb"
)

// Push is a set of refs that move together: by a push of git, a merge, an edit
// in the browser or a mirror. Every writer of refs goes BeginPush, the refs
// themselves, FinishPush.
type Push struct {
	ID      string
	Repo    *model.Repo
	Actor   *model.Viewer
	Updates []git.RefUpdate
	// Options are git's push options (git-push, --push-option).
	Options []string
	// Via is "git", "web", "merge" or "mirror".
	Via string
	// Judged says that the caller has asked the rules of the branches, as a
	// merge of a pull request does in its own way.
	Judged bool
}

// intent is what is kept of a push while its refs move.
type intent struct {
	Updates []git.RefUpdate `json:"updates"`
	Via     string          `json:"via"`
	Job     bool            `json:"job,omitempty"`
	// Node is the process that moves the refs.
	Node string `json:"node"`
}

// BeginPush writes down that refs are about to move. It commits before any ref
// does.
func (s *Service) BeginPush(ctx context.Context, p *Push) error {
	id, err := db.NewEventID()
	if err != nil {
		return err
	}
	if err := s.SettlePushes(ctx, p.Repo.ID); err != nil {
		return err
	}
	p.ID = id
	data, err := json.Marshal(intent{p.Updates, p.Via, p.Actor != nil && p.Actor.Job, s.node})
	if err != nil {
		return err
	}
	s.moving.Store(id, true)
	return pushdb.Insert(ctx, s.DB.Cell(), &model.PushIntent{ID: p.ID, RepoID: p.Repo.ID, ActorID: p.Actor.ID(),
		Data: data, CreatedAt: time.Now().UTC()})
}

// FinishPush publishes the event of the refs that moved, in one transaction
// with the end of the intent; none moved, no event.
func (s *Service) FinishPush(ctx context.Context, p *Push, moved []git.RefUpdate) error {
	defer s.moving.Delete(p.ID)
	if len(moved) == 0 {
		_, err := pushdb.Delete(ctx, s.DB.Cell().IDB, p.ID)
		return err
	}
	s.pushes.note(p, moved)
	payload := s.pushed(ctx, p, moved)
	err := s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		found, err := pushdb.Delete(ctx, tx.Cell().IDB, p.ID)
		if err != nil || !found {
			// Another process settled it.
			return err
		}
		return events.Emit(ctx, tx, events.About{Repo: p.Repo, Actor: p.Actor, ID: p.ID}, payload)
	})
	if err != nil {
		return fmt.Errorf("finish push: %w", err)
	}
	return repodb.Pushed(ctx, s.DB.Directory(), p.Repo.ID, time.Now().UTC())
}

// MoveRefs moves refs for a writer in this process and publishes the push. All
// move or none.
func (s *Service) MoveRefs(ctx context.Context, g *git.Repository, p *Push) error {
	if p.Repo.Mirror && p.Via != "mirror" {
		return fault.New(fault.Forbidden, "This repository follows another one, so it is read-only here. Stop following in its settings first.")
	}
	if s.Guard != nil && !p.Judged {
		if err := s.Guard(ctx, g, p); err != nil {
			return err
		}
	}
	if s.Files != nil {
		if err := s.Files(ctx, g, p); err != nil {
			return err
		}
	}
	if s.Locks != nil {
		if err := s.Locks(ctx, g, p); err != nil {
			return err
		}
	}
	refs, err := g.PrepareRefs(ctx, p.Updates, git.RefOptions{Message: p.Via})
	if err != nil {
		return err
	}
	if err := s.BeginPush(ctx, p); err != nil {
		refs.Abort()
		return err
	}
	if err := refs.Commit(); err != nil {
		if none := s.FinishPush(context.WithoutCancel(ctx), p, nil); none != nil {
			s.Log.WarnContext(ctx, "intent left behind", "push", p.ID, "err", none)
		}
		return err
	}
	return s.FinishPush(context.WithoutCancel(ctx), p, p.Updates)
}

// intentAge is how old another process's intent is when its push must have
// ended, one way or the other.
const intentAge = time.Minute

// SettlePushes ends pushes whose process died: where the refs moved the event
// is published, under the push's own id; where not, the intent is forgotten.
// It runs at start, every minute, and before each write to a repository;
// repoID 0 settles all.
func (s *Service) SettlePushes(ctx context.Context, repoID int64) error {
	old, err := pushdb.List(ctx, s.DB.Cell(), repoID, 100)
	if err != nil {
		return err
	}
	for _, row := range old {
		if err := s.settle(ctx, row); err != nil {
			return fmt.Errorf("settle push %s: %w", row.ID, err)
		}
	}
	return nil
}

func (s *Service) settle(ctx context.Context, row *model.PushIntent) error {
	var in intent
	if err := json.Unmarshal(row.Data, &in); err != nil {
		return err
	}
	if _, mine := s.moving.Load(row.ID); mine || (in.Node != s.node && !s.Alone && time.Since(row.CreatedAt) < intentAge) {
		return nil
	}
	repo, err := repodb.ByIDAny(ctx, s.DB.Directory(), row.RepoID)
	if err != nil {
		return err
	}
	g, err := s.Open(ctx, repo)
	if err != nil {
		return err
	}
	var moved []git.RefUpdate
	for _, u := range in.Updates {
		now, err := g.Ref(ctx, u.Name)
		switch {
		case errors.Is(err, git.ErrNotFound):
			now.OID = g.ZeroOID()
		case err != nil:
			return err
		}
		if now.OID == u.New || now.OID.IsZero() && u.New.IsZero() {
			moved = append(moved, u)
		}
	}
	p := &Push{ID: row.ID, Repo: repo, Updates: in.Updates, Via: in.Via,
		Actor: &model.Viewer{Account: &model.Account{ID: row.ActorID}, Job: in.Job}}
	return s.FinishPush(ctx, p, moved)
}

// branchOf is the branch's name when ref is one.
func branchOf(ref string) (string, bool) { return strings.CutPrefix(ref, "refs/heads/") }
