package accounts

import (
	"context"
	"maps"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// ProfileInput is what an account says of itself; a nil field stays as it is.
type ProfileInput struct {
	DisplayName *string `form:"display_name" json:"name"`
	Bio         *string `form:"bio" json:"bio"`
	Location    *string `form:"location" json:"location"`
	Website     *string `form:"website" json:"blog"`
	PublicEmail *string `form:"public_email" json:"email"`
	Company     *string `form:"company" json:"company"`
}

// Validate cleans the texts and checks them.
func (in *ProfileInput) Validate() fault.Fields {
	f := fault.Fields{}
	text := func(field string, p *string, most int, lines bool) {
		if p == nil {
			return
		}
		*p = strings.TrimSpace(strings.ReplaceAll(*p, "\r\n", "\n"))
		switch {
		case utf8.RuneCountInString(*p) > most:
			f.Add(field, "This is too long.")
		case !utf8.ValidString(*p), strings.ContainsFunc(*p, func(r rune) bool { return r < ' ' && (!lines || r != '\n') }):
			f.Add(field, "This holds characters that cannot be shown.")
		}
	}
	text("display_name", in.DisplayName, 100, false)
	text("bio", in.Bio, 500, true)
	text("location", in.Location, 100, false)
	text("company", in.Company, 100, false)
	text("website", in.Website, 200, false)
	if in.Website != nil && *in.Website != "" {
		if !strings.Contains(*in.Website, "://") {
			*in.Website = "https://" + *in.Website
		}
		if u, err := url.Parse(*in.Website); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			f.Add("website", "This is no web address. It begins with https://.")
		}
	}
	return f
}

// UpdateProfile changes what an account says of itself.
func (s *Service) UpdateProfile(ctx context.Context, accountID int64, in ProfileInput) (*model.Account, error) {
	f := in.Validate()
	if in.PublicEmail != nil && *in.PublicEmail != "" {
		emails, err := accountdb.Emails(ctx, s.db.Directory(), accountID)
		if err != nil {
			return nil, err
		}
		if len(emails) > 0 && find(emails, *in.PublicEmail) == nil {
			f.Add("public_email", "Choose one of your own addresses.")
		}
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	var a *model.Account
	err := s.inDirectory(ctx, accountID, func(ctx context.Context, tx db.DirectoryTx) (err error) {
		if a, err = accountdb.ByID(ctx, tx.Directory, accountID); err != nil {
			return err
		}
		for _, c := range [...]struct{ to, from *string }{{&a.DisplayName, in.DisplayName}, {&a.Bio, in.Bio},
			{&a.Location, in.Location}, {&a.Website, in.Website}, {&a.PublicEmail, in.PublicEmail}} {
			if c.from != nil {
				*c.to = *c.from
			}
		}
		if in.Company != nil {
			a.Settings = with(a.Settings, "company", *in.Company)
		}
		return accountdb.SaveProfile(ctx, tx, a)
	})
	return a, err
}

// with is a copy of settings in which key has value; nil and "" remove it.
func with(settings map[string]any, key string, value any) map[string]any {
	out := maps.Clone(settings)
	if out == nil {
		out = map[string]any{}
	}
	if value == nil || value == "" || value == false {
		delete(out, key)
	} else {
		out[key] = value
	}
	return out
}

// AppearanceInput is how pages look to a person; a nil field stays as it is.
type AppearanceInput struct {
	Theme    *string `form:"theme"`
	DiffCB   *bool   `form:"diff_cb"`
	TimeZone *string `form:"time_zone"`
}

// UpdateAppearance changes how pages look to a person.
func (s *Service) UpdateAppearance(ctx context.Context, accountID int64, in AppearanceInput) error {
	f := fault.Fields{}
	if in.Theme != nil {
		switch *in.Theme {
		case "system", "light", "dark", "contrast":
		default:
			f.Add("theme", "There is no such theme.")
		}
	}
	if in.TimeZone != nil && *in.TimeZone != "" {
		if _, err := time.LoadLocation(*in.TimeZone); err != nil || *in.TimeZone == "Local" {
			f.Add("time_zone", "There is no such time zone. They are called like Europe/Berlin.")
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	return s.inDirectory(ctx, accountID, func(ctx context.Context, tx db.DirectoryTx) error {
		u, err := accountdb.User(ctx, tx.Directory, accountID)
		if err != nil {
			return err
		}
		if in.Theme != nil {
			u.Theme = *in.Theme
		}
		if in.TimeZone != nil {
			u.TimeZone = *in.TimeZone
		}
		if in.DiffCB != nil {
			u.Account.Settings = with(u.Account.Settings, "diff_cb", *in.DiffCB)
			if err := accountdb.SaveProfile(ctx, tx, u.Account); err != nil {
				return err
			}
		}
		return accountdb.SaveUser(ctx, tx, u)
	})
}
