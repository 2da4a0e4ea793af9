package explore

import (
	"time"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/siteview"
)

// The feed of a dashboard: how far back it goes and how long it is.
const (
	feedTime = 90 * 24 * time.Hour
	feedMost = 20
)

// feed is what the people whom the viewer follows did lately, as far as the
// viewer may see it.
func (s *Service) feed(c *web.Ctx) ([]siteview.FeedLine, error) {
	ctx, me := c.Context(), c.Viewer.ID()
	items, err := accountdb.Feed(ctx, s.db.Directory(), me, time.Now().Add(-feedTime), 3*feedMost)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	var repoIDs, people []int64
	for _, i := range items {
		people = append(people, i.ActorID)
		if i.RepoID != 0 {
			repoIDs = append(repoIDs, i.RepoID)
		}
		if i.AccountID != 0 {
			people = append(people, i.AccountID)
		}
	}
	readable, err := repodb.ReadableIDs(ctx, s.db.Directory(), repoIDs, me)
	if err != nil {
		return nil, err
	}
	repos, err := repodb.ByIDs(ctx, s.db.Directory(), repoIDs)
	if err != nil {
		return nil, err
	}
	accounts, err := accountdb.ByIDs(ctx, s.db.Directory(), people...)
	if err != nil {
		return nil, err
	}
	var out []siteview.FeedLine
	for _, i := range items {
		l := siteview.FeedLine{What: i.What, Actor: accounts[i.ActorID], Account: accounts[i.AccountID], At: i.At}
		if i.RepoID != 0 {
			if !readable[i.RepoID] || !c.Viewer.Reaches(i.RepoID, repos[i.RepoID].IsPrivate(), false) {
				continue
			}
			l.Repo = repos[i.RepoID]
		}
		if l.Actor == nil || l.Repo == nil && l.Account == nil || len(out) == feedMost {
			continue
		}
		out = append(out, l)
	}
	return out, nil
}
