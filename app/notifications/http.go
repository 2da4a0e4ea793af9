package notifications

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/notificationdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/notificationview"
	"github.com/gitfor/gitfor/views/ui"
)

// Routes mounts the pages and the API.
func (s *Service) Routes(r *web.Router) {
	in := s.Gate.SignedIn()
	r.Get("/notifications", in, s.inbox)
	r.Post("/notifications", in, s.acted)
	r.Post("/notifications/undo", in, s.undone)
	r.Post("/notifications/read-all", in, s.allRead)
	r.Get("/notifications/{id}", in, s.open)
	r.Raw().Get("/-/inbox-badge", in, s.badgePart)
	r.Get("/settings/notifications", in, s.settings)
	r.Post("/settings/notifications", in, s.settingsSave)
	r.Post("/settings/notifications/browsers", in, s.browserAdd)
	r.Post("/settings/notifications/browsers/{id}/try", in, s.browserTry)
	r.Post("/settings/notifications/browsers/{id}/remove", in, s.browserRemove)
	r.Raw().Get("/-/push-worker.js", s.Gate.Anyone(), s.worker)
	r.Get("/-/unsubscribe/{token}", s.Gate.Anyone(), s.unsubscribePage)
	r.Post("/-/unsubscribe/{token}", s.Gate.Anyone(), s.unsubscribe)
	s.apiRoutes(r.API())
}

// perPage is how many rows the inbox shows.
const perPage = 25

// maxTurns is how many rows that wait for the person stand first.
const maxTurns = 25

func (s *Service) inbox(c *web.Ctx) error {
	p, err := s.page(c)
	if err != nil {
		return err
	}
	return c.Render(web.Page{Title: title(p.Counts.Unread), Shell: shell(p), Body: notificationview.Inbox(*p),
		Props: layout.Props{NoIndex: true, Wide: true, Scripts: []string{"js/inbox.js"}},
		Parts: map[string]func() templ.Component{"inbox": func() templ.Component { return notificationview.Inbox(*p) }}})
}

func title(unread int) string {
	if unread == 0 {
		return "Inbox"
	}
	return "Inbox (" + strconv.Itoa(unread) + ")"
}

// shell is the frame: the views and repositories at the side, with counts.
func shell(p *notificationview.Props) layout.Shell {
	tab := func(key, label, icon string, n int) ui.Tab {
		href := link.Q("view", key).On(link.Notifications())
		if key == notificationdb.ViewInbox {
			href = link.Notifications()
		}
		return ui.Tab{Key: key, Label: label, Icon: icon, Count: n, Href: href}
	}
	n := p.Counts
	nav := []ui.NavSection{{Links: []ui.Tab{tab("inbox", "Inbox", "inbox", n.Inbox), tab("turn", "Your turn", "bell", n.Turn),
		tab("unread", "Unread", "circle-dot", n.Unread), tab("saved", "Saved", "bookmark", n.Saved),
		tab("snoozed", "Snoozed", "alarm-clock", n.Snoozed), tab("done", "Done", "check-check", n.Done)}}}
	active := p.View
	var repos []ui.Tab
	for _, r := range p.Repos {
		repos = append(repos, ui.Tab{Key: "repo-" + r.Repo.FullName(), Label: r.Repo.FullName(), Icon: "book-marked", Count: r.N,
			Href: link.Q("repo", r.Repo.FullName()).On(link.Notifications())})
	}
	if p.Repo != "" {
		active = "repo-" + p.Repo
	}
	if len(repos) > 0 {
		nav = append(nav, ui.NavSection{Title: "Repositories", Links: repos})
	}
	nav = append(nav, ui.NavSection{Links: []ui.Tab{{Key: "settings", Label: "What you are told", Icon: "settings", Href: link.Settings("notifications")}}})
	return layout.SettingsShell(layout.SettingsProps{Label: "Inbox", Sections: nav, Active: active,
		Place: []layout.Crumb{{Label: "Inbox", Href: link.Notifications()}}, Wide: true})
}

// page reads what the inbox shows.
func (s *Service) page(c *web.Ctx) (*notificationview.Props, error) {
	ctx, me := c.Context(), c.Viewer.ID()
	counts, err := s.Counts(ctx, me)
	if err != nil {
		return nil, err
	}
	p := &notificationview.Props{View: c.Query("view"), Query: c.Query("q"), Reason: c.Query("reason"), Kind: c.Query("kind"),
		Here: c.R.URL.RequestURI(), Viewer: me, Undo: c.Query("undo"), UndoText: undoText(c.Query("did"), c.QueryInt("n", 0, 0, maxActs)),
		Counts: notificationview.Counts{Inbox: counts.Inbox, Turn: counts.Turn, Unread: counts.Unread, Saved: counts.Saved, Snoozed: counts.Snoozed, Done: counts.Done}}
	if !slices.Contains([]string{notificationdb.ViewTurn, notificationdb.ViewUnread, notificationdb.ViewSaved, notificationdb.ViewSnoozed, notificationdb.ViewDone}, p.View) {
		p.View = notificationdb.ViewInbox
	}
	f := notificationdb.Filter{View: p.View, Reason: p.Reason, Kind: p.Kind, Text: strings.TrimSpace(p.Query), Limit: perPage}
	if name := c.Query("repo"); name != "" {
		owner, repo, _ := strings.Cut(name, "/")
		r, _, err := repodb.Find(ctx, s.DB.Directory(), owner, repo, me)
		if err != nil {
			return nil, err
		}
		f.RepoID, p.Repo = r.ID, r.FullName()
	}
	var turns, rows []*model.Notification
	if p.View == notificationdb.ViewInbox {
		f.NoTurn = true
		if c.Query("after") == "" && counts.Turn > 0 {
			first := f
			first.View, first.Limit, first.NoTurn = notificationdb.ViewTurn, maxTurns, false
			if turns, p.MoreTurns, err = s.List(ctx, me, first); err != nil {
				return nil, err
			}
		}
	}
	if f.After, err = s.cursor(ctx, me, c.Query("after")); err != nil {
		return nil, err
	}
	rows, p.More, err = s.List(ctx, me, f)
	if err != nil {
		return nil, err
	}
	if p.More {
		p.Next = link.Set(link.Set(p.Here, "after", strconv.FormatInt(rows[len(rows)-1].ID, 10)), "undo", "")
	}
	return p, s.dress(ctx, p, counts, turns, rows)
}

// cursor is the row after which a page begins; nil for the first page.
func (s *Service) cursor(ctx context.Context, me int64, after string) (*model.Notification, error) {
	id, err := strconv.ParseInt(after, 10, 64)
	if err != nil || id <= 0 {
		return nil, nil //nolint:nilerr // an address that somebody changed shows the first page
	}
	n, err := notificationdb.ByID(ctx, s.scope(me), id)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	return n, err
}

// dress looks up the repositories and people of rows.
func (s *Service) dress(ctx context.Context, p *notificationview.Props, counts *Counts, turns, rows []*model.Notification) error {
	var repoIDs, people []int64
	for _, n := range slices.Concat(turns, rows) {
		repoIDs = append(repoIDs, n.RepoID)
		people = append(people, n.ActorID)
	}
	for id := range counts.Repos {
		repoIDs = append(repoIDs, id)
	}
	repos, err := repodb.ByIDs(ctx, s.DB.Directory(), repoIDs)
	if err != nil {
		return err
	}
	names, err := accountdb.ByIDs(ctx, s.DB.Directory(), people...)
	if err != nil {
		return err
	}
	now := time.Now()
	dressed := func(list []*model.Notification) (out []notificationview.Row) {
		for _, n := range list {
			repo := repos[n.RepoID]
			if repo == nil {
				continue
			}
			out = append(out, notificationview.Row{N: n, Repo: repo, Actor: names[n.ActorID], Href: href(n, repo), Snoozed: n.Snoozed(now)})
		}
		return out
	}
	p.Turns, p.Rows = dressed(turns), dressed(rows)
	for id, n := range counts.Repos {
		if r := repos[id]; r != nil {
			p.Repos = append(p.Repos, notificationview.RepoCount{Repo: r, N: n})
		}
	}
	slices.SortFunc(p.Repos, func(a, b notificationview.RepoCount) int {
		if a.N != b.N {
			return b.N - a.N
		}
		return strings.Compare(a.Repo.FullName(), b.Repo.FullName())
	})
	if len(p.Repos) > 12 {
		p.Repos = p.Repos[:12]
	}
	return nil
}

// href is where a row leads: to what is new in its thread.
func href(n *model.Notification, repo *model.Repo) string {
	num, err := number(n.Key)
	owner, name := repo.Owner.Name, repo.Name
	anchor := ""
	if n.CommentID != 0 {
		anchor = "#comment-" + strconv.FormatInt(n.CommentID, 10)
	}
	switch {
	case err == nil && n.Kind == model.KindIssue:
		return link.Issue(owner, name, num) + anchor
	case err == nil && n.Kind == model.KindPull:
		return link.Pull(owner, name, num) + anchor
	case err == nil && n.Kind == model.KindDiscussion:
		return link.Discussions(owner, name) + "/" + n.Key + anchor
	}
	return link.Notifications() + "/" + strconv.FormatInt(n.ID, 10)
}

// number is a thread's number; an error when the key is none.
func number(key string) (int64, error) { return strconv.ParseInt(key, 10, 64) }

// open marks a row as read that leads to no thread, and goes there.
func (s *Service) open(c *web.Ctx) error {
	id, err := c.ParamInt("id")
	if err != nil {
		return err
	}
	n, repo, err := s.find(c, id)
	if err != nil {
		return err
	}
	if n.Unread {
		if _, err := s.Act(c.Context(), c.Viewer.ID(), []int64{id}, ActRead, time.Time{}); err != nil {
			return err
		}
	}
	to := href(n, repo)
	if n.Kind == model.KindRelease {
		to = link.Release(repo.Owner.Name, repo.Name, n.Key)
	}
	return c.Redirect(to)
}

// find is one row of the viewer's, if its repository can still be read.
func (s *Service) find(c *web.Ctx, id int64) (*model.Notification, *model.Repo, error) {
	n, err := notificationdb.ByID(c.Context(), s.scope(c.Viewer.ID()), id)
	if err != nil {
		return nil, nil, err
	}
	repo, _, err := repodb.FindID(c.Context(), s.DB.Directory(), n.RepoID, c.Viewer.ID())
	return n, repo, err
}

type actInput struct {
	IDs []int64 `form:"ids"`
	// Do is what to do with them; One is the same for one row: "done:12".
	Do    string `form:"do"`
	One   string `form:"one"`
	Hours int    `form:"hours"`
	Back  string `form:"back"`
}

func (s *Service) acted(c *web.Ctx) error {
	var in actInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if do, id, ok := strings.Cut(in.One, ":"); ok {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return fault.New(fault.BadRequest, "This is no notification.")
		}
		in.Do, in.IDs = do, []int64{n}
	}
	back := here(in.Back)
	do, until := in.Do, time.Time{}
	if hours, ok := strings.CutPrefix(do, "snooze-"); ok {
		n, err := strconv.Atoi(hours)
		if err != nil || n < 1 || n > 24*90 {
			return fault.New(fault.BadRequest, "Snooze for one hour to ninety days.")
		}
		do, until = ActSnooze, time.Now().Add(time.Duration(n)*time.Hour).UTC()
	}
	undo, err := s.Act(c.Context(), c.Viewer.ID(), in.IDs, do, until)
	if f := fault.From(err); err != nil && f.Kind == fault.Invalid {
		return c.RedirectFlash(back, f.Error())
	}
	if err != nil {
		return err
	}
	for _, pair := range [][2]string{{"undo", undo}, {"did", do}, {"n", strconv.Itoa(len(in.IDs))}} {
		back = link.Set(back, pair[0], pair[1])
	}
	return c.Redirect(back)
}

// here is the page of the inbox to go back to.
func here(back string) string {
	if back != link.Notifications() && !strings.HasPrefix(back, link.Notifications()+"?") {
		return link.Notifications()
	}
	for _, name := range []string{"undo", "did", "n"} {
		back = link.Set(back, name, "")
	}
	return back
}

func undoText(did string, n int) string {
	what := map[string]string{ActRead: "marked as read", ActUnread: "marked as unread", ActDone: "done", ActMove: "back in the inbox",
		ActSave: "saved", ActUnsave: "no longer saved", ActSnooze: "snoozed", ActUnsubscribe: "muted: you hear no more of it"}[did]
	if what == "" || n == 0 {
		return ""
	}
	return ui.Plural(n, "notification") + " " + what + "."
}

func (s *Service) undone(c *web.Ctx) error {
	var in struct {
		Undo string `form:"undo"`
		Back string `form:"back"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	if err := s.Undo(c.Context(), c.Viewer.ID(), in.Undo); err != nil {
		return err
	}
	return c.RedirectFlash(here(in.Back), "It is as it was before.")
}

func (s *Service) allRead(c *web.Ctx) error {
	if err := s.ReadAll(c.Context(), c.Viewer.ID(), 0, time.Now()); err != nil {
		return err
	}
	return c.RedirectFlash(link.Notifications(), "Everything is marked as read.")
}

// badgePart is the inbox's link in the top bar, fetched anew when something
// comes.
func (s *Service) badgePart(c *web.Ctx) error {
	return c.Render(web.Page{Status: http.StatusOK, Shell: layout.Site,
		Body: layout.InboxLink(&layout.Viewer{ID: c.Viewer.ID(), Name: c.Viewer.Name(), Unread: s.Unread(c.Context(), c.Viewer.ID())})})
}
