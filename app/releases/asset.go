package releases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/releasedb"
)

// Limits on files.
const (
	maxAsset     = 2 << 30 // bytes, as on GitHub
	maxAssets    = 1000    // in a release
	maxAssetName = 255
	maxLabel     = 255
)

// AssetInput names a file.
type AssetInput struct {
	Name        string
	Label       string
	ContentType string
}

// assetName is a name as it is kept: what would need care in an address or in
// a shell becomes a dot, as on GitHub.
func assetName(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._+-@~", r) {
			return r
		}
		return '.'
	}, path.Base(strings.ReplaceAll(s, `\`, "/")))
	if strings.Trim(s, ".") == "" {
		return ""
	}
	if s[0] == '.' {
		return "default" + s
	}
	return s
}

func (in *AssetInput) validate() error {
	fields := fault.Fields{}
	if !utf8.ValidString(in.Name) {
		in.Name = ""
	}
	in.Name = assetName(in.Name)
	switch {
	case in.Name == "":
		fields.Add("name", "The file needs a name.")
	case len(in.Name) > maxAssetName:
		fields.Add("name", "The file's name is too long.")
	}
	if !utf8.ValidString(in.Label) || utf8.RuneCountInString(in.Label) > maxLabel || strings.ContainsRune(in.Label, 0) {
		fields.Add("label", "The label is one line of at most 255 characters.")
	}
	if kind, _, err := mime.ParseMediaType(in.ContentType); err != nil || len(kind) > 100 {
		in.ContentType = "application/octet-stream"
	}
	return fields.Err()
}

func alreadyThere(name string) error {
	return fault.Field("name", "This release has a file named "+name+" already.")
}

// space holds the contents of one repository's files, so that deleting them
// concerns no other's.
func (s *Service) space(repoID int64) blob.Store { return s.Blobs.Space("releases/" + num(repoID)) }

// changeable finds a release whose files may be changed.
func changeable(ctx context.Context, state db.Repo, id int64) (*model.Release, error) {
	r, err := releasedb.Find(ctx, state, id)
	if err != nil {
		return nil, err
	}
	if r.Immutable {
		return nil, fault.New(fault.Conflict, "This release is immutable, so its files stay what they are.")
	}
	return r, nil
}

// Upload adds a file to a release. The content is stored before the row that
// names it.
func (s *Service) Upload(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64, in AssetInput, content io.Reader) (*model.ReleaseAsset, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	state := s.DB.Repo(repo.ID)
	if _, err := changeable(ctx, state, id); err != nil {
		return nil, err
	}
	if _, err := releasedb.AssetNamed(ctx, state, id, in.Name); err == nil {
		return nil, alreadyThere(in.Name)
	} else if !errors.Is(err, db.ErrNotFound) {
		return nil, err
	}
	info, err := s.space(repo.ID).Put(ctx, &bounded{content, maxAsset})
	if err != nil {
		return nil, err
	}
	a := &model.ReleaseAsset{ReleaseID: id, Name: in.Name, Label: in.Label, ContentType: in.ContentType, Size: info.Size, SHA256: info.SHA256, UploaderID: viewer.ID()}
	err = s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		r, err := changeable(ctx, tx.Repo, id)
		if err != nil {
			return err
		}
		if err := releasedb.LoadAssets(ctx, tx.Repo, r); err != nil {
			return err
		}
		for _, other := range r.Assets {
			if other.Name == a.Name {
				return alreadyThere(a.Name)
			}
		}
		if len(r.Assets) >= maxAssets {
			return fault.New(fault.Conflict, "A release has at most 1,000 files.")
		}
		if err := releasedb.InsertAsset(ctx, tx, a); err != nil {
			return err
		}
		e := eventOf(r, "edited")
		e.AddedAsset = a.Name
		return emit(ctx, tx, viewer, repo, e)
	})
	if err != nil {
		// Nothing names the content, unless another file has it too.
		return nil, errors.Join(err, s.DB.InRepo(context.WithoutCancel(ctx), repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
			return forget(ctx, tx, a)
		}))
	}
	return a, nil
}

// bounded ends with a fault where a file is too large.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fault.New(fault.TooLarge, "A file of a release has at most 2 GiB.")
	}
	return n, err
}

// forget has the contents of files deleted in a day, unless other files have
// them.
func forget(ctx context.Context, tx *db.RepoTx, assets ...*model.ReleaseAsset) error {
	if len(assets) == 0 {
		return nil
	}
	var hashes []string
	for _, a := range assets {
		hashes = append(hashes, a.SHA256)
	}
	if err := releasedb.Forget(ctx, tx, hashes...); err != nil {
		return err
	}
	return tx.Arm(ctx, tx.Now().Add(blob.Keep))
}

// Sweep deletes contents that lost their last file a day ago. It is the task
// of a repository's alarm.
func (s *Service) Sweep(ctx context.Context, repoID int64, now time.Time) (time.Time, error) {
	if v, err := s.DB.Repo(repoID).Version(ctx, releasedb.Domain); err != nil || v < 2 {
		return time.Time{}, err
	}
	var hashes []string
	var next *time.Time
	err := s.DB.InRepo(ctx, repoID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		hashes, next, err = releasedb.Gone(ctx, tx, now.Add(-blob.Keep))
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("sweep files of releases: %w", err)
	}
	for _, sha := range hashes {
		if err := s.space(repoID).Delete(ctx, sha); err != nil {
			return time.Time{}, err
		}
	}
	if next == nil {
		return time.Time{}, nil
	}
	return next.Add(blob.Keep), nil
}

// Asset returns a file and its release, if somebody of this role may see it.
func (s *Service) Asset(ctx context.Context, repo *model.Repo, role model.Role, id int64) (*model.ReleaseAsset, *model.Release, error) {
	state := s.DB.Repo(repo.ID)
	a, err := releasedb.Asset(ctx, state, id)
	if err != nil {
		return nil, nil, err
	}
	r, err := releasedb.Find(ctx, state, a.ReleaseID)
	if err == nil && !sees(r, role) {
		err = db.ErrNotFound
	}
	return a, r, err
}

// EditAsset changes a file's name or label; nil fields stay as they are.
func (s *Service) EditAsset(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64, name, label *string) (*model.ReleaseAsset, error) {
	return s.changeAsset(ctx, viewer, repo, id, func(ctx context.Context, tx *db.RepoTx, a *model.ReleaseAsset, e *Event) error {
		in := AssetInput{Name: a.Name, Label: a.Label}
		set(&in.Name, name)
		set(&in.Label, label)
		if err := in.validate(); err != nil {
			return err
		}
		if in.Name != a.Name {
			if _, err := releasedb.AssetNamed(ctx, tx.Repo, a.ReleaseID, in.Name); err == nil {
				return alreadyThere(in.Name)
			} else if !errors.Is(err, db.ErrNotFound) {
				return err
			}
			e.RemovedAsset, e.AddedAsset = a.Name, in.Name
		}
		a.Name, a.Label = in.Name, in.Label
		return releasedb.UpdateAsset(ctx, tx, a)
	})
}

// DeleteAsset removes a file.
func (s *Service) DeleteAsset(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64) (*model.ReleaseAsset, error) {
	return s.changeAsset(ctx, viewer, repo, id, func(ctx context.Context, tx *db.RepoTx, a *model.ReleaseAsset, e *Event) error {
		e.RemovedAsset = a.Name
		if err := releasedb.DeleteAsset(ctx, tx, a.ID); err != nil {
			return err
		}
		return forget(ctx, tx, a)
	})
}

func (s *Service) changeAsset(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64,
	f func(ctx context.Context, tx *db.RepoTx, a *model.ReleaseAsset, e *Event) error,
) (*model.ReleaseAsset, error) {
	var a *model.ReleaseAsset
	err := s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		if a, err = releasedb.Asset(ctx, tx.Repo, id); err != nil {
			return err
		}
		r, err := changeable(ctx, tx.Repo, a.ReleaseID)
		if err != nil {
			return err
		}
		e := eventOf(r, "edited")
		if err := f(ctx, tx, a, &e); err != nil {
			return err
		}
		return emit(ctx, tx, viewer, repo, e)
	})
	return a, err
}
