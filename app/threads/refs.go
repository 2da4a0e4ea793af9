package threads

import (
	"context"
	"errors"

	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/attachdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// maxRefs bounds how many threads one text leaves a line in.
const maxRefs = 50

// refer leaves a line in the timelines of the threads of this repository that
// a text of i names, and asks for the same in others.
func (s *Service) refer(ctx context.Context, tx *db.RepoTx, p Place, i *model.Issue, comment int64, text content) error {
	if err := attachdb.Bind(ctx, tx, i.Number, text.text); err != nil {
		return err
	}
	numbers := text.refs
	if len(numbers) > maxRefs {
		numbers = numbers[:maxRefs]
	}
	if err := lines(ctx, tx, numbers, source{number: i.Number, kind: i.Kind, author: p.Viewer.ID(), comment: comment, confidential: i.Confidential}); err != nil {
		return err
	}
	if len(text.away) == 0 || i.Confidential {
		return nil
	}
	away := text.away
	if len(away) > maxRefs {
		away = away[:maxRefs]
	}
	return tx.Enqueue(ctx, ReferArgs{RepoID: p.Repo.ID, Number: i.Number, Comment: comment, ActorID: p.Viewer.ID(), Refs: away}, nil)
}

// ReferTx leaves a line in the timelines of the threads that a text of i
// names, for texts that features on top of threads keep themselves.
func (s *Service) ReferTx(ctx context.Context, tx *db.RepoTx, p Place, i *model.Issue, text string) error {
	return s.refer(ctx, tx, p, i, 0, s.read(p.Repo, text))
}

// source is the text that refers.
type source struct {
	repo         int64 // 0 when it is the same
	repoName     string
	number       int64
	kind, title  string
	author       int64
	comment      int64
	confidential bool
}

func lines(ctx context.Context, tx *db.RepoTx, numbers []int64, from source) error {
	if len(numbers) == 0 {
		return nil
	}
	known, err := threaddb.Known(ctx, tx.Repo, numbers)
	if err != nil || len(known) == 0 {
		return err
	}
	have, err := threaddb.CrossRefs(ctx, tx.Repo, numbers, from.repo, from.number)
	if err != nil {
		return err
	}
	var items []*model.TimelineItem
	for _, n := range numbers {
		if known[n] == nil || have[n] || from.repo == 0 && n == from.number {
			continue
		}
		have[n] = true
		items = append(items, &model.TimelineItem{Number: n, Kind: model.ItemCrossRef, AuthorID: from.author,
			Data: model.TimelineData{Repo: from.repo, RepoName: from.repoName, Number: from.number, ThreadKind: from.kind,
				To: from.title, Comment: from.comment, Confidential: from.confidential}})
	}
	return threaddb.Append(ctx, tx, items...)
}

// ReferArgs are the arguments of the job that leaves lines in the timelines
// of threads of other repositories.
type ReferArgs struct {
	RepoID  int64        `json:"repo_id"`
	Number  int64        `json:"number"`
	Comment int64        `json:"comment"`
	ActorID int64        `json:"actor_id"`
	Refs    []markup.Ref `json:"refs"`
}

// Kind names the job.
func (ReferArgs) Kind() string { return "threads.refer" }

// ReferNow does the job of ReferArgs. Threads that the actor may not read are
// left alone; a second run changes nothing.
func (s *Service) ReferNow(ctx context.Context, a ReferArgs) error {
	repo, _, err := repodb.FindID(ctx, s.db.Directory(), a.RepoID, a.ActorID)
	if err != nil {
		return ignoreMissing(err)
	}
	i, err := threaddb.Find(ctx, s.db.Repo(repo.ID), a.Number)
	if err != nil || i.Confidential {
		return ignoreMissing(err)
	}
	byRepo := map[[2]string][]int64{}
	for _, r := range a.Refs {
		key := [2]string{r.Owner, r.Repo}
		byRepo[key] = append(byRepo[key], r.Number)
	}
	for key, numbers := range byRepo {
		to, _, err := repodb.Find(ctx, s.db.Directory(), key[0], key[1], a.ActorID)
		if err := ignoreMissing(err); err != nil {
			return err
		}
		if err != nil || to.ID == repo.ID {
			continue
		}
		from := source{repo: repo.ID, repoName: repo.FullName(), number: i.Number, kind: i.Kind, title: i.Title,
			author: a.ActorID, comment: a.Comment, confidential: repo.IsPrivate()}
		err = s.db.InRepo(ctx, to.ID, func(ctx context.Context, tx *db.RepoTx) error { return lines(ctx, tx, numbers, from) })
		if err != nil {
			return err
		}
	}
	return nil
}

// ignoreMissing is err, unless it says that something is gone.
func ignoreMissing(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}
