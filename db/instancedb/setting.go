// Package instancedb holds the directory's queries about the instance itself:
// its settings and what administrators did.
package instancedb

import (
	"context"
	"encoding/json"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Settings are all that somebody changed, by key.
func Settings(ctx context.Context, dir db.Directory) (map[string]*model.Setting, error) {
	var list []*model.Setting
	if err := dir.NewSelect().Model(&list).Scan(ctx); err != nil {
		return nil, db.Map(err)
	}
	out := make(map[string]*model.Setting, len(list))
	for _, s := range list {
		out[s.Key] = s
	}
	return out, nil
}

// LockSettings is Settings for who changes some of them: others wait.
func LockSettings(ctx context.Context, tx db.DirectoryTx) (map[string]*model.Setting, error) {
	if _, err := tx.NewRaw("LOCK TABLE directory.instance_settings IN SHARE ROW EXCLUSIVE MODE").Exec(ctx); err != nil {
		return nil, db.Map(err)
	}
	return Settings(ctx, tx.Directory)
}

// SetSetting sets a text.
func SetSetting(ctx context.Context, tx db.DirectoryTx, key, value string, by int64) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	row := &model.Setting{Key: key, Value: data, UpdatedBy: by, UpdatedAt: tx.Now()}
	_, err = tx.NewInsert().Model(row).On("CONFLICT (key) DO UPDATE").Set("value = EXCLUDED.value").
		Set("updated_by = EXCLUDED.updated_by").Set("updated_at = EXCLUDED.updated_at").Exec(ctx)
	return db.Map(err)
}

// UnsetSetting forgets what was set.
func UnsetSetting(ctx context.Context, tx db.DirectoryTx, key string) error {
	_, err := tx.NewRaw("DELETE FROM directory.instance_settings WHERE key = ?", key).Exec(ctx)
	return db.Map(err)
}

// Note writes down what an administrator did.
func Note(ctx context.Context, tx db.DirectoryTx, a *model.AdminAction) error {
	a.CreatedAt = tx.Now()
	_, err := tx.NewInsert().Model(a).ExcludeColumn("id").Returning("id").Exec(ctx)
	return db.Map(err)
}

// Notes lists what administrators did whose action begins with prefix, the
// newest first.
func Notes(ctx context.Context, dir db.Directory, prefix string, limit int) ([]*model.AdminAction, error) {
	var list []*model.AdminAction
	err := dir.NewSelect().Model(&list).Where("starts_with(action, ?)", prefix).Order("id DESC").Limit(int64(limit)).Scan(ctx)
	return list, db.Map(err)
}
