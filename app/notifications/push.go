package notifications

import (
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/SherClockHolmes/webpush-go"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/outbound"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/instancedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
	"github.com/riverqueue/river"
)

const (
	// PushQueue is the queue of pushes.
	PushQueue = "push"
	// pushTime is how many seconds a push waits for a browser that is not
	// there: 12 hours.
	pushTime = 12 * 60 * 60
	// maxBrowsers is how many browsers of a person take pushes.
	maxBrowsers = 20
	// maxEndpoint is how long the address of a push service may be, in bytes.
	maxEndpoint = 2000
)

// PushArgs is the job that pushes one event to the browsers of a person, or to
// one of them.
type PushArgs struct {
	AccountID int64 `json:"account"`
	Seq       int64 `json:"seq"`
	Browser   int64 `json:"browser,omitempty"`
}

// Kind is the job's kind.
func (PushArgs) Kind() string { return "notifications.push" }

// InsertOpts names the job's queue.
func (PushArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: PushQueue} }

// pushed is what a browser shows: a later push with the same tag takes the
// place of an earlier one.
type pushed struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	URL   string `json:"url"`
	Tag   string `json:"tag"`
}

// PushNow does the job. Browsers that could not be reached are tried again by
// themselves, so that none shows a push twice.
func (s *Service) PushNow(ctx context.Context, args PushArgs) error {
	t, p, err := s.again(ctx, args.AccountID, args.Seq)
	if err != nil || t == nil {
		return err
	}
	m, err := s.composePush(ctx, t, p)
	if err != nil || m == nil {
		return err
	}
	browsers, err := notificationdb.Browsers(ctx, s.scope(args.AccountID))
	if err != nil {
		return err
	}
	var failed []river.InsertManyParams
	for _, b := range browsers {
		if args.Browser != 0 && b.ID != args.Browser {
			continue
		}
		err := s.push(ctx, args.AccountID, b, m)
		switch {
		case err == nil:
		case args.Browser != 0:
			return err
		default:
			s.Log.WarnContext(ctx, "a push is tried again", "account", args.AccountID, "browser", b.ID, "err", err)
			failed = append(failed, river.InsertManyParams{Args: PushArgs{AccountID: args.AccountID, Seq: args.Seq, Browser: b.ID},
				InsertOpts: &river.InsertOpts{Queue: PushQueue}})
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return s.DB.InCell(ctx, func(ctx context.Context, tx db.CellTx) error { return tx.EnqueueMany(ctx, failed) })
}

// push sends to one browser. One whose endpoint or session is gone is dropped,
// which is no error.
func (s *Service) push(ctx context.Context, accountID int64, b *model.PushBrowser, m *pushed) error {
	session, err := accountdb.Session(ctx, s.scope(accountID), b.Session)
	if errors.Is(err, db.ErrNotFound) || err == nil && session.ExpiresAt.Before(time.Now()) {
		return s.DropBrowser(ctx, accountID, b.ID)
	}
	if err != nil {
		return err
	}
	var sub webpush.Subscription
	plain, err := s.Ring.Open(pushPurpose(accountID), b.Sealed)
	if err == nil {
		err = json.Unmarshal(plain, &sub)
	}
	if err != nil {
		return fmt.Errorf("a browser's keys do not open: %w", err)
	}
	keys, err := s.vapid(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	contact := s.Site
	if !strings.HasPrefix(contact, "https:") {
		contact = "postmaster@" + s.Mail.Host()
	}
	res, err := webpush.SendNotificationWithContext(ctx, text, &sub, &webpush.Options{HTTPClient: pushClient{s.Outbound}, Subscriber: contact,
		Topic: m.Tag, TTL: pushTime, Urgency: webpush.UrgencyNormal, VAPIDPublicKey: keys.Public, VAPIDPrivateKey: keys.Private})
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it is in memory
	switch {
	case res.StatusCode == 404 || res.StatusCode == 410:
		return s.DropBrowser(ctx, accountID, b.ID)
	case res.StatusCode/100 != 2:
		return fmt.Errorf("the push service answered %d", res.StatusCode)
	}
	return nil
}

func pushPurpose(accountID int64) string { return fmt.Sprintf("push subscription %d", accountID) }

// AddBrowser turns pushes on in the browser of a session. fault.Invalid when
// what the browser gave is no subscription.
func (s *Service) AddBrowser(ctx context.Context, viewer *model.Viewer, sub webpush.Subscription, name string) error {
	f := fault.Fields{}
	if len(sub.Endpoint) > maxEndpoint || outbound.CheckURL(sub.Endpoint) != nil {
		f.Add("endpoint", "This is no address of a push service of at most 2,000 bytes.")
	}
	point, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(sub.Keys.P256dh, "="))
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(point)
	}
	if err != nil {
		f.Add("p256dh", "This is no public key of a browser.")
	}
	if auth, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(sub.Keys.Auth, "=")); err != nil || len(auth) != 16 {
		f.Add("auth", "This is no secret of 16 bytes.")
	}
	if err := f.Err(); err != nil {
		return err
	}
	text, err := json.Marshal(sub)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(sub.Endpoint))
	b := &model.PushBrowser{Key: sum[:], Session: viewer.SessionHash, Name: name, Sealed: s.Ring.Seal(pushPurpose(viewer.ID()), text)}
	err = s.DB.InAccount(ctx, viewer.ID(), func(ctx context.Context, tx *db.AccountTx) error {
		return notificationdb.PutBrowser(ctx, tx, b, maxBrowsers)
	})
	if err != nil {
		return err
	}
	return s.noteBrowsers(ctx, viewer.ID(), true)
}

// DropBrowser ends pushes to a browser.
func (s *Service) DropBrowser(ctx context.Context, accountID, id int64) error {
	left := int64(0)
	err := s.DB.InAccount(ctx, accountID, func(ctx context.Context, tx *db.AccountTx) (err error) {
		left, err = notificationdb.DropBrowser(ctx, tx, id)
		return err
	})
	if err != nil || left > 0 {
		return err
	}
	return s.noteBrowsers(ctx, accountID, false)
}

// pushesKey is the setting of an account that some browser of theirs takes
// pushes.
const pushesKey = "pushes"

func (s *Service) noteBrowsers(ctx context.Context, accountID int64, have bool) error {
	defer s.Auth.Forget(ctx, accountID)
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return accountdb.SetAccountSetting(ctx, tx, accountID, pushesKey, have)
	})
}

// vapidKeys are what the instance proves itself with to push services (RFC
// 8292).
type vapidKeys struct {
	Private string `json:"private"`
	Public  string `json:"public"`
}

const (
	vapidSetting = "push.vapid"
	vapidPurpose = "push vapid key"
)

// vapid is the instance's pair of keys, made when it is first asked for.
func (s *Service) vapid(ctx context.Context) (*vapidKeys, error) {
	s.mu.Lock()
	have := s.keys
	s.mu.Unlock()
	if have != nil {
		return have, nil
	}
	rows, err := instancedb.Settings(ctx, s.DB.Directory())
	if err != nil {
		return nil, err
	}
	keys := s.openVapid(rows[vapidSetting])
	if keys == nil {
		err = s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
			rows, err := instancedb.LockSettings(ctx, tx)
			if err != nil {
				return err
			}
			if keys = s.openVapid(rows[vapidSetting]); keys != nil {
				return nil // another was faster
			}
			keys = &vapidKeys{}
			if keys.Private, keys.Public, err = webpush.GenerateVAPIDKeys(); err != nil {
				return err
			}
			text, err := json.Marshal(keys)
			if err != nil {
				return err
			}
			return instancedb.SetSetting(ctx, tx, vapidSetting, base64.StdEncoding.EncodeToString(s.Ring.Seal(vapidPurpose, text)), 0)
		})
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = keys
	return keys, nil
}

// openVapid is the pair of keys in a setting; nil when there is none, or it was
// sealed with a key that is lost.
func (s *Service) openVapid(row *model.Setting) *vapidKeys {
	var text string
	if row == nil || json.Unmarshal(row.Value, &text) != nil {
		return nil
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	plain, err := s.Ring.Open(vapidPurpose, sealed)
	keys := new(vapidKeys)
	if err != nil || json.Unmarshal(plain, keys) != nil {
		return nil
	}
	return keys
}

// browserName is what a User-Agent calls its browser, as people do.
func browserName(agent string) string {
	find := func(names [][2]string) string {
		i := slices.IndexFunc(names, func(n [2]string) bool { return strings.Contains(agent, n[0]) })
		if i < 0 {
			return ""
		}
		return names[i][1]
	}
	name := find([][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}})
	system := find([][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Mac OS X", "macOS"}, {"Windows", "Windows"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}})
	switch {
	case name == "":
		return "A browser"
	case system == "":
		return name
	}
	return name + " on " + system
}
