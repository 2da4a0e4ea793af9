package app

import (
	"context"

	"github.com/gitfor/gitfor/app/alarms"
	"github.com/gitfor/gitfor/app/events"
)

// buildEvents makes what features publish into and are woken by, before them.
func (a *App) buildEvents() {
	a.Events = events.New(a.DB, a.log, a.draining)
	a.Alarms = alarms.New(a.DB, a.log)
	a.services = append(a.services, a.DB.Bus(), a.Events)
}

// Attach adds a background service, such as the jobs, before Start.
func (a *App) Attach(s interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}) {
	a.services = append(a.services, s)
}
