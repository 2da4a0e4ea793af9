package releases

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/releasedb"
)

// rank decides whether a release is the latest. want is true, false, legacy
// or, to leave it, "": a release that is just published is then judged by its
// version, and by its age where one of the two has none.
func rank(ctx context.Context, tx *db.RepoTx, r *model.Release, want string) error {
	switch {
	case want == "false":
		r.Latest = model.NeverLatest
		return nil
	case r.Draft || r.Prerelease:
		r.Latest = model.MaybeLatest
		return nil
	case want == "true":
		r.Latest = model.MarkedLatest
		return nil
	case want == "" && r.PublishedAt != nil && !r.PublishedAt.Equal(tx.Now()):
		return nil
	}
	r.Latest = model.MaybeLatest
	now, err := releasedb.Latest(ctx, tx.Repo)
	switch {
	case errors.Is(err, db.ErrNotFound) || err == nil && now.ID == r.ID:
		r.Latest = model.MarkedLatest
		return nil
	case err != nil:
		return err
	}
	if older, known := olderVersion(now.Tag, r.Tag); older || !known {
		r.Latest = model.MarkedLatest
	}
	return nil
}

// mark takes the mark from the others when r has it.
func mark(ctx context.Context, tx *db.RepoTx, r *model.Release) error {
	if r.Latest != model.MarkedLatest {
		return nil
	}
	return releasedb.Unmark(ctx, tx, r.ID)
}

// olderVersion says whether the version that tag a names is older than that of
// b; known is false where one of them names none.
func olderVersion(a, b string) (older, known bool) {
	x, okX := version(a)
	y, okY := version(b)
	if !okX || !okY {
		return false, false
	}
	for i := range max(len(x), len(y)) {
		var m, n int
		if i < len(x) {
			m = x[i]
		}
		if i < len(y) {
			n = y[i]
		}
		if m != n {
			return m < n, true
		}
	}
	return false, true
}

// version reads the numbers of a tag such as v1.2.3 or tool/v1.2; what
// follows a hyphen or a plus is left out.
func version(tag string) ([]int, bool) {
	tag = tag[strings.LastIndexByte(tag, '/')+1:]
	tag = strings.TrimPrefix(strings.TrimPrefix(tag, "v"), "V")
	if i := strings.IndexAny(tag, "-+"); i >= 0 {
		tag = tag[:i]
	}
	var out []int
	for _, part := range strings.Split(tag, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, false
		}
		out = append(out, n)
	}
	return out, len(out) > 0
}
