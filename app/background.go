package app

import (
	"context"
	"path/filepath"
	"time"

	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/alarms"
	"github.com/gitfor/gitfor/app/audit"
	"github.com/gitfor/gitfor/app/blob"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/instance"
	"github.com/gitfor/gitfor/app/involvement"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/notifications"
	"github.com/gitfor/gitfor/app/outbound"
	"github.com/gitfor/gitfor/app/protection"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/replies"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/reviews"
	"github.com/gitfor/gitfor/app/state"
	"github.com/gitfor/gitfor/app/statuses"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/transport"
	"github.com/gitfor/gitfor/app/upkeep"
	"github.com/gitfor/gitfor/app/webhooks"
	"github.com/gitfor/gitfor/views/settingview"
	"github.com/gitfor/gitfor/views/ui"
)

// buildEvents makes what features publish into and are woken by, before them.
func (a *App) buildEvents() {
	a.Events = events.New(a.DB, a.log, a.draining)
	a.Alarms = alarms.New(a.DB, a.log)
	a.Live = events.NewLive(a.Events)
	a.services = append(a.services, a.DB.Bus(), a.Events, a.Live)
}

// buildWebhooks makes the one client for addresses that people gave, and the
// hooks, after the features whose events they tell.
func (a *App) buildWebhooks(ctx context.Context) error {
	guard, err := outbound.NewGuard(a.cfg.OutboundAllow)
	if err != nil {
		return err
	}
	a.Outbound = outbound.NewClient(guard)
	a.Notifications.Outbound = a.Outbound
	a.Webhooks = webhooks.New(webhooks.Deps{DB: a.DB, Gate: a.Gate, Kit: a.Kit, Mail: a.Mail, Accounts: a.Accounts, Ring: a.Ring,
		Client: a.Outbound, Repos: a.Repos, Issues: a.Issues, Pulls: a.Pulls, Reviews: a.Reviews, Log: a.log}, a.Events, a.Alarms)
	a.buildMirrors(guard)
	a.services = append(a.services, a.Webhooks.Sender())
	a.Repos.Sections = append(a.Repos.Sections, webhooks.Section())
	a.Accounts.OrgSections = append(a.Accounts.OrgSections, accounts.OrgSection{Key: "hooks", Label: "Webhooks", Icon: "webhook"})
	return a.Collect(newLagCollector(ctx, a))
}

// buildBlobs opens the place of blobs, before the features that keep some.
func (a *App) buildBlobs() (err error) {
	a.Blobs, err = blob.Open(filepath.Join(a.cfg.DataDir, "blobs"), a.cfg.BlobURL)
	if err != nil {
		return err
	}
	a.checks = append(a.checks, Check{"blobs", func(ctx context.Context) (string, error) {
		return "LFS objects and attachments are in " + a.Blobs.String(), a.Blobs.Check(ctx)
	}})
	return a.Blobs.CleanTemp(time.Now().Add(-partialUpload))
}

// partialUpload is how long an upload may wait for its next part.
const partialUpload = 7 * 24 * time.Hour

// buildInstance reads the settings of the instance, which the kit asks.
func (a *App) buildInstance(ctx context.Context) (err error) {
	a.Instance, err = instance.New(ctx, instance.Deps{DB: a.DB, Log: a.log, Ring: a.Ring, Env: a.cfg.Env})
	if err != nil {
		return err
	}
	a.services = append(a.services, a.Instance)
	a.Kit.SetHourly(func(ctx context.Context) int { return a.Instance.Get(ctx).HourlyRequests })
	a.Kit.SetNotice(func(ctx context.Context) (string, bool) {
		s := a.Instance.Get(ctx)
		return s.Announcement, s.SignupMode == instance.SignupClosed
	})
	return nil
}

// buildState makes what works on scopes from outside.
func (a *App) buildState(pools *git.Store) {
	a.State = state.New(state.Deps{DB: a.DB, Git: a.Git, Pools: pools, Log: a.log, DataDir: a.cfg.DataDir,
		Instance: a.Instance, SecretKeyFile: a.cfg.SecretKeyFile, Version: a.cfg.Version, Spares: a.cfg.Spares})
	a.services = append(a.services, a.State)
	a.checks = append(a.checks, Check{"disk", a.State.CheckDisk}, Check{"relations", a.State.CheckRelations}, Check{"scopes", a.State.CheckScopes})
}

// Attach adds a background service, such as the jobs, before Start.
func (a *App) Attach(s interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}) {
	a.services = append(a.services, s)
}

// buildUpkeep makes the maintenance of git folders, which follows pushes and
// forks.
func (a *App) buildUpkeep(pools *git.Store) {
	a.Upkeep = upkeep.New(upkeep.Deps{DB: a.DB, Gate: a.Gate, Git: a.Git, Pools: pools, Log: a.log})
	a.Repos.Lent = func(ctx context.Context, root int64) error { return a.Upkeep.Check(ctx, root, true) }
	a.Events.Subscribe(events.Subscriber{Service: "work", Name: "upkeep.push", Types: []string{"git.push"}, Handle: a.Upkeep.OnPush})
}

// buildIssues makes threads and issues, which follow pushes.
func (a *App) buildIssues() {
	a.Threads = threads.New(a.DB, a.Markup)
	a.buildAttachments()
	a.Issues = issues.New(issues.Deps{DB: a.DB, Gate: a.Gate, Threads: a.Threads, Repos: a.Repos, Attachments: a.Attachments})
	a.Repos.Tabs = append(a.Repos.Tabs, "issues")
	a.Events.Subscribe(events.Subscriber{Service: "work", Name: "issues.push", Types: []string{"git.push"}, Handle: a.Issues.OnPush})
}

// buildNotifications makes the inboxes, after the features that people are told
// of.
func (a *App) buildNotifications() {
	a.Notifications = notifications.New(notifications.Deps{DB: a.DB, Gate: a.Gate, Log: a.log, Ring: a.Ring, Mail: a.Mail, Markup: a.Markup,
		Auth: a.Auth, Threads: a.Threads, Repos: a.Repos, Site: a.cfg.URL, SettingsShell: a.Settings.Shell}, a.Events, a.Alarms)
	a.services = append(a.services, a.Notifications)
	if a.cfg.SMTPListen != "" {
		answers := &replies.Service{DB: a.DB, Ring: a.Ring, Threads: a.Threads, Log: a.log, Host: a.Mail.Host()}
		a.Notifications.ReplyTo = answers.Address
		a.services = append(a.services, answers.NewServer(a.cfg.SMTPListen))
	}
	a.State.OnDestroy(a.Notifications.Clean)
	a.Kit.SetUnread(a.Notifications.Unread)
	a.Threads.Seen = a.Notifications.Seen
	a.Settings.More = append(a.Settings.More, notifications.SettingsTab())
	a.Explore.Files = a.Codes.FindFiles
	a.Explore.Settings = func() []ui.NavSection { return settingview.Sections(a.Settings.More...) }
}

// buildRules makes what is said of commits and what is asked of branches; it
// comes before the writers of refs.
func (a *App) buildRules() {
	a.Statuses = statuses.New(statuses.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos})
	a.Protection = protection.New(protection.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, Signatures: a.Signatures})
	a.Repos.Guard = a.Protection.CheckMove
	a.Repos.Sections = append(a.Repos.Sections, protection.Section())
}

// pushRules asks the rules of branches about the pushes of git's clients.
type pushRules struct{ rules *protection.Service }

// CheckPush refuses the commands that a rule forbids.
func (r pushRules) CheckPush(ctx context.Context, p *transport.Incoming) error {
	pending := p.Pending()
	moves := make([]protection.Move, len(pending))
	for i, c := range pending {
		moves[i] = protection.Move{Ref: c.Ref, Old: c.Old, New: c.New}
	}
	why, err := r.rules.Refuse(ctx, p.Repo, p.Target.ID, p.Viewer.ID(), p.Role, moves)
	if err != nil {
		return err
	}
	for i, w := range why {
		if w != "" {
			pending[i].Reject("%s", w)
		}
	}
	return nil
}

// buildInvolvement makes the index of what people have to do with threads,
// which the dashboard shows.
func (a *App) buildInvolvement() {
	a.Involvement = &involvement.Service{DB: a.DB}
	a.Events.Subscribe(a.Involvement.Subscriber())
	a.State.AddBackfill(a.Involvement.Backfill())
	a.State.OnDestroy(a.Involvement.Clean)
	a.Explore.AddPanel(a.Involvement.Panel)
}

// buildPulls makes pull requests, which follow pushes.
func (a *App) buildPulls() {
	a.Pulls = pulls.New(pulls.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, Signatures: a.Signatures, Threads: a.Threads, Issues: a.Issues,
		Markup: a.Markup, Colours: a.Codes.Colours(), Log: a.log})
	a.Issues.Pulls, a.Codes.PullForm = a.Pulls, a.Pulls.Form
	a.Reviews = reviews.New(reviews.Deps{DB: a.DB, Gate: a.Gate, Repos: a.Repos, Threads: a.Threads, Pulls: a.Pulls, Log: a.log})
	a.Pulls.Reviews = a.Reviews
	a.Events.Subscribe(events.Subscriber{Service: "work", Name: "pulls.push", Types: []string{"git.push"}, Handle: a.Pulls.OnPush})
	a.Events.Subscribe(events.Subscriber{Service: "merges", Name: "pulls.ready", Types: pulls.WaitsFor(), Handle: a.Pulls.OnReady})
}

// buildAudit makes the pages of the audit log, each in the frame of those
// around it.
func (a *App) buildAudit() {
	a.Audit = &audit.Service{DB: a.DB, Gate: a.Gate, RepoShell: a.Repos.SettingsShell, OrgShell: a.Accounts.OrgShell,
		PersonShell: a.Settings.Shell}
	a.Repos.Sections = append(a.Repos.Sections, repos.SettingsSection{Key: "audit", Label: "Audit log", Icon: "scale"})
	a.Accounts.OrgSections = append(a.Accounts.OrgSections, accounts.OrgSection{Key: "audit", Label: "Audit log", Icon: "scale"})
}
