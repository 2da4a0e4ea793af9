// Package admin is the operator's pages about the instance's machinery: the
// jobs with their dead letters, and the log of events with those that are
// behind it.
package admin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/perms"
	"github.com/gitfor/gitfor/app/state"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/adminview"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
)

// Machinery is the pages about jobs and events.
type Machinery struct {
	State  *state.Service
	DB     *db.DB
	Gate   *perms.Gate
	Events *events.Service
}

// Routes registers the pages.
func (m *Machinery) Routes(r *web.Router) {
	admin := m.Gate.SiteAdmin()
	r.Get("/admin/jobs", admin, m.jobs)
	r.Post("/admin/jobs/{job}/retry", admin, m.retry)
	r.Post("/admin/jobs/{job}/delete", admin, m.forget)
	r.Post("/admin/backfills/{name}/run", admin, m.runBackfill)
	r.Get("/admin/events", admin, m.events)
}

// shownDead is how many dead letters the page lists.
const shownDead = 100

func (m *Machinery) jobs(c *web.Ctx) error {
	queues, err := eventdb.Queues(c.Context(), m.DB)
	if err != nil {
		return err
	}
	dead, err := m.DB.DeadLetters(c.Context(), shownDead)
	if err != nil {
		return err
	}
	var p adminview.JobsProps
	for _, q := range queues {
		p.Queues = append(p.Queues, adminview.Queue{Name: q.Queue, Waiting: q.Waiting, Running: q.Running, Later: q.Later, Dead: q.Dead})
	}
	for _, job := range dead {
		d := adminview.Dead{ID: job.ID, Kind: job.Kind, Queue: job.Queue, Args: string(job.EncodedArgs), Made: job.CreatedAt}
		for _, e := range job.Errors {
			d.Errors = append(d.Errors, e.At.UTC().Format(time.RFC3339)+"  "+e.Error)
		}
		if n := len(job.Errors); n > 0 {
			d.Last, d.At = job.Errors[n-1].Error, job.Errors[n-1].At
		}
		p.Dead = append(p.Dead, d)
	}
	backfills, err := m.State.Backfills(c.Context())
	if err != nil {
		return err
	}
	for _, b := range backfills {
		p.Backfills = append(p.Backfills, adminview.Backfill{Name: b.Name, About: b.About, Run: b.Run})
	}
	return m.page(c, "jobs", "Jobs", adminview.Jobs(p))
}

func (m *Machinery) runBackfill(c *web.Ctx) error {
	if err := m.State.RunBackfill(c.Context(), c.Param("name")); err != nil {
		return err
	}
	return c.RedirectFlash(link.Admin("jobs"), "The backfill runs.")
}

func (m *Machinery) page(c *web.Ctx, key, title string, body templ.Component) error {
	return c.Render(web.Page{Status: http.StatusOK, Title: title + " · Administration", Shell: layout.AdminShell(key), Body: body})
}

// act does what a button of a job says.
func (m *Machinery) act(c *web.Ctx, do func(ctx context.Context, jobID int64) error, done string) error {
	id, err := c.ParamInt("job")
	if err != nil {
		return err
	}
	if err := do(c.Context(), id); err != nil {
		return err
	}
	return c.RedirectFlash(link.Admin("jobs"), done)
}

func (m *Machinery) retry(c *web.Ctx) error {
	return m.act(c, m.DB.Replay, "The job is tried once more.")
}

func (m *Machinery) forget(c *web.Ctx) error {
	return m.act(c, m.DB.ForgetJob, "The job is gone.")
}

// eventsShown is how many events a page of the log shows.
const eventsShown = 50

func (m *Machinery) events(c *web.Ctx) error {
	in := events.ListInput{Limit: eventsShown + 1, Types: strings.Fields(c.Query("q"))}
	page := c.QueryInt("page", 1, 1, 1000)
	in.Offset = (page - 1) * eventsShown
	list, err := m.Events.List(c.Context(), in)
	if err != nil {
		return err
	}
	list, more := api.Cut(list, eventsShown)
	var people, repos []int64
	for _, e := range list {
		if e.ActorID != 0 {
			people = append(people, e.ActorID)
		}
		if e.RepoID != 0 {
			repos = append(repos, e.RepoID)
		}
	}
	accounts, err := accountdb.ByIDs(c.Context(), m.DB.Directory(), people...)
	if err != nil {
		return err
	}
	names, err := repodb.ByIDs(c.Context(), m.DB.Directory(), repos)
	if err != nil {
		return err
	}
	p := adminview.EventsProps{Query: c.Query("q"), Page: page, More: more}
	for _, e := range list {
		row := adminview.Event{Seq: e.Seq, ID: e.EventID, Type: e.Type, At: e.Time, Data: string(e.Data)}
		if a := accounts[e.ActorID]; a != nil {
			row.Actor = a.Name
		}
		if r := names[e.RepoID]; r != nil && r.Owner != nil {
			row.Repo, row.RepoHref = r.FullName(), link.Repo(r.Owner.Name, r.Name)
		}
		p.Events = append(p.Events, row)
	}
	if p.Waiting, err = eventdb.Unsequenced(c.Context(), m.DB); err != nil {
		return err
	}
	behind := map[string]eventdb.Lag{}
	lags, err := eventdb.Lags(c.Context(), m.DB, time.Now())
	if err != nil {
		return err
	}
	for _, l := range lags {
		behind[l.Subscriber] = l
	}
	for _, sub := range m.Events.Subscribers() {
		l := behind[sub.Name]
		p.Subscribers = append(p.Subscribers, adminview.Subscriber{Name: sub.Name, Queue: events.QueuePrefix + sub.Service,
			Waiting: l.Waiting, Dead: l.Dead, Age: l.Age.Round(time.Second)})
	}
	return m.page(c, "events", "Events", adminview.Events(p))
}
