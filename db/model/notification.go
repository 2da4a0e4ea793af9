package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Reasons for which somebody is told of something, by GitHub's names
// (https://docs.github.com/rest/activity/notifications#about-notification-reasons).
const (
	ToldReview     = "review_requested"
	ToldMention    = "mention"
	ToldAssign     = "assign"
	ToldTeam       = "team_mention"
	ToldSecurity   = "security_alert"
	ToldCI         = "ci_activity"
	ToldAuthor     = "author"
	ToldComment    = "comment"
	ToldManual     = "manual"
	ToldState      = "state_change"
	ToldSubscribed = "subscribed"
)

// ToldReasons lists the reasons, the strongest first: one event has one reason
// for a person, the strongest.
func ToldReasons() []string {
	return []string{ToldReview, ToldMention, ToldAssign, ToldTeam, ToldSecurity, ToldCI, ToldAuthor, ToldComment, ToldManual,
		ToldState, ToldSubscribed}
}

// Kinds of what notifications are about beside the kinds of threads.
const (
	KindRelease = "release"
	KindCommit  = "commit"
)

// Notification is a row of a person's inbox: one thread, and what is new in it
// for them.
type Notification struct {
	bun.BaseModel `bun:"table:?scope.notifications,alias:n"`

	ID     int64  `bun:"id,pk"`
	RepoID int64  `bun:"repo_id"`
	Kind   string `bun:"kind"`
	// Key names the thread in its repository: a number, a tag, a commit.
	Key   string `bun:"key"`
	Title string `bun:"title"`
	// State is open, draft, merged, closed, completed, not_planned or
	// duplicate; "" for what has none.
	State    string `bun:"state"`
	AuthorID int64  `bun:"author_id"`
	Reason   string `bun:"reason"`
	// ActorID did What (an event's type) last.
	ActorID      int64      `bun:"actor_id"`
	What         string     `bun:"what"`
	CommentID    int64      `bun:"comment_id"`
	News         int        `bun:"news"`
	Unread       bool       `bun:"unread"`
	Saved        bool       `bun:"saved"`
	TurnAt       *time.Time `bun:"turn_at"`
	SnoozedUntil *time.Time `bun:"snoozed_until"`
	DoneAt       *time.Time `bun:"done_at"`
	ReadAt       *time.Time `bun:"read_at"`
	DigestAt     *time.Time `bun:"digest_at"`
	Seq          int64      `bun:"seq"`
	CreatedAt    time.Time  `bun:"created_at"`
	UpdatedAt    time.Time  `bun:"updated_at"`
}

// Snoozed says that the row is hidden until later.
func (n *Notification) Snoozed(now time.Time) bool {
	return n.SnoozedUntil != nil && n.SnoozedUntil.After(now)
}

// InboxDelivery is an event that waits for an account to take it into its inbox.
type InboxDelivery struct {
	bun.BaseModel `bun:"table:cell.deliveries,alias:d"`

	AccountID int64     `bun:"account_id,pk"`
	EventID   string    `bun:"event_id,pk"`
	Seq       int64     `bun:"seq"`
	Item      InboxItem `bun:"item,type:jsonb"`
}

// Turns that an event gives or takes.
const (
	TurnBegins = 1
	TurnEnds   = -1
)

// InboxItem is what a delivery says.
type InboxItem struct {
	RepoID    int64     `json:"repo"`
	Kind      string    `json:"kind"`
	Key       string    `json:"key"`
	Title     string    `json:"title"`
	State     string    `json:"state,omitempty"`
	AuthorID  int64     `json:"author,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	ActorID   int64     `json:"actor,omitempty"`
	What      string    `json:"what"`
	CommentID int64     `json:"comment,omitempty"`
	At        time.Time `json:"at"`
	// Quiet brings a row up to date and makes none.
	Quiet bool `json:"quiet,omitempty"`
	// Gone takes the row away: the person may not see it any more.
	Gone bool `json:"gone,omitempty"`
	// Turn is TurnBegins, TurnEnds or 0.
	Turn int `json:"turn,omitempty"`
	// Hidden keeps it out of the inbox: only the digest tells of it.
	Hidden   bool       `json:"hidden,omitempty"`
	DigestAt *time.Time `json:"digest,omitempty"`
}

// Channels are the ways in which somebody is told.
type Channels struct {
	Web    bool `json:"web"`
	Mail   bool `json:"mail"`
	Push   bool `json:"push"`
	Digest bool `json:"digest"`
}

// How often a digest comes.
const (
	DigestDaily  = "daily"
	DigestWeekly = "weekly"
)

// NotifySettings is what a person chose about being told; kept in the
// directory, because telling many people of one event reads it of each. Its
// zero value is not the default: see Notify.
type NotifySettings struct {
	// Reasons that are not in it have the default channels.
	Reasons map[string]Channels `json:"reasons,omitempty"`
	// Digest is how often, at Hour (0 to 23) of the person's time zone, and
	// on Weekday (0 is Sunday) for a weekly one.
	Digest  string `json:"digest,omitempty"`
	Hour    int    `json:"hour"`
	Weekday int    `json:"weekday"`
	// Quiet keeps mail and pushes back between QuietFrom and QuietTo, hours
	// of the day; what was kept back comes at their end, in one mail.
	Quiet     bool `json:"quiet,omitempty"`
	QuietFrom int  `json:"quiet_from"`
	QuietTo   int  `json:"quiet_to"`
	// Email is the address for this mail, "" the primary one.
	Email string `json:"email,omitempty"`
}

// DefaultNotify is what people have who chose nothing.
func DefaultNotify() NotifySettings {
	return NotifySettings{Hour: 8, Weekday: 1, QuietFrom: 22, QuietTo: 7, Digest: DigestDaily}
}

// For are the channels of a reason.
func (s *NotifySettings) For(reason string) Channels {
	if c, ok := s.Reasons[reason]; ok {
		return c
	}
	return Channels{Web: true, Mail: true, Push: reason == ToldReview || reason == ToldMention || reason == ToldAssign}
}

// HoldUntil is when mail may go out that is written at now: now itself outside
// the quiet hours, else their end.
func (s *NotifySettings) HoldUntil(now time.Time, zone string) time.Time {
	local := now.In(location(zone))
	h := local.Hour()
	inside := s.QuietFrom <= h && h < s.QuietTo
	if s.QuietFrom > s.QuietTo {
		inside = h >= s.QuietFrom || h < s.QuietTo
	}
	if !s.Quiet || !inside || s.QuietFrom == s.QuietTo {
		return now
	}
	return nextHour(local, s.QuietTo)
}

// NextDigest is when the next digest is due after now; the zero time when the
// person wants none.
func (s *NotifySettings) NextDigest(now time.Time, zone string) time.Time {
	local := now.In(location(zone))
	at := nextHour(local, s.Hour)
	switch s.Digest {
	case DigestDaily:
		return at
	case DigestWeekly:
		for int(at.In(local.Location()).Weekday()) != s.Weekday {
			at = nextHour(at.In(local.Location()), s.Hour)
		}
		return at
	}
	return time.Time{}
}

// nextHour is the next time after local at which its clock shows hour:00.
func nextHour(local time.Time, hour int) time.Time {
	at := time.Date(local.Year(), local.Month(), local.Day(), hour, 0, 0, 0, local.Location())
	if !at.After(local) {
		at = time.Date(local.Year(), local.Month(), local.Day()+1, hour, 0, 0, 0, local.Location())
	}
	return at.UTC()
}

func location(zone string) *time.Location {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return time.UTC
	}
	return loc
}
