package notifications

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// settingKey is where an account keeps what it chose.
const settingKey = "notify"

// settingsOf is what an account chose, or the default.
func settingsOf(a *model.Account) model.NotifySettings {
	set := model.DefaultNotify()
	if v, ok := a.Settings[settingKey]; ok {
		if text, err := json.Marshal(v); err != nil || json.Unmarshal(text, &set) != nil {
			return model.DefaultNotify()
		}
	}
	return set
}

// SaveSettings keeps what a person chose about being told. fault.Invalid when
// an address is none of theirs.
func (s *Service) SaveSettings(ctx context.Context, accountID int64, set model.NotifySettings) error {
	f := fault.Fields{}
	for name, h := range map[string]int{"hour": set.Hour, "quiet_from": set.QuietFrom, "quiet_to": set.QuietTo} {
		if h < 0 || h > 23 {
			f.Add(name, "Choose an hour of the day.")
		}
	}
	if set.Weekday < 0 || set.Weekday > 6 {
		f.Add("weekday", "Choose a day of the week.")
	}
	if set.Digest != model.DigestDaily && set.Digest != model.DigestWeekly {
		f.Add("digest", "Choose daily or weekly.")
	}
	if set.Email != "" {
		emails, err := accountdb.Emails(ctx, s.DB.Directory(), accountID)
		if err != nil {
			return err
		}
		known := false
		for _, e := range emails {
			known = known || e.Email == set.Email && e.VerifiedAt != nil
		}
		if !known {
			f.Add("email", "Choose one of your confirmed addresses.")
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	defer s.Auth.Forget(ctx, accountID)
	return s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		return accountdb.SetAccountSetting(ctx, tx, accountID, settingKey, set)
	})
}

const unsubscribePurpose = "unsubscribe by mail"

// unsubscribeToken is the right to end mails of one thread, or with repoID 0
// of the kind, for one person; it needs no session and does nothing else.
func (s *Service) unsubscribeToken(accountID, repoID int64, kind, key string) string {
	text := fmt.Sprintf("%d/%d/%s/%s", accountID, repoID, kind, key)
	mac := s.Ring.MAC(unsubscribePurpose, []byte(text))
	return base64.RawURLEncoding.EncodeToString(append(mac[:16:16], text...))
}

// unsubscribing is what a token is the right to.
type unsubscribing struct {
	AccountID, RepoID int64
	Kind, Key         string
}

func (s *Service) parseUnsubscribe(token string) (*unsubscribing, error) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) < 17 {
		return nil, db.ErrNotFound
	}
	want := s.Ring.MAC(unsubscribePurpose, b[16:])
	if !hmac.Equal(want[:16], b[:16]) {
		return nil, db.ErrNotFound
	}
	parts := strings.SplitN(string(b[16:]), "/", 4)
	if len(parts) != 4 {
		return nil, db.ErrNotFound
	}
	u := &unsubscribing{Kind: parts[2], Key: parts[3]}
	if u.AccountID, err = strconv.ParseInt(parts[0], 10, 64); err != nil {
		return nil, db.ErrNotFound
	}
	if u.RepoID, err = strconv.ParseInt(parts[1], 10, 64); err != nil {
		return nil, db.ErrNotFound
	}
	return u, nil
}

// Unsubscribe does what a token is the right to: the thread is muted, or the
// kind of mail ends.
func (s *Service) Unsubscribe(ctx context.Context, token string) error {
	u, err := s.parseUnsubscribe(token)
	if err != nil {
		return err
	}
	if u.RepoID != 0 && u.Kind != model.KindRelease {
		return s.Ignore(ctx, u.AccountID, u.RepoID, u.Key)
	}
	account, err := accountdb.ByID(ctx, s.DB.Directory(), u.AccountID)
	if err != nil {
		return err
	}
	set := settingsOf(account)
	reasons := model.ToldReasons()
	if u.Kind == model.KindRelease {
		reasons = []string{model.ToldSubscribed}
	}
	if set.Reasons == nil {
		set.Reasons = map[string]model.Channels{}
	}
	for _, r := range reasons {
		ways := set.For(r)
		if u.Kind == model.KindRelease {
			ways.Mail = false
		}
		ways.Digest = false
		set.Reasons[r] = ways
	}
	if u.Kind != model.KindRelease {
		// What quiet hours keep back is told like a digest.
		set.Quiet = false
	}
	return s.SaveSettings(ctx, u.AccountID, set)
}
