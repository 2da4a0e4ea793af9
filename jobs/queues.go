// Package jobs runs what happens after a request: River's workers, the
// sequencer of events and the clock of alarms. A worker loads nothing and
// decides nothing: it calls the feature whose args it takes.
package jobs

import (
	"maps"
	"slices"
	"time"

	"github.com/gitfor/gitfor/app/alarms"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/mail"
	"github.com/gitfor/gitfor/app/notifications"
	"github.com/gitfor/gitfor/app/state"
	"github.com/riverqueue/river"
)

// Names of the queues beside those of the events' subscribers.
const (
	QueueDefault = river.QueueDefault
	QueueAlarms  = alarms.Queue
	QueueGit     = "git"
	QueueMail    = mail.Queue
	QueuePush    = notifications.PushQueue
)

// queue says how many jobs of a queue run at once in one process, and how
// long each may take.
type queue struct {
	workers int
	timeout time.Duration
}

// rescueAfter is when a job that is still marked as running is taken for
// lost: a while after the longest timeout.
const rescueAfter = 12 * time.Minute

// idlePoll is how often a queue without notices is looked at. Every queue
// asks by itself, so this bounds what an idle server costs.
const idlePoll = 15 * time.Second

func queues() map[string]queue {
	all := map[string]queue{
		QueueDefault: {10, time.Minute},
		QueueAlarms:  {8, 2 * time.Minute},
		QueueGit:     {2, 10 * time.Minute},
		QueueMail:    {4, time.Minute},
		QueuePush:    {4, time.Minute},
		state.Queue:  {1, 10 * time.Minute},
	}
	for _, r := range events.Routes() {
		all[events.QueuePrefix+r.Service] = queue{4, 2 * time.Minute}
	}
	return all
}

// QueueNames are the names of all queues, sorted.
func QueueNames() []string { return slices.Sorted(maps.Keys(queues())) }

func queueConfig() map[string]river.QueueConfig {
	out := map[string]river.QueueConfig{}
	for name, q := range queues() {
		out[name] = river.QueueConfig{MaxWorkers: q.workers}
	}
	return out
}

func timeoutOf(queueName string) time.Duration {
	if q, ok := queues()[queueName]; ok {
		return q.timeout
	}
	return time.Minute
}
