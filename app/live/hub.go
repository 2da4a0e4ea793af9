// Package live tells open pages that something changed: one WebSocket a tab
// carries the topics that its page shows, and the page fetches what it needs
// anew. Messages are JSON text frames.
//
// From the page: {"subscribe": ["repo:1"], "since": 123, "age": 350} and
// {"unsubscribe": […]}. since is the newest seq that the page knows, age how
// many milliseconds ago it was made; either lets the hub tell what came
// between. To the page: {"topic", "seq", "kind"}, with "jitter" (milliseconds
// within which to spread fetches) where many listen, or {"topic", "present":
// […]} on topics of presence. An empty object keeps the line open.
package live

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/gitfor/gitfor/db/model"
)

// pause is the time between two messages of a topic; the first is sent at once.
const pause = time.Second

// crowd is the number of listeners above which they spread their fetches.
const crowd = 50

// maxTopics bounds the topics of one socket.
const maxTopics = 50

// Message tells that a topic changed.
type Message struct {
	Topic  string `json:"topic"`
	Seq    int64  `json:"seq,omitempty"`
	Kind   string `json:"kind,omitempty"`
	Jitter int    `json:"jitter,omitempty"`
}

// Person is somebody who is here.
type Person struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
}

type presence struct {
	Topic   string   `json:"topic"`
	Present []Person `json:"present"`
}

// Rules is what the hub asks about topics.
type Rules struct {
	// Allow says whether a viewer may follow a topic, and whether those who
	// follow it see each other.
	Allow func(ctx context.Context, v *model.Viewer, topic string) (ok, present bool)
	// Missed returns the newest change of a topic after seq, or since a
	// time where seq is zero; false when there is none.
	Missed func(ctx context.Context, topic string, seq int64, since time.Time) (Message, bool)
}

// Hub is the open sockets of this process.
type Hub struct {
	rules Rules

	mu     sync.Mutex
	topics map[string]*topic
	socks  map[*socket]bool
	// base is what sockets live in; nil while the hub does not run.
	base context.Context
	stop context.CancelFunc
}

type topic struct {
	socks   map[*socket]bool
	present bool
	last    time.Time
	next    *Message // waits for the pause to end
	timer   bool
	came    bool // a presence message waits
}

// NewHub makes a hub.
func NewHub(rules Rules) *Hub {
	return &Hub{rules: rules, topics: map[string]*topic{}, socks: map[*socket]bool{}}
}

// Sockets is how many sockets are open.
func (h *Hub) Sockets() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.socks)
}

// Followed says whether somebody follows the topic.
func (h *Hub) Followed(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.topics[name] != nil
}

// Publish tells the followers of a topic that it changed: at once, or at the
// end of the pause after the message before, as one with what else came.
func (h *Hub) Publish(m Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[m.Topic]
	if t == nil {
		return
	}
	if left := pause - time.Since(t.last); left > 0 {
		if t.next == nil || t.next.Seq <= m.Seq {
			t.next = &m
		}
		h.later(m.Topic, t, left)
		return
	}
	h.spread(t, m)
}

// later flushes a topic when its pause is over.
func (h *Hub) later(name string, t *topic, in time.Duration) {
	if t.timer {
		return
	}
	t.timer = true
	time.AfterFunc(in, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		t.timer = false
		if h.topics[name] != t {
			return
		}
		if m := t.next; m != nil {
			t.next = nil
			h.spread(t, *m)
		}
		if t.came {
			h.tellPresent(name, t)
		}
	})
}

func (h *Hub) spread(t *topic, m Message) {
	t.last = time.Now()
	if len(t.socks) > crowd {
		m.Jitter = min(len(t.socks)*20, 10_000)
	}
	send(t, m)
}

func send(t *topic, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		return
	}
	for s := range t.socks {
		s.queue(text)
	}
}

// join adds a socket to a topic that it may follow.
func (h *Hub) join(s *socket, name string, present bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.socks[s] || s.topics[name] || len(s.topics) >= maxTopics {
		return
	}
	t := h.topics[name]
	if t == nil {
		t = &topic{socks: map[*socket]bool{}, present: present}
		h.topics[name] = t
	}
	t.socks[s], s.topics[name] = true, true
	h.presenceChanged(name, t)
}

func (h *Hub) leave(s *socket, name string) {
	t := h.topics[name]
	delete(s.topics, name)
	if t == nil || !t.socks[s] {
		return
	}
	delete(t.socks, s)
	if len(t.socks) == 0 {
		delete(h.topics, name)
		return
	}
	h.presenceChanged(name, t)
}

// presenceChanged tells soon who is here; coming and going in the same moment
// is one message.
func (h *Hub) presenceChanged(name string, t *topic) {
	if t.present {
		t.came = true
		h.later(name, t, pause/5)
	}
}

func (h *Hub) tellPresent(name string, t *topic) {
	t.came = false
	seen := map[int64]bool{}
	list := []Person{}
	for s := range t.socks {
		if id := s.viewer.ID(); id != 0 && !seen[id] && len(list) < 20 {
			seen[id] = true
			list = append(list, Person{id, s.viewer.Name()})
		}
	}
	send(t, presence{name, list})
}

// Recheck drops what sockets follow and are no longer allowed to, of the
// topics that match.
func (h *Hub) Recheck(ctx context.Context, match func(topic string) bool) {
	type pair struct {
		s     *socket
		topic string
	}
	var check []pair
	h.mu.Lock()
	for name, t := range h.topics {
		if match(name) {
			for s := range t.socks {
				check = append(check, pair{s, name})
			}
		}
	}
	h.mu.Unlock()
	for _, p := range check {
		if ok, _ := h.rules.Allow(ctx, p.s.viewer, p.topic); !ok {
			h.mu.Lock()
			h.leave(p.s, p.topic)
			h.mu.Unlock()
		}
	}
}

// Close ends the sockets of viewers that match, such as of a session that was
// revoked.
func (h *Hub) Close(match func(v *model.Viewer) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.socks {
		if match(s.viewer) {
			s.end()
		}
	}
}
