// Package mirrorview shows imports and mirrors.
package mirrorview

import (
	"strconv"

	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/ui"
)

// ImportProps is the form of an import as typed.
type ImportProps struct {
	URL, Username           string
	Owner, Name, Visibility string
	Every                   int
	Owners                  []ui.Option
	Errors                  ui.Errors
}

// ProgressProps is an import that runs or failed.
type ProgressProps struct {
	Mirror         *model.Mirror
	Settings, Base string
}

// SettingsProps is the page of mirrors with the form as typed.
type SettingsProps struct {
	Base          string
	From, Pushes  []*model.Mirror
	URL, Username string
	Errors        ui.Errors
}

func act(base string, m *model.Mirror, what string) string {
	return base + "/" + strconv.FormatInt(m.ID, 10) + "/" + what
}

// state is a mirror's state as a chip.
func state(m *model.Mirror) ui.State {
	switch m.State {
	case model.MirrorOK:
		return ui.State{Kind: "success", Word: "Up to date"}
	case model.MirrorFailed:
		return ui.State{Kind: "failure", Word: "Failed"}
	case model.MirrorRunning:
		return ui.State{Kind: "running", Word: "Running"}
	}
	return ui.State{Kind: "pending", Word: "Waiting"}
}

func how(m *model.Mirror) string {
	switch {
	case m.Kind == model.MirrorImport:
		return "Imported once"
	case m.Kind == model.MirrorPush:
		return "After each push"
	case m.Every == 10:
		return "Every ten minutes"
	case m.Every == 60:
		return "Every hour"
	}
	return "Every day"
}

func phase(m *model.Mirror) string {
	if m.State == model.MirrorWaiting {
		return "Waiting for its turn"
	}
	if m.Percent > 0 {
		return m.Phase + ", " + strconv.Itoa(m.Percent) + " %"
	}
	return m.Phase
}
