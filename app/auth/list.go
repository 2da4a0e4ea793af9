package auth

import (
	"context"
	"encoding/hex"
	"encoding/json"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// Session is a session in its owner's list.
type Session struct {
	*model.Session
	SessionData
}

// ID names the session in forms.
func (s *Session) ID() string { return hex.EncodeToString(s.Hash) }

// Sessions lists an account's sessions, the last used first.
func (s *Service) Sessions(ctx context.Context, accountID int64) ([]Session, error) {
	rows, err := accountdb.Sessions(ctx, s.db.Account(accountID), s.now())
	if err != nil {
		return nil, err
	}
	out := make([]Session, len(rows))
	for i, row := range rows {
		out[i].Session = row
		if err := json.Unmarshal(row.Data, &out[i].SessionData); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// EndSessionID ends the session of this ID; db.ErrNotFound when it is no
// session's.
func (s *Service) EndSessionID(ctx context.Context, accountID int64, id string) error {
	hash, err := hex.DecodeString(id)
	if err != nil || len(hash) != 32 {
		return db.ErrNotFound
	}
	return s.EndSession(ctx, accountID, hash)
}
