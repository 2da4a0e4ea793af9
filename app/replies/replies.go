// Package replies takes answers to notification mail: what somebody replies
// becomes their comment in the thread that the mail was of.
//
// Each mail has an address of its own for answers. It is sealed with the
// instance's key, names the person and the thread, and is the right to comment
// there as that person and to nothing else; whether they still may is looked at
// when the answer comes. The sender's address proves nothing and is not looked
// at: lists and programs rewrite it.
//
//	replies.go  Service: addresses, and what becomes of an answer
//	letter.go   reading a mail: is it from a person, and what did they write
//	smtp.go     the server that takes mail
package replies

import (
	"context"
	"crypto/hmac"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"log/slog"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Service takes answers.
type Service struct {
	DB      *db.DB
	Ring    *secret.Ring
	Threads *threads.Service
	Log     *slog.Logger
	// Host is the right side of the addresses.
	Host string
}

const (
	prefix  = "reply+"
	purpose = "reply address"
	// proof is how many bytes of the MAC an address has: the local part
	// must stay below 64 characters (RFC 5321, 4.5.3.1.1).
	proof = 10
)

// letters survive programs that change the case of addresses.
var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

// right is what an address is the right to.
type right struct{ accountID, repoID, number int64 }

// Address is where the person's answers to mail of the thread go.
func (s *Service) Address(accountID, repoID, number int64) string {
	var text []byte
	for _, n := range []int64{accountID, repoID, number} {
		text = binary.AppendUvarint(text, uint64(n)) //nolint:gosec // ids are positive
	}
	mac := s.Ring.MAC(purpose, text)
	return prefix + strings.ToLower(letters.EncodeToString(append(mac[:proof:proof], text...))) + "@" + s.Host
}

// parse reads an address back; ok is false for any that was not made here.
func (s *Service) parse(address string) (r right, ok bool) {
	local, host, _ := strings.Cut(strings.ToLower(address), "@")
	token, is := strings.CutPrefix(local, prefix)
	b, err := letters.DecodeString(strings.ToUpper(token))
	if !is || err != nil || len(b) <= proof || !strings.EqualFold(host, s.Host) {
		return r, false
	}
	rest := b[proof:]
	for _, to := range []*int64{&r.accountID, &r.repoID, &r.number} {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > 1<<62 {
			return r, false
		}
		*to, rest = int64(v), rest[n:] //nolint:gosec // bounded above
	}
	// An address is good if it is the one that would be made now, or was
	// made with a key of before.
	for _, mac := range s.Ring.MACs(purpose, b[proof:]) {
		if hmac.Equal(mac[:proof], b[:proof]) {
			return r, len(rest) == 0
		}
	}
	return r, false
}

// refused says to the sender's server why an answer was not taken.
type refused struct{ why string }

func (r refused) Error() string { return r.why }

// take makes a comment of an answer. An error that is no refused may go away.
func (s *Service) take(ctx context.Context, r right, body string) error {
	place, err := s.place(ctx, r)
	if errors.Is(err, db.ErrNotFound) {
		return refused{"You can no longer comment there."}
	}
	if err != nil {
		return err
	}
	// A server that heard no answer sends the mail again.
	last, err := threaddb.Items(ctx, s.DB.Repo(r.repoID), threaddb.PageOf{Number: r.number, Kinds: []string{model.ItemComment}, Newest: true, Limit: 1, SeeAll: true})
	if err != nil {
		return err
	}
	if len(last) > 0 && last[0].AuthorID == r.accountID && strings.TrimSpace(last[0].Body) == body {
		return nil
	}
	if _, err = s.Threads.Comment(ctx, *place, r.number, threads.CommentInput{Body: body}); err == nil {
		return nil
	}
	f := fault.From(err)
	switch {
	case f.Kind.Status() >= 500:
		return err
	case f.Kind == fault.NotFound:
		return refused{"You can no longer comment there."}
	case f.Fields["body"] != "":
		return refused{f.Fields["body"]}
	}
	return refused{f.Message}
}

// place is the person in the repository as they are now; db.ErrNotFound when
// they may not read it.
func (s *Service) place(ctx context.Context, r right) (*threads.Place, error) {
	repos, err := repodb.ByIDs(ctx, s.DB.Directory(), []int64{r.repoID})
	if err != nil {
		return nil, err
	}
	repo := repos[r.repoID]
	if repo == nil || repo.DeletedAt != nil {
		return nil, db.ErrNotFound
	}
	people, err := notificationdb.People(ctx, s.DB.Directory(), repo, []int64{r.accountID})
	if err != nil {
		return nil, err
	}
	if len(people) == 0 {
		return nil, db.ErrNotFound
	}
	account, err := accountdb.ByID(ctx, s.DB.Directory(), r.accountID)
	if err != nil {
		return nil, err
	}
	return &threads.Place{Viewer: &model.Viewer{Account: account}, Repo: repo, Role: people[0].Role}, nil
}
