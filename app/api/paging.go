// Package api holds what all API operations share: GitHub's paging, the user
// object, node ids and times.
package api

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/web"
)

// Paging is a page of a list
// (https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api).
type Paging struct {
	Page, PerPage int
}

// PageOf reads page and per_page: 30 a page unless asked, at most 100.
func PageOf(c *web.Ctx) Paging {
	return Paging{Page: c.QueryInt("page", 1, 1, 1_000_000), PerPage: c.QueryInt("per_page", 30, 1, 100)}
}

// Offset is how many entries the pages before this one hold.
func (p Paging) Offset() int64 { return int64(p.Page-1) * int64(p.PerPage) }

// Limit is how many entries the page holds.
func (p Paging) Limit() int64 { return int64(p.PerPage) }

// Link sets the Link header (RFC 8288) for a list that goes on when more is
// true.
func (p Paging) Link(c *web.Ctx, more bool) { p.link(c, more, 0) }

// LinkTotal is Link for a list whose length is known.
func (p Paging) LinkTotal(c *web.Ctx, total int) {
	last := (total + p.PerPage - 1) / p.PerPage
	p.link(c, p.Page < last, last)
}

func (p Paging) link(c *web.Ctx, more bool, last int) {
	var links []string
	add := func(rel string, page int) {
		q := c.R.URL.Query()
		q.Set("page", strconv.Itoa(page))
		u := url.URL{Path: c.R.URL.Path, RawPath: c.R.URL.RawPath, RawQuery: q.Encode()}
		links = append(links, fmt.Sprintf(`<%s>; rel=%q`, c.URL(u.String()), rel))
	}
	if p.Page > 1 {
		add("prev", p.Page-1)
	}
	if more {
		add("next", p.Page+1)
	}
	if more && last > 0 {
		add("last", last)
	}
	if p.Page > 1 {
		add("first", 1)
	}
	if len(links) > 0 {
		c.W.Header().Set("Link", strings.Join(links, ", "))
	}
}

// Cut shortens a list that was read with one entry too many, and says whether
// there was one.
func Cut[T any](list []T, limit int64) ([]T, bool) {
	if int64(len(list)) > limit {
		return list[:limit], true
	}
	return list, false
}
