// Package attachments is files in texts: pasted, dropped or chosen in the
// field for Markdown. Who may see one is decided by the threads whose texts
// have it; see threads.Service, which binds them.
//
//	attachments.go  Service, Add, Find
//	copy.go         files of a thread that moves to another repository
//	sweep.go        what no text has is given up
//	http.go         uploading and sending
//
// Tables: the domain "attachments" of a repository's scope. Events: none.
package attachments

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/attachdb"
	"github.com/gitfor/gitfor/db/model"
)

// Deps are what attachments are built on.
type Deps struct {
	DB      *db.DB
	Gate    *perms.Gate
	Threads *threads.Service
	Blobs   *blob.Stores
}

// Service is attachments.
type Service struct{ Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps} }

// Limits.
const (
	// MaxSize is how large an attachment may be, in bytes.
	MaxSize = 25 << 20
	maxName = 200
)

// space holds the contents of one repository's attachments, so that deleting
// them concerns no other's.
func (s *Service) space(repoID int64) blob.Store { return s.Blobs.Space("attachments/" + num(repoID)) }

// nameOf is a file's name as it is kept: without what has a meaning in an
// address, in Markdown or in a path.
func nameOf(s string) string {
	if !utf8.ValidString(s) {
		return "file"
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(`<>"'|?*:%#&[]()\`, r) {
			return '-'
		}
		return r
	}, path.Base(strings.ReplaceAll(s, `\`, "/")))
	s = strings.TrimLeft(strings.TrimSpace(s), ".")
	for utf8.RuneCountInString(s) > maxName {
		_, n := utf8.DecodeRuneInString(s)
		s = s[n:]
	}
	if s == "" || s == "/" {
		return "file"
	}
	return s
}

// NewID is the id of a new attachment.
func NewID() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails, by its documentation
	return hex.EncodeToString(raw[:])
}

// Add keeps a file that a text is about to have. The content is stored before
// the row that names it.
func (s *Service) Add(ctx context.Context, p threads.Place, name string, content io.Reader) (*model.Attachment, error) {
	if !p.Viewer.SignedIn() {
		return nil, fault.New(fault.Unauthorized, "Sign in first.")
	}
	head := make([]byte, markup.HeadSize)
	n, err := io.ReadFull(content, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if n == 0 {
		return nil, fault.New(fault.Invalid, "The file is empty.")
	}
	a := &model.Attachment{ID: NewID(), UploaderID: p.Viewer.ID(), Name: nameOf(name)}
	a.ContentType = markup.ContentType(a.Name, head[:n])
	info, err := s.space(p.Repo.ID).Put(ctx, &bounded{io.MultiReader(strings.NewReader(string(head[:n])), content), MaxSize})
	if err != nil {
		return nil, err
	}
	a.Size, a.SHA256 = info.Size, info.SHA256
	err = s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		if err := attachdb.Insert(ctx, tx, a); err != nil {
			return err
		}
		return tx.Arm(ctx, tx.Now().Add(Loose))
	})
	return a, err
}

// bounded ends with a fault where a file is too large.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fault.New(fault.TooLarge, "A file in a text has at most 25 MB.")
	}
	return n, err
}

// Find returns an attachment that the viewer may see: one of a thread that
// they see, or their own that is in no text yet. db.ErrNotFound for others.
func (s *Service) Find(ctx context.Context, p threads.Place, id string) (*model.Attachment, error) {
	a, err := attachdb.Find(ctx, s.DB.Repo(p.Repo.ID), id)
	if err != nil {
		return nil, err
	}
	if len(a.Threads) == 0 {
		if p.Viewer.ID() != 0 && p.Viewer.ID() == a.UploaderID {
			return a, nil
		}
		return nil, db.ErrNotFound
	}
	for _, n := range a.Threads {
		if n == attachdb.Everyone {
			return a, nil
		}
		_, err := s.Threads.Find(ctx, p, n)
		if err == nil {
			return a, nil
		}
		if !errors.Is(err, db.ErrNotFound) {
			return nil, err
		}
	}
	return nil, db.ErrNotFound
}
