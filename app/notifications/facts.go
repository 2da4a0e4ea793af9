package notifications

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/eventdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
	"github.com/gitfor/gitfor/db/pulldb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Types are the events that people may be told of, or that bring rows of
// inboxes up to date.
func Types() []string {
	return []string{"issue.*", "pull.*", "discussion.*", "comment.created", "review.*", "release.published", "status.created", "check.completed"}
}

// facts is what an event says, of all that the features put into theirs.
type facts struct {
	Number       int64    `json:"number"`
	Kind         string   `json:"kind"`
	Title        string   `json:"title"`
	State        string   `json:"state"`
	StateReason  string   `json:"stateReason"`
	AuthorID     int64    `json:"authorId"`
	AssigneeIDs  []int64  `json:"assigneeIds"`
	Confidential bool     `json:"confidential"`
	Mentions     []string `json:"mentions"`
	CommentID    int64    `json:"commentId"`
	AssigneeID   int64    `json:"assigneeId"`
	Draft        bool     `json:"draft"`
	Merged       bool     `json:"merged"`
	ReviewerIDs  []int64  `json:"reviewerIds"`
	ReviewerID   int64    `json:"reviewerId"`
	ReviewTeamID int64    `json:"reviewTeamId"`
	// ReviewID is the review that a comment on a change came with.
	ReviewID int64 `json:"reviewId"`
	// ReviewState is approved, changes_requested or commented.
	ReviewState string `json:"reviewState"`
	// SHA, Conclusion and State are those of a status or check.
	SHA        string `json:"sha"`
	Conclusion string `json:"conclusion"`
	// Tag and Name are a release's.
	Tag  string `json:"tag"`
	Name string `json:"name"`
	// OldBody is what an edited text was before.
	OldBody *string `json:"oldBody"`
}

// told is an event made ready for telling.
type told struct {
	event *model.Event
	repo  *model.Repo
	facts
	what string // the second half of the type
	key  string
	// direct are the people whom it concerns in person, with the reason; ""
	// brings their row up to date.
	direct map[int64]string
	// watchers says that those who watch the repository are told.
	watchers bool
	// turn are those who are waited for now, ends those who no longer are;
	// allEnd says that nobody is.
	turn, ends map[int64]bool
	// once names what is told once, where that is not the event.
	once    string
	allEnd  bool
	ignored map[int64]bool
}

// read takes an event apart; nil when nobody is told of such.
func read(e *model.Event, repo *model.Repo) (*told, error) {
	t := &told{event: e, repo: repo, direct: map[int64]string{}, turn: map[int64]bool{}, ends: map[int64]bool{}}
	if err := json.Unmarshal(e.Data, &t.facts); err != nil {
		return nil, fmt.Errorf("event %s: %w", e.EventID, err)
	}
	source, what, _ := strings.Cut(e.Type, ".")
	t.what = what
	switch {
	case source == model.KindRelease:
		if t.Tag == "" {
			return nil, nil
		}
		t.Kind, t.key, t.watchers, t.AuthorID = model.KindRelease, t.Tag, true, e.ActorID
		if t.Title = t.Name; t.Title == "" {
			t.Title = t.Tag
		}
		return t, nil
	case source == "status" || source == "check":
		if !failed(t.State, t.Conclusion) {
			return nil, nil
		}
		return t, nil
	case t.Number == 0:
		return nil, nil
	}
	t.key = strconv.FormatInt(t.Number, 10)
	return t, nil
}

// failed says whether a status or check says that something is wrong.
func failed(state, conclusion string) bool {
	if conclusion != "" {
		state = conclusion
	}
	return slices.Contains([]string{"failure", "error", "timed_out", "action_required", "startup_failure"}, state)
}

// checked finds whose open pull request a failing check is about: its author
// is told once for each head that fails, not for each check.
func (s *Service) checked(ctx context.Context, t *told) error {
	pulls, err := pulldb.OfCommit(ctx, s.DB.Repo(t.repo.ID), t.SHA)
	for _, p := range pulls {
		if p.HeadSHA != t.SHA || p.Issue == nil || !p.Issue.Open() {
			continue
		}
		i := p.Issue
		t.Number, t.Kind, t.Title, t.State, t.Draft, t.AuthorID, t.AssigneeIDs = i.Number, i.Kind, i.Title, i.State, i.Draft, i.AuthorID, i.AssigneeIDs
		t.key, t.once = strconv.FormatInt(i.Number, 10), "ci/"+strconv.FormatInt(t.repo.ID, 10)+"/"+t.SHA
		t.add(model.ToldCI, i.AuthorID)
		t.begin(i.AuthorID)
		delete(t.direct, t.event.ActorID)
		subs, err := threaddb.Subscriptions(ctx, s.DB.Repo(t.repo.ID), i.Number)
		if subs[i.AuthorID].Ignored {
			delete(t.direct, i.AuthorID)
		}
		return err
	}
	return err
}

// state is the thread's state in a word.
func (t *told) state() string {
	switch {
	case t.Kind == model.KindRelease:
		return ""
	case t.Merged || t.StateReason == model.ReasonMerged:
		return "merged"
	case t.State == model.StateOpen && t.Draft:
		return "draft"
	case t.State == model.StateOpen:
		return model.StateOpen
	case t.Kind == model.KindPull || t.StateReason == "":
		return model.StateClosed
	}
	return t.StateReason
}

// stronger says whether reason a goes before b.
func stronger(a, b string) bool {
	order := model.ToldReasons()
	i, j := slices.Index(order, a), slices.Index(order, b)
	return i >= 0 && (j < 0 || i < j)
}

// add notes that the event concerns somebody; of several reasons the strongest
// counts.
func (t *told) add(reason string, ids ...int64) {
	for _, id := range ids {
		if id == 0 {
			continue
		}
		if was, ok := t.direct[id]; !ok || stronger(reason, was) {
			t.direct[id] = reason
		}
	}
}

// concern finds whom a thread's event concerns in person.
func (s *Service) concern(ctx context.Context, t *told) error {
	if t.Kind == model.KindRelease {
		return nil
	}
	if t.SHA != "" && t.Number == 0 {
		return s.checked(ctx, t)
	}
	loud := ""
	switch t.what {
	case "opened":
		t.watchers = true
		t.add(model.ToldAssign, t.AssigneeIDs...)
		t.begin(t.AssigneeIDs...)
		t.add(model.ToldReview, t.ReviewerIDs...)
		t.begin(t.ReviewerIDs...)
	case "created", "submitted": // comments and reviews
		t.ends[t.event.ActorID] = true
		if t.what == "created" && t.ReviewID != 0 {
			if part, err := s.partOfReview(ctx, t.event); err != nil || part {
				// The review's own event tells of its comments.
				return errors.Join(err, s.mentioned(ctx, t), s.participants(ctx, t, ""))
			}
		}
		t.watchers, loud = true, model.ToldComment
		if t.ReviewState == "changes_requested" {
			t.begin(t.AuthorID)
		}
	case "closed", "merged", "reopened":
		t.watchers, loud, t.allEnd = true, model.ToldState, t.what != "reopened"
	case "assigned":
		t.add(model.ToldAssign, t.AssigneeID)
		t.begin(t.AssigneeID)
	case "unassigned":
		t.ends[t.AssigneeID] = true
	case "review_requested":
		ids := []int64{t.ReviewerID}
		if t.ReviewTeamID != 0 {
			members, err := notificationdb.TeamMembers(ctx, s.DB.Directory(), t.ReviewTeamID)
			if err != nil {
				return err
			}
			ids = append(ids, members...)
		}
		t.add(model.ToldReview, ids...)
		t.begin(ids...)
	case "review_request_removed":
		t.ends[t.ReviewerID] = true
	}
	if err := s.mentioned(ctx, t); err != nil {
		return err
	}
	return s.participants(ctx, t, loud)
}

// partOfReview says whether a comment on a change was published together with
// the review that it belongs to.
func (s *Service) partOfReview(ctx context.Context, e *model.Event) (bool, error) {
	list, err := eventdb.List(ctx, s.DB.Events(), eventdb.Filter{RepoID: e.RepoID, Types: []string{"review.submitted"},
		After: &model.Event{At: e.At.Add(-time.Minute), Seq: max(e.Seq-1000, 0)}, Limit: 100})
	return slices.ContainsFunc(list, func(r *model.Event) bool { return r.ActorID == e.ActorID && r.Time.Equal(e.Time) }), err
}

func (t *told) begin(ids ...int64) {
	for _, id := range ids {
		t.turn[id] = true
	}
}

// mentioned adds those whom the text names.
func (s *Service) mentioned(ctx context.Context, t *told) error {
	var names, teams []string
	for _, m := range t.Mentions {
		if t.OldBody != nil && strings.Contains(strings.ToLower(*t.OldBody), "@"+m) {
			continue // named before the edit, and told then
		}
		if strings.Contains(m, "/") {
			teams = append(teams, m)
		} else {
			names = append(names, m)
		}
	}
	people, members, err := notificationdb.Named(ctx, s.DB.Directory(), names, teams)
	if err != nil {
		return err
	}
	t.add(model.ToldMention, people...)
	t.add(model.ToldTeam, members...)
	t.begin(people...)
	return nil
}

// participants adds who takes part in the thread or follows it: with the
// reason loud, or to bring their rows up to date. Who ignores the thread is
// told nothing.
func (s *Service) participants(ctx context.Context, t *told, loud string) error {
	repo := s.DB.Repo(t.repo.ID)
	ids, err := threaddb.Participants(ctx, repo, t.Number)
	if err != nil {
		return err
	}
	subs, err := threaddb.Subscriptions(ctx, repo, t.Number)
	if err != nil {
		return err
	}
	if loud != "" {
		t.add(loud, ids...)
		if loud == model.ToldComment {
			t.add(model.ToldAssign, t.AssigneeIDs...)
			t.add(model.ToldAuthor, t.AuthorID)
		}
	} else {
		for _, id := range ids {
			t.update(id)
		}
	}
	t.ignored = map[int64]bool{}
	for id, sub := range subs {
		switch {
		case sub.Ignored:
			t.ignored[id] = true
			delete(t.direct, id)
			t.update(id)
		case loud != "":
			t.add(model.ToldManual, id)
		default:
			t.update(id)
		}
	}
	// Whoever did it has their own row brought up to date.
	t.direct[t.event.ActorID] = ""
	return nil
}

// update notes that somebody's row is brought up to date, unless they are told.
func (t *told) update(id int64) {
	if _, ok := t.direct[id]; !ok && id != 0 {
		t.direct[id] = ""
	}
}

// wants says whether a watch includes this kind of thing.
func (t *told) wants(w notificationdb.Watch) bool {
	switch w.Level {
	case model.WatchAll:
		return true
	case model.WatchReleases:
		return t.Kind == model.KindRelease
	case model.WatchCustom:
		return slices.Contains(w.Kinds, t.Kind)
	}
	return false
}

// visible says whether a reader of the repository may see the thread.
func (t *told) visible(p *notificationdb.Person) bool {
	return !t.Confidential || p.Role.AtLeast(model.RoleTriage) || p.ID == t.AuthorID || slices.Contains(t.AssigneeIDs, p.ID)
}

// scope is the account's handle.
func (s *Service) scope(accountID int64) db.Account { return s.DB.Account(accountID) }
