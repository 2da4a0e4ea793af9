package admin

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/adminview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// historyShown is how many changes of settings the page lists.
const historyShown = 50

func (s *Service) settings(c *web.Ctx) error { return s.showSettings(c, nil, nil) }

// showSettings shows the page; with what was typed in place of the values
// where it was refused.
func (s *Service) showSettings(c *web.Ctx, typed map[string]*string, errs fault.Fields) error {
	values, err := s.Instance.List(c.Context())
	if err != nil {
		return err
	}
	history, err := s.Instance.History(c.Context(), historyShown)
	if err != nil {
		return err
	}
	people, err := s.people(c, values, history)
	if err != nil {
		return err
	}
	var p adminview.SettingsProps
	for _, v := range values {
		row := settingRow(v, people)
		if t, ok := typed[v.Key]; ok && t != nil {
			row.Value = *t
		}
		if n := len(p.Sections); n == 0 || p.Sections[n-1].Name != v.Section {
			p.Sections = append(p.Sections, adminview.SettingsSection{Name: v.Section})
		}
		last := &p.Sections[len(p.Sections)-1]
		last.Rows = append(last.Rows, row)
	}
	for _, h := range history {
		change := adminview.SettingChange{At: h.CreatedAt, Remote: h.Remote, Key: h.Subject, Before: text(h.Before), After: text(h.After)}
		if set, ok := instance.Find(h.Subject); ok {
			change.Key = set.Label
		}
		if a := people[h.ActorID]; a != nil {
			change.By = a.Name
		}
		p.History = append(p.History, change)
	}
	status := http.StatusOK
	if len(errs) > 0 {
		status, p.Errors = http.StatusUnprocessableEntity, ui.Errors(errs)
	}
	return render(c, status, "settings", "Settings", adminview.Settings(p))
}

func (s *Service) people(c *web.Ctx, values []instance.Value, history []*model.AdminAction) (map[int64]*model.Account, error) {
	var ids []int64
	for _, v := range values {
		ids = append(ids, v.By)
	}
	for _, h := range history {
		ids = append(ids, h.ActorID)
	}
	return accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
}

func settingRow(v instance.Value, people map[int64]*model.Account) adminview.Setting {
	row := adminview.Setting{Key: v.Key, Label: v.Label, Doc: v.Doc, Unit: v.Unit, Value: v.Value, Default: v.Default,
		Number: v.Number(), Switch: v.Switch(), Long: v.Long, Secret: v.Secret, Set: v.Set,
		Fixed: v.Source == instance.FromEnvironment, Changed: v.Source == instance.FromPage, At: v.At}
	if row.Fixed {
		row.Env = v.EnvName()
	}
	for _, o := range v.Options {
		row.Options = append(row.Options, ui.Option{Value: o.Value, Label: o.Label, Hint: o.Doc})
	}
	if a := people[v.By]; a != nil {
		row.By = a.Name
	}
	return row
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// settingsSave takes the form of one section.
func (s *Service) settingsSave(c *web.Ctx) error {
	section := c.R.PostFormValue("section")
	values, err := s.Instance.List(c.Context())
	if err != nil {
		return err
	}
	changed := map[string]*string{}
	for _, v := range values {
		if v.Section != section || v.Source == instance.FromEnvironment {
			continue
		}
		if _, sent := c.R.PostForm[v.Key]; !sent && !v.Switch() {
			continue
		}
		typed := strings.ReplaceAll(c.R.PostFormValue(v.Key), "\r\n", "\n")
		switch {
		case v.Switch() && typed != "true":
			typed = "false"
		case v.Secret && typed == "":
			continue // an empty field keeps it
		case !v.Secret:
			typed = strings.TrimSpace(typed)
		}
		if v.Secret || typed != v.Value {
			changed[v.Key] = &typed
		}
	}
	err = s.Instance.Change(c.Context(), c.Viewer, c.Remote, changed)
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid && len(f.Fields) > 0 {
		return s.showSettings(c, changed, f.Fields)
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.Admin("settings"), "The settings are saved and in force.")
}

func (s *Service) settingsReset(c *web.Ctx) error {
	if err := s.Instance.Change(c.Context(), c.Viewer, c.Remote, map[string]*string{c.R.PostFormValue("key"): nil}); err != nil {
		return err
	}
	return c.RedirectFlash(link.Admin("settings"), "The default is in force again.")
}
