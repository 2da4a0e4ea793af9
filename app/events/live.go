package events

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/live"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Topics of live pages: what happens in a repository, in one of its threads,
// to a person, and who looks at a thread.
const (
	topicRepo   = "repo"
	topicThread = "thread"
	topicUser   = "user"
	topicHere   = "here"
)

// liveChannel is the channel of the bus for what open pages must know and is
// no event, such as a person's new notification; the payload is a message.
const liveChannel = "live"

// Live feeds the hub of open pages from the log.
type Live struct {
	Hub *live.Hub

	s    *Service
	grow chan eventdb.Growth
	stop context.CancelFunc
	done chan struct{}
	off  []func()
}

// NewLive makes the hub of s's log.
func NewLive(s *Service) *Live {
	l := &Live{s: s, grow: make(chan eventdb.Growth, 1000)}
	l.Hub = live.NewHub(live.Rules{Allow: l.allow, Missed: l.missed})
	return l
}

// Poke tells a person's open pages, in every process, that something of theirs
// changed; kind says what, such as "inbox".
func (s *Service) Poke(ctx context.Context, accountID int64, kind string) {
	text, err := json.Marshal(live.Message{Topic: topicUser + ":" + strconv.FormatInt(accountID, 10), Kind: kind})
	if err == nil {
		s.db.Bus().Notify(ctx, liveChannel, string(text))
	}
}

// Start feeds the hub.
func (l *Live) Start(ctx context.Context) error {
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.done = make(chan struct{})
	bus := l.s.db.Bus()
	l.off = []func(){
		bus.Subscribe(db.LogChannel, func(payload string) {
			var g eventdb.Growth
			if json.Unmarshal([]byte(payload), &g) != nil || !l.wanted(g) {
				return
			}
			select {
			case l.grow <- g:
			default: // far behind: pages look again at the next event
			}
		}, nil),
		bus.Subscribe(liveChannel, func(payload string) {
			var m live.Message
			if json.Unmarshal([]byte(payload), &m) == nil {
				l.Hub.Publish(m)
			}
		}, nil),
	}
	go func() {
		defer close(l.done)
		for {
			select {
			case <-ctx.Done():
				return
			case g := <-l.grow:
				l.feed(ctx, g)
			}
		}
	}()
	return l.Hub.Start(ctx)
}

// Stop closes the sockets.
func (l *Live) Stop(ctx context.Context) error {
	for _, off := range l.off {
		off()
	}
	l.stop()
	<-l.done
	return l.Hub.Stop(ctx)
}

// wanted says whether somebody here may follow what the log grew by.
func (l *Live) wanted(g eventdb.Growth) bool {
	return l.Hub.Sockets() > 0 && len(g.Repos)+len(g.Accounts) > 0
}

// access are the events after which who may see what is looked at anew.
func access() []string {
	return []string{"repo.visibility_changed", "repo.transferred", "repo.deleted", "collaborator.*", "team.*",
		"workspace.*", "user.deleted", "user.restored", "issue.made_confidential", "discussion.made_confidential"}
}

func (l *Live) feed(ctx context.Context, g eventdb.Growth) {
	list, err := eventdb.Range(ctx, l.s.db.Events(), g.At, g.From, g.To)
	if err != nil {
		l.s.log.WarnContext(ctx, "open pages miss a change", "err", err)
		return
	}
	for _, e := range list {
		// First who may see it, then that it happened.
		if Matches(access(), e.Type) {
			l.Hub.Recheck(ctx, func(topic string) bool {
				return e.RepoID == 0 || !strings.HasPrefix(topic, topicUser+":") && strings.HasPrefix(afterKind(topic)+":", strconv.FormatInt(e.RepoID, 10)+":")
			})
		}
		for _, topic := range topicsOf(e) {
			l.Hub.Publish(live.Message{Topic: topic, Seq: e.Seq, Kind: e.Type})
		}
	}
}

func afterKind(topic string) string {
	_, rest, _ := strings.Cut(topic, ":")
	return rest
}

// topicsOf are the topics that an event changes.
func topicsOf(e *model.Event) []string {
	if e.RepoID == 0 {
		return nil
	}
	repo := strconv.FormatInt(e.RepoID, 10)
	var data struct {
		Number       int64 `json:"number"`
		Confidential bool  `json:"confidential"`
	}
	var topics []string
	if err := json.Unmarshal(e.Data, &data); err == nil && data.Number > 0 {
		topics = append(topics, topicThread+":"+repo+":"+strconv.FormatInt(data.Number, 10))
	}
	if !data.Confidential {
		topics = append(topics, topicRepo+":"+repo)
	}
	return topics
}

// allow says whether v may follow a topic.
func (l *Live) allow(ctx context.Context, v *model.Viewer, topic string) (ok, present bool) {
	kind, rest, _ := strings.Cut(topic, ":")
	first, second, _ := strings.Cut(rest, ":")
	id, err := strconv.ParseInt(first, 10, 64)
	if err != nil || id <= 0 {
		return false, false
	}
	number, err := strconv.ParseInt(second, 10, 64)
	switch kind {
	case topicUser:
		return second == "" && v.ID() == id, false
	case topicRepo:
		return second == "" && l.mayRead(ctx, v, id, 0), false
	case topicThread:
		return err == nil && number > 0 && l.mayRead(ctx, v, id, number), false
	case topicHere:
		return err == nil && number > 0 && v.SignedIn() && l.mayRead(ctx, v, id, number), true
	}
	return false, false
}

func (l *Live) mayRead(ctx context.Context, v *model.Viewer, repoID, number int64) bool {
	repo, role, err := repodb.FindID(ctx, l.s.db.Directory(), repoID, v.ID())
	if err != nil || !v.Reaches(repo.ID, repo.IsPrivate(), false) {
		return false
	}
	if number == 0 || role.AtLeast(model.RoleTriage) {
		return true
	}
	thread, err := threaddb.Find(ctx, l.s.db.Repo(repoID), number)
	if errors.Is(err, db.ErrNotFound) {
		return true // what is not kept as a thread is as readable as the repository
	}
	return err == nil && thread.VisibleTo(v.ID(), role)
}

// missed is the newest change of a topic that a page does not know.
func (l *Live) missed(ctx context.Context, topic string, seq int64, since time.Time) (live.Message, bool) {
	kind, rest, _ := strings.Cut(topic, ":")
	first, _, _ := strings.Cut(rest, ":")
	id, err := strconv.ParseInt(first, 10, 64)
	if err != nil || kind != topicRepo && kind != topicThread {
		return live.Message{}, false
	}
	after := &model.Event{At: since, Seq: 0}
	if seq > 0 {
		if after, err = eventdb.BySeq(ctx, l.s.db.Events(), seq); err != nil {
			return live.Message{}, false
		}
		after.Seq = seq
	}
	list, err := eventdb.List(ctx, l.s.db.Events(), eventdb.Filter{RepoID: id, After: after, Limit: 200})
	if err != nil {
		return live.Message{}, false
	}
	m, found := live.Message{}, false
	for _, e := range list {
		for _, t := range topicsOf(e) {
			if t == topic {
				m, found = live.Message{Topic: topic, Seq: e.Seq, Kind: e.Type}, true
			}
		}
	}
	return m, found
}
