package admin

import (
	"time"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/views/adminview"
)

// health is the first page: is all well, and how much of what there is.
func (s *Service) health(c *web.Ctx) error {
	p := adminview.HealthProps{Version: s.Version}
	for _, check := range s.Checks {
		detail, err := check.Run(c.Context())
		row := adminview.Check{Name: check.Name, Detail: detail, Good: err == nil}
		if err != nil {
			row.Detail = err.Error()
		}
		p.Checks = append(p.Checks, row)
	}
	totals, err := accountdb.TotalsOf(c.Context(), s.DB.Directory())
	if err != nil {
		return err
	}
	p.Totals = []adminview.Tally{{Name: "People", N: int64(totals.Users), Href: "accounts?state=people"},
		{Name: "Organisations", N: int64(totals.Orgs), Href: "accounts?state=organizations"},
		{Name: "Repositories", N: int64(totals.Repos), Href: "repositories"},
		{Name: "Suspended", N: int64(totals.Suspended), Href: "accounts?state=suspended"},
		{Name: "In the restore window", N: int64(totals.Deleted), Href: "repositories?state=deleted"}}
	if p.Unsequenced, err = eventdb.Unsequenced(c.Context(), s.DB); err != nil {
		return err
	}
	lags, err := eventdb.Lags(c.Context(), s.DB, time.Now())
	if err != nil {
		return err
	}
	for _, l := range lags {
		p.Dead += l.Dead
		p.Behind += l.Waiting
		p.Oldest = max(p.Oldest, l.Age.Round(time.Second))
	}
	return render(c, 0, "", "Health", adminview.Health(p))
}
