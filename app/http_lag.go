package app

import (
	"context"
	"time"

	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/prometheus/client_golang/prometheus"
)

// lagCollector tells Prometheus how far the subscribers of events are behind;
// it asks the database when it is read, so an idle server pays nothing.
type lagCollector struct {
	a *App
	// base is what each reading's deadline is made from: the collector's
	// interface gives no context.
	base                                  context.Context
	waiting, dead, age, unplaced, sockets *prometheus.Desc
	sending                               *prometheus.Desc
}

func newLagCollector(ctx context.Context, a *App) *lagCollector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &lagCollector{a: a, base: context.WithoutCancel(ctx),
		waiting:  desc("gitfor_events_waiting_jobs", "Batches of events that a subscriber has not handled yet.", "subscriber"),
		dead:     desc("gitfor_events_dead_letters", "Events that a subscriber failed on three times.", "subscriber"),
		age:      desc("gitfor_events_lag_seconds", "Age of the oldest batch that a subscriber has not handled yet.", "subscriber"),
		unplaced: desc("gitfor_events_unsequenced", "Events that are committed and not in the log yet."),
		sockets:  desc("gitfor_live_sockets", "Open pages that listen."),
		sending:  desc("gitfor_webhooks_queued", "Webhook attempts that this process makes or will make."),
	}
}

// Describe implements prometheus.Collector.
func (l *lagCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{l.waiting, l.dead, l.age, l.unplaced, l.sockets, l.sending} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (l *lagCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(l.sockets, float64(l.a.Live.Hub.Sockets()))
	gauge(l.sending, float64(l.a.Webhooks.Sender().Queued()))
	ctx, cancel := context.WithTimeout(l.base, 5*time.Second)
	defer cancel()
	behind := map[string]eventdb.Lag{}
	list, err := eventdb.Lags(ctx, l.a.DB, time.Now())
	if err != nil {
		l.a.log.WarnContext(ctx, "lag of subscribers not read", "err", err)
		return
	}
	for _, lag := range list {
		behind[lag.Subscriber] = lag
	}
	for _, sub := range l.a.Events.Subscribers() {
		lag := behind[sub.Name]
		gauge(l.waiting, float64(lag.Waiting), sub.Name)
		gauge(l.dead, float64(lag.Dead), sub.Name)
		gauge(l.age, lag.Age.Seconds(), sub.Name)
	}
	if n, err := eventdb.Unsequenced(ctx, l.a.DB); err == nil {
		gauge(l.unplaced, float64(n))
	}
}
