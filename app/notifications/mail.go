package notifications

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/reviewdb"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/notificationview"
	"github.com/riverqueue/river"
)

// MailArgs is the job that mails one person of one event. What it may say is
// looked at when it goes out.
type MailArgs struct {
	AccountID int64  `json:"account"`
	Seq       int64  `json:"seq"`
	Reason    string `json:"reason"`
}

// Kind is the job's kind.
func (MailArgs) Kind() string { return "notifications.mail" }

// InsertOpts names the job's queue.
func (MailArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: mail.Queue} }

// MailNow does the job: it looks again whether the person may read the thread,
// and wants to.
func (s *Service) MailNow(ctx context.Context, args MailArgs) error {
	t, p, err := s.again(ctx, args.AccountID, args.Seq)
	if err != nil || t == nil {
		return err
	}
	m, err := s.compose(ctx, t, p, args.Reason)
	if err != nil || m == nil {
		return err
	}
	return s.Mail.Send(ctx, *m)
}

// again is what an event tells a person when something goes out to them; nil
// when they may not read it any more, or it is gone.
func (s *Service) again(ctx context.Context, accountID, seq int64) (*told, *notificationdb.Person, error) {
	e, err := eventdb.BySeq(ctx, s.DB.Events(), seq)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil, nil // older than the log
	}
	if err != nil {
		return nil, nil, err
	}
	repos, err := repodb.ByIDs(ctx, s.DB.Directory(), []int64{e.RepoID})
	if err != nil {
		return nil, nil, err
	}
	repo := repos[e.RepoID]
	if repo == nil || repo.DeletedAt != nil {
		return nil, nil, nil
	}
	people, err := notificationdb.People(ctx, s.DB.Directory(), repo, []int64{accountID})
	if err != nil || len(people) == 0 {
		return nil, nil, err
	}
	t, err := read(e, repo)
	if err != nil || t == nil {
		return nil, nil, err
	}
	if t.Number == 0 && t.Kind != model.KindRelease {
		if err := s.concern(ctx, t); err != nil || t.Number == 0 {
			return nil, nil, err
		}
	}
	return t, people[0], nil
}

// rootID is the local part of the Message-ID of a thread's first mail, the same
// for everybody and for ever.
func rootID(repoID int64, kind, key string) string {
	return fmt.Sprintf("r%d.%s.%s", repoID, kind, atom(key))
}

// atom makes a text fit for the local part of a message id.
func atom(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_') {
			return r
		}
		return '_'
	}, text)
}

// compose makes the mail of an event for a person; nil when there is nothing
// to tell them any more.
func (s *Service) compose(ctx context.Context, t *told, p *notificationdb.Person, reason string) (*mail.Message, error) {
	actors, err := accountdb.ByIDs(ctx, s.DB.Directory(), t.event.ActorID)
	if err != nil {
		return nil, err
	}
	actor := actors[t.event.ActorID]
	if actor == nil {
		actor = &model.Account{Name: "ghost"}
	}
	set := p.Settings()
	m := &mail.Message{To: p.Email, ToName: p.Shown, FromName: actor.Shown(), Reason: reason,
		Thread: rootID(t.repo.ID, t.Kind, t.key), Why: notificationview.Why(reason, t.repo.FullName()),
		Manage: s.Site + link.Settings("notifications"), ListName: t.repo.FullName(),
		List:        atom(t.repo.Name) + "." + atom(t.repo.Owner.Name) + "." + s.Mail.Host(),
		Unsubscribe: s.Site + "/-/unsubscribe/" + s.unsubscribeToken(p.ID, t.repo.ID, t.Kind, t.key)}
	if set.Email != "" {
		m.To = set.Email
	}
	props := notificationview.MailProps{Repo: t.repo, Actor: actor, Did: notificationview.Did(t.event.Type), Title: t.Title, Key: t.key,
		Reason: reason, State: t.state(), Site: s.Site}
	n := &model.Notification{RepoID: t.repo.ID, Kind: t.Kind, Key: t.key, CommentID: t.CommentID}
	props.Href = s.Site + href(n, t.repo)
	if t.Kind == model.KindRelease {
		m.ID = m.Thread
		m.Subject = fmt.Sprintf("[%s] %s %s", t.repo.FullName(), "Release", t.Title)
		props.Href = s.Site + link.Release(t.repo.Owner.Name, t.repo.Name, t.Tag)
		m.Body = notificationview.Mail(props)
		return m, nil
	}
	var title string
	if title, props.Body, err = s.words(ctx, t, p); errors.Is(err, db.ErrNotFound) || err == nil && title == "" {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	m.Subject = fmt.Sprintf("[%s] %s (#%s)", t.repo.FullName(), title, t.key)
	switch {
	case t.what == "opened":
		m.ID = m.Thread
	case t.what == "submitted":
		m.ID = m.Thread + ".r" + strconv.FormatInt(t.ReviewID, 10)
	case t.CommentID != 0:
		m.ID = m.Thread + ".c" + strconv.FormatInt(t.CommentID, 10)
	default:
		m.ID = m.Thread + ".e" + strconv.FormatInt(t.event.Seq, 10)
	}
	if m.ID != m.Thread {
		m.Subject = "Re: " + m.Subject
	}
	if s.ReplyTo != nil {
		m.ReplyTo = s.ReplyTo(p.ID, t.repo.ID, t.Number)
		m.Why += " Answer this mail to comment."
	}
	m.Body = notificationview.Mail(props)
	return m, nil
}

// words are the title that the thread began with, so that mail programs keep
// its mails together, and the text that was written, rendered as the person
// may see it. An empty title means that they may not see it any more, or want
// to hear nothing of it.
func (s *Service) words(ctx context.Context, t *told, p *notificationdb.Person) (title string, html template.HTML, err error) {
	repo := s.DB.Repo(t.repo.ID)
	i, err := s.subject(ctx, t, p)
	if err != nil || i == nil {
		return "", "", err
	}
	title = i.Title
	renamed, err := threaddb.Items(ctx, repo, threaddb.PageOf{Number: t.Number, Kinds: []string{model.ItemRenamed}, Limit: 1, SeeAll: true})
	if err != nil {
		return "", "", err
	}
	if len(renamed) > 0 && renamed[0].Data.From != "" {
		title = renamed[0].Data.From
	}
	body := ""
	switch {
	case t.ReviewID != 0:
		if body, err = reviewWords(ctx, repo, t); err != nil {
			return "", "", err
		}
	case t.CommentID != 0:
		item, err := threaddb.Item(ctx, repo, t.CommentID)
		if err != nil {
			return "", "", err
		}
		body = item.Body
	case t.what == "opened":
		body = i.Body
	}
	if body == "" {
		return title, "", nil
	}
	account, err := accountdb.ByID(ctx, s.DB.Directory(), p.ID)
	if err != nil {
		return "", "", err
	}
	texts, _, err := s.Threads.Render(ctx, threads.Place{Viewer: &model.Viewer{Account: account}, Repo: t.repo, Role: p.Role},
		[]threads.Text{{Body: body, ID: "m"}}, threads.Look{})
	if err != nil {
		return "", "", err
	}
	return title, texts[0], nil
}

// subject is the issue or pull request that a person is told of; nil when they
// may not see it any more, or want to hear nothing of it.
func (s *Service) subject(ctx context.Context, t *told, p *notificationdb.Person) (*model.Issue, error) {
	repo := s.DB.Repo(t.repo.ID)
	i, err := threaddb.Find(ctx, repo, t.Number)
	if err != nil || !i.VisibleTo(p.ID, p.Role) {
		return nil, err
	}
	subs, err := threaddb.Subscriptions(ctx, repo, t.Number)
	if err != nil || subs[p.ID].Ignored {
		return nil, err
	}
	return i, nil
}

// reviewWords is the Markdown of a review with its comments, or of one comment
// on a change.
func reviewWords(ctx context.Context, repo db.Repo, t *told) (string, error) {
	if t.CommentID != 0 {
		c, err := reviewdb.Comment(ctx, repo, t.CommentID)
		if err != nil || c.Pending {
			return "", err
		}
		return onChange(c), nil
	}
	r, err := reviewdb.Find(ctx, repo, t.Number, t.ReviewID)
	if err != nil {
		return "", err
	}
	parts := []string{r.Body}
	comments, err := reviewdb.Comments(ctx, repo, t.Number, 0)
	if err != nil {
		return "", err
	}
	for _, c := range comments {
		if c.ReviewID == r.ID && !c.Pending {
			parts = append(parts, onChange(c))
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n\n")), nil
}

// onChange is a comment on a change with the place before it.
func onChange(c *model.ReviewComment) string {
	if c.Path == "" {
		return c.Body
	}
	place := "`" + strings.ReplaceAll(c.Path, "`", "'") + "`"
	if c.Line > 0 {
		place += ", line " + strconv.Itoa(c.Line)
	}
	return place + ":\n\n" + c.Body
}

// maxDigest is how many threads a digest tells of; the inbox has the rest.
const maxDigest = 50

// Due is the account's alarm: digests whose hour has come are mailed, and
// snoozed rows come back. The rows and the mail's job change in one
// transaction, so that a crash neither loses a digest nor sends it twice.
func (s *Service) Due(ctx context.Context, accountID int64, now time.Time) (next time.Time, err error) {
	if err := s.take(ctx, accountID); err != nil {
		return next, err
	}
	account := s.scope(accountID)
	due, at, err := notificationdb.Due(ctx, account, now, maxDigest+1)
	if err != nil {
		return next, err
	}
	woken, up, err := notificationdb.Woken(ctx, account, now)
	if err != nil {
		return next, err
	}
	for _, t := range []time.Time{at, up} {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if len(due)+len(woken) == 0 {
		return next, nil
	}
	m, err := s.digest(ctx, accountID, due)
	if err != nil {
		return next, err
	}
	err = s.DB.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) error {
		n, err := notificationdb.Settle(ctx, tx, now)
		if err != nil {
			return err
		}
		if err := notificationdb.Wake(ctx, tx, now); err != nil {
			return err
		}
		if n == 0 || m == nil {
			return nil
		}
		return s.Mail.Enqueue(ctx, tx, *m)
	})
	if err == nil {
		s.changed(ctx, accountID)
	}
	return next, err
}

// digest is the mail of what gathered; nil when nothing of it may be read any
// more.
func (s *Service) digest(ctx context.Context, accountID int64, rows []*model.Notification) (*mail.Message, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	u, err := accountdb.User(ctx, s.DB.Directory(), accountID)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	props := notificationview.DigestProps{Site: s.Site, Name: u.Account.Shown(), More: len(rows) > maxDigest}
	if props.More {
		rows = rows[:maxDigest]
	}
	ids := make([]int64, len(rows))
	var people []int64
	for i, n := range rows {
		ids[i] = n.RepoID
		people = append(people, n.ActorID)
	}
	readable, err := repodb.ReadableIDs(ctx, s.DB.Directory(), ids, accountID)
	if err != nil {
		return nil, err
	}
	repos, err := repodb.ByIDs(ctx, s.DB.Directory(), ids)
	if err != nil {
		return nil, err
	}
	actors, err := accountdb.ByIDs(ctx, s.DB.Directory(), people...)
	if err != nil {
		return nil, err
	}
	for _, n := range rows {
		if repo := repos[n.RepoID]; repo != nil && readable[n.RepoID] {
			props.Rows = append(props.Rows, notificationview.Row{N: n, Repo: repo, Actor: actors[n.ActorID], Href: s.Site + href(n, repo)})
		}
	}
	if len(props.Rows) == 0 || u.Account.SuspendedAt != nil || u.Account.DeletedAt != nil {
		return nil, nil
	}
	set := settingsOf(u.Account)
	m := &mail.Message{To: u.Email, ToName: u.Account.DisplayName, Subject: notificationview.DigestSubject(len(props.Rows), props.More),
		ID:  fmt.Sprintf("digest.%d.%d", accountID, rows[0].DigestAt.Unix()),
		Why: "You asked for news gathered in one mail.", Manage: s.Site + link.Settings("notifications"), Reason: "digest",
		Unsubscribe: s.Site + "/-/unsubscribe/" + s.unsubscribeToken(accountID, 0, "digest", ""), Body: notificationview.Digest(props)}
	if set.Email != "" {
		m.To = set.Email
	}
	return m, nil
}
