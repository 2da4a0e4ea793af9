package instance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/secret"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/instancedb"
	"github.com/gitfor/gitfor/db/model"
)

// channel is the bus's channel that says that settings were changed.
const channel = "settings"

// stale is how old the values may be that Get answers from memory: a notice
// that another process sent may have been lost.
const stale = 30 * time.Second

// action is what the changes are called in the administrators' log.
const action = "setting."

// Deps are what the service needs.
type Deps struct {
	DB  *db.DB
	Log *slog.Logger
	// Ring seals secret settings.
	Ring *secret.Ring
	// Env looks a variable of the environment up; nil for none.
	Env func(name string) (string, bool)
}

// Service knows the settings in force.
type Service struct {
	Deps
	now         atomic.Pointer[snapshot]
	wanted      atomic.Bool
	refreshing  atomic.Bool
	unsubscribe func()
}

type snapshot struct {
	settings Settings
	read     time.Time
}

// New makes the service and reads the settings. A variable of the environment
// with a value that cannot be is an error.
func New(ctx context.Context, deps Deps) (*Service, error) {
	if deps.Env == nil {
		deps.Env = func(string) (string, bool) { return "", false }
	}
	s := &Service{Deps: deps}
	for _, set := range Table() {
		if value, ok := deps.Env(set.EnvName()); ok {
			if why := set.Check(value); why != "" {
				return nil, fmt.Errorf("%s: %s", set.EnvName(), strings.ToLower(why[:1])+strings.TrimSuffix(why[1:], "."))
			}
		}
	}
	_, err := s.Load(ctx)
	return s, err
}

// Start listens for changes that other processes make.
func (s *Service) Start(ctx context.Context) error {
	again := func() { s.refresh(ctx) }
	s.unsubscribe = s.DB.Bus().Subscribe(channel, func(string) { again() }, again)
	return nil
}

// Stop ends it.
func (s *Service) Stop(context.Context) error {
	s.unsubscribe()
	return nil
}

// Get returns the values in force, from memory. On a nil service they are the
// defaults.
func (s *Service) Get(ctx context.Context) Settings {
	if s == nil {
		return Defaults()
	}
	snap := s.now.Load()
	if time.Since(snap.read) > stale {
		s.refresh(ctx)
	}
	return snap.settings
}

// refresh reads the settings in the background; asked for while it does, it
// reads them once more.
func (s *Service) refresh(ctx context.Context) {
	s.wanted.Store(true)
	if !s.refreshing.CompareAndSwap(false, true) {
		return
	}
	ctx, _ = db.WithStats(context.WithoutCancel(ctx)) // not a query of who asked
	go func() {
		for s.wanted.Swap(false) {
			once, cancel := context.WithTimeout(ctx, 10*time.Second)
			if _, err := s.Load(once); err != nil {
				s.Log.WarnContext(ctx, "settings are read again later", "err", err)
			}
			cancel()
		}
		s.refreshing.Store(false)
		if s.wanted.Load() {
			s.refresh(ctx)
		}
	}()
}

// Load reads the values in force from the database.
func (s *Service) Load(ctx context.Context) (Settings, error) {
	read := time.Now()
	rows, err := instancedb.Settings(ctx, s.DB.Directory())
	if err != nil {
		return Settings{}, fmt.Errorf("settings: %w", err)
	}
	snap := &snapshot{read: read}
	for _, set := range Table() {
		value, _ := s.value(&set, rows)
		set.put(&snap.settings, value)
	}
	for { // a slow read does not undo what a later one found
		was := s.now.Load()
		if was != nil && was.read.After(read) {
			return was.settings, nil
		}
		if s.now.CompareAndSwap(was, snap) {
			return snap.settings, nil
		}
	}
}

// Source is where a value comes from.
type Source string

// Sources.
const (
	FromEnvironment Source = "environment"
	FromPage        Source = "page"
	FromDefault     Source = "default"
)

// value is the value in force. What was stored and cannot be, such as by an
// older version, counts as not set.
func (s *Service) value(set *Setting, rows map[string]*model.Setting) (string, Source) {
	if value, ok := s.Env(set.EnvName()); ok && set.Check(value) == "" {
		return value, FromEnvironment
	}
	if row := rows[set.Key]; row != nil {
		if value, ok := s.stored(set, row); ok && set.Check(value) == "" {
			return value, FromPage
		}
	}
	return set.Default, FromDefault
}

func (s *Service) stored(set *Setting, row *model.Setting) (string, bool) {
	if !set.Secret {
		return row.Text(), true
	}
	sealed, err := base64.StdEncoding.DecodeString(row.Text())
	if err != nil {
		return "", false
	}
	plain, err := s.Ring.Open(action+set.Key, sealed)
	return string(plain), err == nil
}

// Value is a setting with its value and where that comes from. By and At tell
// who set it on the page and when. A secret's value is empty; Set says whether
// there is one.
type Value struct {
	Setting
	Value  string
	Source Source
	Set    bool
	By     int64
	At     time.Time
}

// List returns every setting as it is in force.
func (s *Service) List(ctx context.Context) ([]Value, error) {
	rows, err := instancedb.Settings(ctx, s.DB.Directory())
	if err != nil {
		return nil, err
	}
	var out []Value
	for _, set := range Table() {
		v := Value{Setting: set}
		v.Value, v.Source = s.value(&set, rows)
		v.Set = v.Value != ""
		if set.Secret {
			v.Value = ""
		}
		if row := rows[set.Key]; row != nil && v.Source == FromPage {
			v.By, v.At = row.UpdatedBy, row.UpdatedAt
		}
		out = append(out, v)
	}
	return out, nil
}

// Change sets values by key for all processes; a nil value goes back to the
// default. fault.Invalid names the keys whose values cannot be.
func (s *Service) Change(ctx context.Context, viewer *model.Viewer, remote string, values map[string]*string) error {
	fields := fault.Fields{}
	for key, value := range values {
		set, ok := Find(key)
		switch {
		case !ok:
			return fault.New(fault.Invalid, "There is no setting "+key+".")
		case value != nil:
			fields.Add(key, set.Check(*value))
		}
		if _, fixed := s.Env(set.EnvName()); fixed {
			fields.Add(key, "It is set by "+set.EnvName()+" in the server’s environment.")
		}
	}
	if err := fields.Err(); err != nil {
		return err
	}
	err := s.DB.InDirectory(ctx, func(ctx context.Context, tx db.DirectoryTx) error {
		rows, err := instancedb.LockSettings(ctx, tx)
		if err != nil {
			return err
		}
		for _, set := range Table() {
			if value, ok := values[set.Key]; ok {
				if err := s.change(ctx, tx, viewer, remote, &set, rows, value); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.DB.Bus().Notify(ctx, channel, "")
	_, err = s.Load(ctx)
	return err
}

func (s *Service) change(ctx context.Context, tx db.DirectoryTx, viewer *model.Viewer, remote string, set *Setting,
	rows map[string]*model.Setting, value *string) error {
	was, source := s.value(set, rows)
	note := &model.AdminAction{ActorID: viewer.ID(), Action: action + "changed", Subject: set.Key, Remote: remote}
	if value == nil {
		if source == FromDefault {
			return nil
		}
		note.Before, note.After = set.shown(was), set.shown(set.Default)
		if err := instancedb.UnsetSetting(ctx, tx, set.Key); err != nil {
			return err
		}
		return instancedb.Note(ctx, tx, note)
	}
	if was == *value {
		return nil
	}
	note.Before, note.After = set.shown(was), set.shown(*value)
	stored := *value
	if set.Secret {
		stored = base64.StdEncoding.EncodeToString(s.Ring.Seal(action+set.Key, []byte(stored)))
	}
	if err := instancedb.SetSetting(ctx, tx, set.Key, stored, viewer.ID()); err != nil {
		return err
	}
	return instancedb.Note(ctx, tx, note)
}

// shown is a value as the history shows it.
func (s *Setting) shown(value string) json.RawMessage {
	if s.Secret && value != "" {
		value = "(secret)"
	}
	b, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return b
}

// History lists the changes, the newest first.
func (s *Service) History(ctx context.Context, limit int) ([]*model.AdminAction, error) {
	return instancedb.Notes(ctx, s.DB.Directory(), action, limit)
}
