package notifications

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
)

func (s *Service) apiRoutes(a *web.Router) {
	in, repo := s.Gate.SignedIn("notifications", "repo"), s.Gate.RepoViewer()
	query := []string{"all", "participating", "since", "before", "page", "per_page"}
	a.Get("/notifications", in, s.apiList, &web.Doc{ID: "activity/list-notifications-for-authenticated-user", Summary: "List notifications for the authenticated user", Out: []Thread{}, Query: query})
	a.Put("/notifications", in, s.apiReadAll, &web.Doc{ID: "activity/mark-notifications-as-read", Summary: "Mark notifications as read", In: readInput{}, Out: message{}, Status: http.StatusAccepted})
	a.Get("/notifications/threads/{id}", in, s.apiThread, &web.Doc{ID: "activity/get-thread", Summary: "Get a thread", Out: Thread{}})
	a.Patch("/notifications/threads/{id}", in, s.apiThreadRead, &web.Doc{ID: "activity/mark-thread-as-read", Summary: "Mark a thread as read", Status: http.StatusResetContent})
	a.Delete("/notifications/threads/{id}", in, s.apiThreadDone, &web.Doc{ID: "activity/mark-thread-as-done", Summary: "Mark a thread as done", Status: http.StatusNoContent})
	a.Get("/notifications/threads/{id}/subscription", in, s.apiSubscription, &web.Doc{ID: "activity/get-thread-subscription-for-authenticated-user", Summary: "Get a thread subscription for the authenticated user", Out: Subscription{}})
	a.Put("/notifications/threads/{id}/subscription", in, s.apiSubscribe, &web.Doc{ID: "activity/set-thread-subscription", Summary: "Set a thread subscription", In: subscribeInput{}, Out: Subscription{}})
	a.Delete("/notifications/threads/{id}/subscription", in, s.apiUnsubscribe, &web.Doc{ID: "activity/delete-thread-subscription", Summary: "Delete a thread subscription", Status: http.StatusNoContent})
	a.Get("/repos/{owner}/{repo}/notifications", repo, s.apiList, &web.Doc{ID: "activity/list-repo-notifications-for-authenticated-user", Summary: "List repository notifications for the authenticated user", Out: []Thread{}, Query: query})
	a.Put("/repos/{owner}/{repo}/notifications", repo, s.apiReadAll, &web.Doc{ID: "activity/mark-repo-notifications-as-read", Summary: "Mark repository notifications as read", In: readInput{}, Out: message{}, Status: http.StatusAccepted})
}

// Thread is GitHub's notification
// (https://docs.github.com/rest/activity/notifications#list-notifications-for-the-authenticated-user).
type Thread struct {
	ID              string           `json:"id"`
	Repository      repos.Repository `json:"repository"`
	Subject         Subject          `json:"subject"`
	Reason          string           `json:"reason"`
	Unread          bool             `json:"unread"`
	UpdatedAt       string           `json:"updated_at"`
	LastReadAt      *string          `json:"last_read_at"`
	URL             string           `json:"url"`
	SubscriptionURL string           `json:"subscription_url"`
}

// Subject is what a notification is about.
type Subject struct {
	Title            string  `json:"title"`
	URL              *string `json:"url"`
	LatestCommentURL *string `json:"latest_comment_url"`
	Type             string  `json:"type"`
}

// Subscription is GitHub's thread subscription.
type Subscription struct {
	Subscribed    bool    `json:"subscribed"`
	Ignored       bool    `json:"ignored"`
	Reason        *string `json:"reason"`
	CreatedAt     *string `json:"created_at"`
	URL           string  `json:"url"`
	ThreadURL     string  `json:"thread_url"`
	RepositoryURL string  `json:"repository_url"`
}

func (s *Service) wire(c *web.Ctx, n *model.Notification, repo *model.Repo) Thread {
	url := c.URL(web.APIPrefix + "/notifications/threads/" + strconv.FormatInt(n.ID, 10))
	base := c.URL(web.APIPrefix + "/repos/" + repo.FullName())
	t := Thread{ID: strconv.FormatInt(n.ID, 10), Repository: s.Repos.Wire(c, repo, model.RoleNone, nil), Reason: n.Reason, Unread: n.Unread,
		UpdatedAt: api.Time(n.UpdatedAt), LastReadAt: api.TimeRef(n.ReadAt), URL: url, SubscriptionURL: url + "/subscription",
		Subject: Subject{Title: n.Title}}
	var at string
	switch n.Kind {
	case model.KindIssue:
		t.Subject.Type, at = "Issue", base+"/issues/"+n.Key
	case model.KindPull:
		t.Subject.Type, at = "PullRequest", base+"/pulls/"+n.Key
	case model.KindDiscussion:
		t.Subject.Type, at = "Discussion", base+"/discussions/"+n.Key
	case model.KindRelease:
		t.Subject.Type, at = "Release", base+"/releases/tags/"+n.Key
	default:
		t.Subject.Type = "Commit"
	}
	if at != "" {
		t.Subject.URL, t.Subject.LatestCommentURL = &at, &at
		if n.CommentID != 0 {
			comment := base + "/issues/comments/" + strconv.FormatInt(n.CommentID, 10)
			t.Subject.LatestCommentURL = &comment
		}
	}
	return t
}

// moment reads a time of the query; the zero time when it is absent.
func moment(c *web.Ctx, name string) (time.Time, error) {
	text := c.Query(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fault.Field(name, "This is no time in the form 2006-01-02T15:04:05Z.")
	}
	return t.UTC(), nil
}

func (s *Service) apiList(c *web.Ctx) error {
	if _, err := s.Counts(c.Context(), c.Viewer.ID()); err != nil {
		return err
	}
	page := api.PageOf(c)
	f := notificationdb.Filter{View: notificationdb.ViewUnread, Participating: c.Query("participating") == "true",
		Limit: int(page.Limit()), Offset: int(page.Offset())}
	if c.Query("all") == "true" {
		f.View = notificationdb.ViewInbox
	}
	if c.Repo != nil {
		f.RepoID = c.Repo.ID
	}
	var err error
	if f.Since, err = moment(c, "since"); err != nil {
		return err
	}
	if f.Before, err = moment(c, "before"); err != nil {
		return err
	}
	rows, more, err := s.List(c.Context(), c.Viewer.ID(), f)
	if err != nil {
		return err
	}
	ids := make([]int64, len(rows))
	for i, n := range rows {
		ids[i] = n.RepoID
	}
	found, err := repodb.ByIDs(c.Context(), s.DB.Directory(), ids)
	if err != nil {
		return err
	}
	out := make([]Thread, 0, len(rows))
	for _, n := range rows {
		if repo := found[n.RepoID]; repo != nil && c.Viewer.Reaches(repo.ID, repo.IsPrivate(), false) {
			out = append(out, s.wire(c, n, repo))
		}
	}
	page.Link(c, more)
	c.W.Header().Set("X-Poll-Interval", "60")
	return c.JSON(http.StatusOK, out)
}

type readInput struct {
	LastReadAt string `json:"last_read_at"`
	Read       *bool  `json:"read"`
}

type message struct {
	Message string `json:"message"`
}

func (s *Service) apiReadAll(c *web.Ctx) error {
	var in readInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	until, repoID := time.Now().UTC(), int64(0)
	if in.LastReadAt != "" {
		t, err := time.Parse(time.RFC3339, in.LastReadAt)
		if err != nil {
			return fault.Field("last_read_at", "This is no time in the form 2006-01-02T15:04:05Z.")
		}
		until = t.UTC()
	}
	if c.Repo != nil {
		repoID = c.Repo.ID
	}
	if err := s.ReadAll(c.Context(), c.Viewer.ID(), repoID, until); err != nil {
		return err
	}
	c.W.WriteHeader(http.StatusResetContent)
	return nil
}

// thread is the row of the address, if its repository can still be read.
func (s *Service) thread(c *web.Ctx) (*model.Notification, *model.Repo, error) {
	id, err := c.ParamInt("id")
	if err != nil {
		return nil, nil, err
	}
	if err := s.take(c.Context(), c.Viewer.ID()); err != nil {
		return nil, nil, err
	}
	return s.find(c, id)
}

func (s *Service) apiThread(c *web.Ctx) error {
	n, repo, err := s.thread(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, s.wire(c, n, repo))
}

func (s *Service) apiAct(c *web.Ctx, action string, status int) error {
	n, _, err := s.thread(c)
	if err != nil {
		return err
	}
	if _, err := s.Act(c.Context(), c.Viewer.ID(), []int64{n.ID}, action, time.Time{}); err != nil {
		return err
	}
	c.W.WriteHeader(status)
	return nil
}

func (s *Service) apiThreadRead(c *web.Ctx) error {
	return s.apiAct(c, ActRead, http.StatusResetContent)
}

func (s *Service) apiThreadDone(c *web.Ctx) error {
	return s.apiAct(c, ActDone, http.StatusNoContent)
}

func (s *Service) apiSubscription(c *web.Ctx) error {
	n, repo, err := s.thread(c)
	if err != nil {
		return err
	}
	return s.sendSubscription(c, n, repo)
}

func (s *Service) sendSubscription(c *web.Ctx, n *model.Notification, repo *model.Repo) error {
	url := c.URL(web.APIPrefix + "/notifications/threads/" + strconv.FormatInt(n.ID, 10))
	out := Subscription{Subscribed: true, Reason: &n.Reason, CreatedAt: api.TimeRef(&n.CreatedAt), URL: url + "/subscription", ThreadURL: url,
		RepositoryURL: c.URL(web.APIPrefix + "/repos/" + repo.FullName())}
	if num, err := number(n.Key); err == nil {
		subs, err := threaddb.Subscriptions(c.Context(), s.DB.Repo(repo.ID), num)
		if err != nil {
			return err
		}
		if sub, ok := subs[c.Viewer.ID()]; ok {
			out.Ignored, out.Subscribed, out.CreatedAt = sub.Ignored, !sub.Ignored, api.TimeRef(&sub.CreatedAt)
		}
	}
	return c.JSON(http.StatusOK, out)
}

type subscribeInput struct {
	Ignored bool `json:"ignored"`
}

func (s *Service) apiSubscribe(c *web.Ctx) error {
	var in subscribeInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	n, repo, err := s.thread(c)
	if err != nil {
		return err
	}
	if err := s.choose(c.Context(), c.Viewer.ID(), repo.ID, n.Key, &threaddb.Subscription{Ignored: in.Ignored}); err != nil {
		return err
	}
	return s.sendSubscription(c, n, repo)
}

func (s *Service) apiUnsubscribe(c *web.Ctx) error {
	n, repo, err := s.thread(c)
	if err != nil {
		return err
	}
	// GitHub: what one took part in or watches is told again after something
	// new; to hear nothing at all, ignore it.
	if err := s.choose(c.Context(), c.Viewer.ID(), repo.ID, n.Key, nil); err != nil {
		return err
	}
	return c.NoContent()
}
