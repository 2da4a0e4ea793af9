package repodb

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/uptrace/bun"
)

// ListOpts choose and order repositories.
type ListOpts struct {
	// OwnerID and MemberID, when not 0, restrict to what the account owns,
	// or belongs to in any way.
	OwnerID, MemberID int64
	// StarredBy, when not 0, restricts to what the account starred.
	StarredBy int64
	// WatchedBy, when not 0, restricts to what the account watches.
	WatchedBy int64
	// ForkOf, when not 0, restricts to forks of the repository.
	ForkOf int64
	// Owner, Language and Topic, when not empty, restrict to repositories of the
	// account of this name, in which the language is, or that have the topic.
	Owner, Language, Topic string
	// Query matches names as typed, with typing errors allowed.
	Query string
	// Loose matches names that begin with the same letter and look alike: for
	// when nothing else was found.
	Loose bool
	// Visibility is "", public or private.
	Visibility string
	// Sort is updated (default), created, pushed, name or stars.
	Sort string
	// Asc turns the order around.
	Asc bool
	// Limit (at most 100) and Offset page through the result.
	Limit, Offset int64
}

// List returns repositories that the viewer may read, with their owners, and
// whether there are more.
func List(ctx context.Context, dir db.Directory, viewerID int64, o ListOpts) (repos []*model.Repo, more bool, err error) {
	o.Limit = min(max(o.Limit, 1), 100)
	q := Readable(dir.NewSelect().Model(&repos).Relation("Owner"), viewerID).
		Where("owner.deleted_at IS NULL").Limit(o.Limit + 1).Offset(o.Offset)
	if o.OwnerID != 0 {
		q = q.Where("r.owner_id = ?", o.OwnerID)
	}
	if o.MemberID != 0 {
		q = q.Where(`(r.owner_id = ?0 OR r.id IN (SELECT repo_id FROM directory.collaborators WHERE account_id = ?0)
			OR r.owner_id IN (SELECT org_id FROM directory.org_members WHERE user_id = ?0))`, o.MemberID)
	}
	if o.StarredBy != 0 {
		q = q.Where("r.id IN (SELECT repo_id FROM directory.stars WHERE account_id = ?)", o.StarredBy)
	}
	if o.WatchedBy != 0 {
		q = q.Where("r.id IN (SELECT repo_id FROM directory.watches WHERE account_id = ? AND level <> 'ignore')", o.WatchedBy)
	}
	if o.ForkOf != 0 {
		q = q.Where("r.fork_of = ?", o.ForkOf)
	}
	if o.Owner != "" {
		q = q.Where("owner.name_key = ?", model.Key(o.Owner))
	}
	if o.Language != "" {
		q = q.Where("EXISTS (SELECT FROM jsonb_object_keys(r.languages) AS l WHERE lower(l) = ?)", model.Key(o.Language))
	}
	if o.Topic != "" {
		q = q.Where("? = ANY (r.topics)", model.Key(o.Topic))
	}
	if o.Visibility != "" {
		q = q.Where("r.visibility = ?", o.Visibility)
	}
	if o.Loose {
		q = loose(q, o.Query)
	} else {
		q = search(q, o.Query)
	}
	q = order(q, o)
	if err := q.Scan(ctx); err != nil {
		return nil, false, db.Map(err)
	}
	if int64(len(repos)) > o.Limit {
		return repos[:o.Limit], true, nil
	}
	return repos, false, nil
}

// search matches the name by prefix or part, and by trigrams where it was
// mistyped; owner/name narrows to owners so called.
func search(q *bun.SelectQuery, query string) *bun.SelectQuery {
	query = model.Key(strings.TrimSpace(query))
	if query == "" {
		return q
	}
	if owner, name, ok := strings.Cut(query, "/"); ok {
		q = q.Where("owner.name_key LIKE ?", like(owner)+"%")
		query = name
	}
	part := "%" + like(query) + "%"
	if len(query) < 3 {
		return q.Where("r.name_key LIKE ?", part).OrderExpr("r.name_key LIKE ? DESC", like(query)+"%")
	}
	return q.Where("(r.name_key LIKE ? OR r.name_key % ? OR r.description ILIKE ?)", part, query, part).
		OrderExpr("r.name_key = ? DESC, r.name_key LIKE ? DESC, similarity(r.name_key, ?) DESC", query, like(query)+"%", query)
}

// loose matches names that look somewhat alike. The first letter keeps it to a
// part of them.
func loose(q *bun.SelectQuery, query string) *bun.SelectQuery {
	query = model.Key(strings.TrimSpace(query))
	if _, name, ok := strings.Cut(query, "/"); ok {
		query = name
	}
	rs := []rune(query)
	if len(rs) < 4 {
		return q.Where("false")
	}
	return q.Where("r.name_key LIKE ?", like(string(rs[:1]))+"%").Where("similarity(r.name_key, ?) > 0.2", query).
		OrderExpr("similarity(r.name_key, ?) DESC", query)
}

// like escapes the wildcards of LIKE.
func like(s string) string { return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(s) }

func order(q *bun.SelectQuery, o ListOpts) *bun.SelectQuery {
	column, asc := "r.updated_at", o.Asc
	switch o.Sort {
	case "created":
		column = "r.created_at"
	case "pushed":
		column = "coalesce(r.pushed_at, r.created_at)"
	case "stars":
		column = "r.stars"
	case "name", "full_name":
		column, asc = "r.name_key", !o.Asc
	}
	if asc {
		return q.OrderExpr(column + " ASC, r.id ASC")
	}
	return q.OrderExpr(column + " DESC, r.id DESC")
}
