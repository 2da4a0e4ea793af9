// Package drafts keeps what people are writing, so that it survives a crash,
// the end of a session and a change of browser, and the replies that they
// write often.
//
//	drafts.go  Save, SaveReply
//	http.go    Service, what static/js/draft.js calls, and the settings page of replies
//
// Tables: the domain "drafts" of an account's scope. Views: views/draftview.
package drafts

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/draftdb"
	"github.com/gitfor/gitfor/db/model"
)

// Limits.
const (
	maxKey     = 300     // bytes
	maxFields  = 50      // of a draft
	maxText    = 600_000 // bytes of all fields
	maxDrafts  = 200     // of a person
	maxReplies = 100
	maxTitle   = 80 // characters
)

// Save keeps what the viewer has written in a form; blank fields alone forget
// it.
func (s *Service) Save(ctx context.Context, viewer *model.Viewer, key string, fields map[string]string) error {
	size, any := 0, false
	for name, text := range fields {
		size += len(name) + len(text)
		any = any || strings.TrimSpace(text) != ""
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fault.New(fault.Invalid, "This is not text in UTF-8.")
		}
	}
	switch {
	case key == "" || len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsRune(key, 0):
		return fault.New(fault.Invalid, "A draft needs the name of its form.")
	case size > maxText || len(fields) > maxFields:
		return fault.New(fault.TooLarge, "This draft is too large to be kept.")
	}
	return s.DB.InAccount(ctx, viewer.ID(), func(ctx context.Context, tx *db.AccountTx) error {
		if !any {
			return draftdb.Drop(ctx, tx, key)
		}
		return draftdb.Put(ctx, tx, &model.Draft{Key: key, Fields: fields}, maxDrafts)
	})
}

// SaveReply keeps a text under a title, or changes the one with this id.
func (s *Service) SaveReply(ctx context.Context, viewer *model.Viewer, r *model.SavedReply) error {
	fields := fault.Fields{}
	title, problem := threads.TitleOf(r.Title)
	r.Title = title
	if problem == "" && utf8.RuneCountInString(r.Title) > maxTitle {
		problem = "The title is too long: at most 80 characters."
	}
	fields.Add("title", problem)
	r.Body, problem = threads.BodyOf(r.Body)
	if problem == "" && strings.TrimSpace(r.Body) == "" {
		problem = "Write something first."
	}
	fields.Add("body", problem)
	if err := fields.Err(); err != nil {
		return err
	}
	return s.DB.InAccount(ctx, viewer.ID(), func(ctx context.Context, tx *db.AccountTx) error {
		if r.ID == 0 {
			have, err := draftdb.Replies(ctx, tx.Account)
			if err != nil {
				return err
			}
			if len(have) >= maxReplies {
				return fault.Field("title", "There are 100 saved replies already. Delete one of them first.")
			}
		}
		return draftdb.PutReply(ctx, tx, r)
	})
}
