package app

import (
	"net/netip"
	"strconv"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics is what Prometheus reads.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	queries  *prometheus.CounterVec
	rest     rest
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "gitfor_request_seconds",
			Help: "Time to answer requests.", Buckets: []float64{.002, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 10}},
			[]string{"door", "method", "status"}),
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "gitfor_request_queries_total",
			Help: "Statements sent to the database for requests."}, []string{"door"}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.requests, m.queries)
	return m
}

func (m *metrics) observe(o web.Observation) {
	if !probed(o.Pattern) {
		m.rest.requests.Add(1)
	}
	m.requests.WithLabelValues(o.Door.String(), o.Method, strconv.Itoa(o.Status)).Observe(o.Took.Seconds())
	m.queries.WithLabelValues(o.Door.String()).Add(float64(o.Queries))
}

// Collect adds further metrics, such as a feature's.
func (a *App) Collect(c prometheus.Collector) error { return a.metrics.registry.Register(c) }

// serve answers Prometheus: on loopback, or for an administrator's token.
func (m *metrics) serve(c *web.Ctx) error {
	addr, err := netip.ParseAddr(c.Remote)
	direct := err == nil && addr.IsLoopback() && c.R.Header.Get("X-Forwarded-For") == ""
	if !direct && !c.Viewer.Admin() {
		return fault.New(fault.Unauthorized, "Metrics are for this machine, or need an administrator's token.")
	}
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(c.W, c.R)
	return nil
}
