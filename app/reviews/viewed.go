package reviews

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/threaddb"
)

// recordViewed is the kind of the records that hold what people have looked
// at.
const recordViewed = "viewed"

// maxViewed bounds how many files one person marks in a pull request.
const maxViewed = 20_000

// markOf tells one change of a file from another: by the contents of both
// sides, and by the lines that changed, which stay the same when the base
// moves.
func markOf(f *git.DiffFile, exact bool) string {
	sides := sha256.Sum256([]byte(f.OldOID.String() + ":" + f.NewOID.String() + ":" + f.OldMode.String() + f.NewMode.String()))
	mark := hex.EncodeToString(sides[:8])
	if f.Truncated || f.Binary || !exact || len(f.Hunks) == 0 {
		return mark
	}
	h := sha256.New()
	for i := range f.Hunks {
		for _, l := range f.Hunks[i].Lines {
			if l.Kind != git.LineContext {
				h.Write([]byte{byte(l.Kind)})
				h.Write([]byte(l.Text))
				h.Write([]byte{'\n'})
			}
		}
	}
	return mark + "." + hex.EncodeToString(h.Sum(nil)[:8])
}

// sameMark says that two marks are of the same change.
func sameMark(a, b string) bool {
	a1, a2, _ := strings.Cut(a, ".")
	b1, b2, _ := strings.Cut(b, ".")
	return a1 != "" && a1 == b1 || a2 != "" && a2 == b2
}

func viewedKey(number, account int64) string { return num(number) + "/" + num(account) }

// viewed are the marks of the files that somebody has looked at, by path.
func (s *Service) viewed(ctx context.Context, repo db.Repo, number, account int64) (map[string]string, error) {
	out := map[string]string{}
	if account == 0 {
		return out, nil
	}
	row, err := threaddb.Record(ctx, repo, recordViewed, viewedKey(number, account))
	if errors.Is(err, db.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(row.Data, &out)
}

// SetViewed notes that the viewer has looked at a file's change, or takes that
// back. mark tells which change it was.
func (s *Service) SetViewed(ctx context.Context, p Place, number int64, path, mark string, on bool) error {
	if path == "" || len(mark) > 64 || strings.ContainsRune(path, 0) {
		return fault.Field("path", "Name a file of the pull request.")
	}
	if !p.Viewer.SignedIn() {
		return fault.New(fault.Unauthorized, "Sign in first.")
	}
	return s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if _, err := s.Pulls.FindIn(ctx, tx.Repo, p, number); err != nil {
			return err
		}
		have, err := s.viewed(ctx, tx.Repo, number, p.Viewer.ID())
		if err != nil {
			return err
		}
		if !on {
			delete(have, path)
		} else if len(have) < maxViewed {
			have[path] = mark
		}
		return threaddb.Put(ctx, tx, recordViewed, viewedKey(number, p.Viewer.ID()), p.Viewer.ID(), have)
	})
}
