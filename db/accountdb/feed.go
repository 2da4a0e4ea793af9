package accountdb

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db"
)

// What people in a feed did.
const (
	FeedMade     = "made"
	FeedForked   = "forked"
	FeedStarred  = "starred"
	FeedFollowed = "followed"
)

// FeedItem is something that a followed person did: with a repository, or in
// following somebody.
type FeedItem struct {
	What      string    `bun:"what"`
	ActorID   int64     `bun:"actor_id"`
	RepoID    int64     `bun:"repo_id"`
	AccountID int64     `bun:"account_id"`
	At        time.Time `bun:"at"`
}

// Feed returns what the people whom an account follows did since a time, the
// newest first. Who asks reads of it what they may: the repositories are not
// looked at here.
func Feed(ctx context.Context, dir db.Directory, accountID int64, since time.Time, limit int) ([]FeedItem, error) {
	var list []FeedItem
	err := dir.NewRaw(`WITH them AS (SELECT followed_id AS id FROM directory.follows WHERE follower_id = ?0)
		SELECT * FROM (
			SELECT 'starred' AS what, account_id AS actor_id, repo_id, 0 AS account_id, created_at AS at FROM directory.stars
				WHERE account_id IN (SELECT id FROM them) AND created_at > ?1
			UNION ALL SELECT CASE WHEN fork_of IS NULL THEN 'made' ELSE 'forked' END, owner_id, id, 0, created_at FROM directory.repos
				WHERE owner_id IN (SELECT id FROM them) AND created_at > ?1 AND deleted_at IS NULL
			UNION ALL SELECT 'followed', follower_id, 0, followed_id, created_at FROM directory.follows
				WHERE follower_id IN (SELECT id FROM them) AND followed_id <> ?0 AND created_at > ?1) all_of_it
		ORDER BY at DESC, repo_id DESC, account_id LIMIT ?2`, accountID, since, limit).Scan(ctx, &list)
	return list, db.Map(err)
}
