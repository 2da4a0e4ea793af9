// Package webhookview shows webhooks and what was delivered to them.
package webhookview

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/ui"
)

// Place is where hooks are kept: Base is the address of their list.
type Place struct {
	Base string
	// Whose says whose events they tell, such as "this repository".
	Whose string
}

func (p Place) hook(id int64) string { return p.Base + "/" + strconv.FormatInt(id, 10) }

func (p Place) delivery(dl *model.Delivery) string {
	return p.hook(dl.HookID) + "/deliveries/" + strconv.FormatInt(dl.ID, 10)
}

// ListProps is what the list of hooks shows.
type ListProps struct {
	Place
	Hooks []*model.Hook
}

// FormProps is what the form of a hook shows.
type FormProps struct {
	Place
	Hook *model.Hook
	// Events is the text of the events' field, Secret whether there is one.
	Events string
	Errors ui.Errors
}

func (p FormProps) fresh() bool { return p.Hook.ID == 0 }

func (p FormProps) action() string {
	if p.fresh() {
		return p.Base
	}
	return p.hook(p.Hook.ID)
}

func (p FormProps) secretHint() string {
	if p.Hook.Secret != nil {
		return "A secret is set and not shown. What you write here takes its place."
	}
	return "Each request is signed with it, so that the receiver knows who sent it."
}

// ShowProps is what the page of a hook shows.
type ShowProps struct {
	FormProps
	Deliveries []*model.Delivery
	Query      string
	Older      string
	Failed     bool // some of those shown failed
}

// DeliveryProps is what the page of a delivery shows.
type DeliveryProps struct {
	Place
	Hook     *model.Hook
	Delivery *model.Delivery
}

func state(dl *model.Delivery) ui.State {
	switch dl.State {
	case model.DeliveryDone:
		return ui.State{Kind: "success", Word: "Delivered"}
	case model.DeliveryFailed:
		return ui.State{Kind: "failure", Word: "Failed"}
	}
	if len(dl.Attempts) > 0 {
		return ui.State{Kind: "warning", Word: "Will be tried again"}
	}
	return ui.State{Kind: "pending", Word: "On its way"}
}

func health(h *model.Hook) ui.State {
	switch {
	case !h.Active:
		return ui.State{Kind: "skipped", Word: "Off"}
	case h.Failures > 0:
		return ui.State{Kind: "failure", Word: "Failing"}
	case h.Last != nil:
		return ui.State{Kind: "success", Word: "Working"}
	}
	return ui.State{Kind: "neutral", Word: "Nothing sent yet"}
}

func outcome(t model.HookTry) string {
	switch {
	case t.Error != "":
		return t.Error
	case t.Status != 0:
		return fmt.Sprintf("%d %s", t.Status, http.StatusText(t.Status))
	}
	return "No answer yet"
}

func took(t model.HookTry) string {
	return (time.Duration(t.Millis) * time.Millisecond).String()
}

func name(dl *model.Delivery) string {
	if dl.Action != "" {
		return dl.Event + " · " + dl.Action
	}
	return dl.Event
}

// headers writes headers as they are sent, sorted.
func headers(m map[string]string) string {
	lines := make([]string, 0, len(m))
	for k, v := range m {
		lines = append(lines, k+": "+v)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// pretty indents a document; anything else stays.
func pretty(s string) string {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return s
	}
	return string(b)
}

func stateRef(s ui.State) *ui.State { return &s }

func join(list []string) string { return strings.Join(list, ", ") }

func failing(h *model.Hook) string {
	s := fmt.Sprintf("The last %d attempts failed", h.Failures)
	if h.Failures == 1 {
		s = "The last attempt failed"
	}
	if h.FailingSince != nil {
		s += ", since " + h.FailingSince.UTC().Format("2 Jan 2006, 15:04 UTC")
	}
	if h.Last != nil {
		s += ": " + outcome(*h.Last)
	}
	return s + "."
}
