package pulls

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/part"
	"github.com/gitfor/gitfor/views/pullview"
	"github.com/gitfor/gitfor/views/threadview"
	"github.com/gitfor/gitfor/views/ui"
)

// pageView is a pull request's conversation on its way to the page.
type pageView struct {
	pull  *model.Pull
	git   *git.Repository
	v     *threads.View
	head  pullview.HeadProps
	merge pullview.MergeProps
	parts issues.Parts

	reviews     []*model.Review
	reviewsRead bool
}

func (s *Service) conversation(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	return s.conversationWith(c, n, http.StatusOK, nil)
}

// conversationWith answers with a pull request's page or a part of it; change
// adjusts what is shown.
func (s *Service) conversationWith(c *web.Ctx, n int64, status int, change func(v *pageView)) error {
	pull, g, err := s.found(c)
	if err != nil {
		return err
	}
	v := &pageView{pull: pull, git: g, v: &threads.View{Issue: pull.Issue}}
	if err := s.Threads.Fill(c.Context(), place(c), v.v, s.Issues.Window(c)); err != nil {
		return err
	}
	if err := s.fill(c, v); err != nil {
		return err
	}
	if change != nil {
		change(v)
	}
	p := pullview.ShowProps{Head: v.head, Timeline: v.parts.Timeline, Merge: v.merge, Composer: v.parts.Composer, Sidebar: v.parts.Sidebar}
	return c.Render(web.Page{Status: status, Title: pull.Issue.Title + " · Pull request #" + num(n) + " · " + c.Repo.FullName(),
		Shell: s.Repos.ShellWith(c, "pulls", v.v.Facts.Counts), Body: pullview.Show(p),
		Parts: map[string]func() templ.Component{
			"timeline":    func() templ.Component { return threadview.Timeline(p.Timeline) },
			"sidebar":     func() templ.Component { return threadview.Sidebar(p.Sidebar) },
			"merge-box":   func() templ.Component { return pullview.MergeBox(p.Merge) },
			"thread-head": func() templ.Component { return pullview.Head(p.Head) },
		}})
}

// fill makes all that a conversation shows.
func (s *Service) fill(c *web.Ctx, v *pageView) (err error) {
	v.parts = s.Issues.Parts(c, v.v)
	changedLinks(c, v.pull, v.parts.Timeline.Entries)
	if s.Reviews != nil {
		if err := s.Reviews.Entries(c, v.pull, v.v, v.parts.Timeline.Entries); err != nil {
			return err
		}
	}
	if v.head, err = s.headProps(c, v.git, v.pull, v.v.People.Get(v.pull.Issue.AuthorID), c.Query("tab")); err != nil {
		return err
	}
	if v.merge, err = s.mergeProps(c, v); err != nil {
		return err
	}
	reviewers, err := s.reviewerFact(c, v)
	if err != nil {
		return err
	}
	v.parts.Sidebar.First = append(v.parts.Sidebar.First, reviewers)
	v.parts.Composer.CanReopen = v.parts.Composer.CanReopen && !v.pull.Merged()
	return nil
}

// Part answers with the part of a pull request's page that htmx wants.
func (s *Service) Part(c *web.Ctx, status int, v *threads.View, errs ui.Errors) error {
	pull, g, err := s.found(c)
	if err != nil {
		return err
	}
	view := &pageView{pull: pull, git: g, v: v}
	if err := s.fill(c, view); err != nil {
		return err
	}
	switch c.Target() {
	case "sidebar":
		view.parts.Sidebar.Errors = errs
		return component(c, status, threadview.Sidebar(view.parts.Sidebar))
	case "thread-head":
		return component(c, status, pullview.Head(view.head))
	case "merge-box":
		return component(c, status, pullview.MergeBox(view.merge))
	}
	return component(c, status, threadview.Timeline(view.parts.Timeline))
}

// Refused answers with the whole page, its composer changed.
func (s *Service) Refused(c *web.Ctx, v *threads.View, change func(p *threadview.ComposerProps)) error {
	return s.conversationWith(c, v.Issue.Number, http.StatusUnprocessableEntity, func(view *pageView) { change(&view.parts.Composer) })
}

// Head is the head of a pull request's page, or the form for its title.
func (s *Service) Head(c *web.Ctx, v *threads.View, h issueview.HeadProps) (templ.Component, error) {
	pull, g, err := s.found(c)
	if err != nil {
		return nil, err
	}
	p, err := s.headProps(c, g, pull, v.People.Get(pull.Issue.AuthorID), "")
	if err != nil {
		return nil, err
	}
	p.Editing, p.Value, p.Version, p.Errors = h.Editing, h.Value, h.Version, h.Errors
	return pullview.Head(p), nil
}

// maxBases is how many branches the menu of bases lists.
const maxBases = 100

func (s *Service) headProps(c *web.Ctx, g *git.Repository, pull *model.Pull, author *model.Account, tab string) (pullview.HeadProps, error) {
	o, n := c.Repo.Owner.Name, c.Repo.Name
	h := pullview.HeadProps{Base: here(c, pull.Number), Topic: issues.Topic(c.Repo.ID, pull.Number), Active: tab, Owner: o, Name: n,
		Pull: pull, Title: markup.Title(pull.Issue.Title), Author: author, CanEdit: place(c).MayEdit(pull.Issue.AuthorID),
		HeadName: pull.HeadLabel, Value: pull.Issue.Title, Version: pull.Issue.Version, Comments: pull.Issue.Comments}
	if pull.HeadRepo == c.Repo.ID {
		h.HeadName = pull.HeadRef
	}
	at, err := s.headTip(c.Context(), pull)
	if err != nil {
		return h, err
	}
	if at != "" {
		h.HeadHref = link.Tree(o, n, pull.HeadRef, "")
		if pull.HeadRepo != c.Repo.ID {
			repo, _, err := s.headRepo(c.Context(), place(c), pull)
			if err != nil {
				return h, err
			}
			h.HeadHref = ""
			if repo != nil {
				h.HeadHref = link.Tree(repo.Owner.Name, repo.Name, pull.HeadRef, "")
			}
		}
	}
	if h.CanEdit && pull.Issue.Open() {
		branches, err := g.Branches(c.Context())
		if err != nil {
			return h, err
		}
		for _, b := range branches {
			if name := b.Short(); len(h.Bases) < maxBases && (name != pull.HeadRef || pull.HeadRepo != c.Repo.ID) {
				h.Bases = append(h.Bases, name)
			}
		}
	}
	h.Stack, err = s.stack(c, pull)
	return h, err
}

// methods describe the ways to merge.
func methods(base string, repo *model.Repo) []pullview.Method {
	all := map[string]pullview.Method{
		model.MethodMerge:       {Label: "Merge commit", Verb: "Merge", About: "All commits are added to the base with a merge commit."},
		model.MethodSquash:      {Label: "Squash", Verb: "Squash and merge", About: "The change becomes one commit on the base."},
		model.MethodRebase:      {Label: "Rebase", Verb: "Rebase and merge", About: "The commits are made anew on top of the base."},
		model.MethodFastForward: {Label: "Fast-forward", Verb: "Fast-forward", About: "The base moves to the head as it is; it must be based on the newest commit."},
	}
	var out []pullview.Method
	for _, key := range Methods(repo) {
		m := all[key]
		m.Key, m.Href = key, base+"?method="+key+"#merge-box"
		out = append(out, m)
	}
	return out
}

func (s *Service) mergeProps(c *web.Ctx, v *pageView) (pullview.MergeProps, error) {
	pull, p := v.pull, place(c)
	m := pullview.MergeProps{Base: here(c, pull.Number), Topic: issues.Topic(c.Repo.ID, pull.Number), Pull: pull, Owner: c.Repo.Owner.Name,
		Name: c.Repo.Name, MergedBy: v.v.People.Get(pull.MergedBy), DeleteAfter: c.Repo.Settings.DeleteOnMerge}
	exists := v.head.HeadHref != ""
	if !pull.Issue.Open() {
		_, _, err := s.headPlace(c.Context(), p, pull)
		may := err == nil && c.Viewer.SignedIn()
		if pull.Merged() && p.Role.AtLeast(model.RoleWrite) && !c.Repo.Archived() {
			m.CanRevert = true
			var err error
			if m.PickOnto, err = branchNames(c, v.git, pull.BaseRef); err != nil {
				return m, err
			}
		}
		m.CanDelete, m.CanRestore = may && exists && (pull.HeadRepo != c.Repo.ID || pull.HeadRef != c.Repo.DefaultBranch), may && !exists
		return m, nil
	}
	m.Can = p.Role.AtLeast(model.RoleWrite) && !c.Repo.Archived()
	m.Methods = methods(m.Base, c.Repo)
	m.Method = c.Query("method")
	if !slices.ContainsFunc(m.Methods, func(o pullview.Method) bool { return o.Key == m.Method }) && len(m.Methods) > 0 {
		m.Method = m.Methods[0].Key
	}
	if err := s.needProps(c, v, &m); err != nil {
		return m, err
	}
	if a := pull.AutoMerge; a != nil {
		m.AutoMerge, m.AutoMergeBy = a, v.v.People.Get(a.By)
		if m.AutoMergeBy == nil {
			people, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), a.By)
			if err != nil {
				return m, err
			}
			m.AutoMergeBy = people[a.By]
		}
	}
	m.CanAuto = m.Can && pull.AutoMerge == nil
	edit := p.MayEdit(pull.Issue.AuthorID)
	m.CanDraft = edit && !pull.Issue.Draft
	if m.Can {
		msg, err := s.Suggested(c.Context(), v.git, pull, m.Method)
		if err != nil {
			return m, err
		}
		m.Title, m.Message = msg.Title, msg.Body
	}
	ahead, err := v.git.AheadBehind(c.Context(), git.OID(pull.HeadSHA), git.OID(pull.BaseSHA))
	if err == nil && pull.BaseSHA != "" {
		m.Behind = ahead[git.OID(pull.BaseSHA)].Ahead
	}
	if m.Behind > 0 && pull.Mergeable == model.MergeClean && exists && c.Viewer.SignedIn() {
		_, _, err := s.headPlace(c.Context(), p, pull)
		m.CanUpdate = err == nil
	}
	m.Checkout = strings.Join([]string{"git fetch origin refs/pull/" + num(pull.Number) + "/head", "git switch -c " + shellWord(pull.HeadRef) + " FETCH_HEAD"}, "\n")
	log, err := commitsOf(c.Context(), v.git, pull, maxMessages)
	if err != nil {
		return m, err
	}
	if closes := s.closesOf(p, pull, log); pull.BaseRef == c.Repo.DefaultBranch && len(closes) > 0 {
		m.Closes = s.Issues.Refs(c, v.v, closes)
	}
	return m, nil
}

// shellWord is a name as a shell takes it.
func shellWord(s string) string {
	if strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// needProps are the lines of the merge box.
func (s *Service) needProps(c *web.Ctx, v *pageView, m *pullview.MergeProps) error {
	pull, p := v.pull, place(c)
	facts, err := s.gather(c.Context(), v.git, pull)
	if err != nil {
		return err
	}
	needs, err := s.needsOf(c.Context(), s.DB.Repo(c.Repo.ID), p, pull, m.Method, facts)
	if err != nil {
		return err
	}
	m.Ready, m.Bypass = true, needs.Bypass
	v.reviews, v.reviewsRead = needs.Reviews, true
	for _, n := range needs.List {
		line := pullview.Need{Text: n.Text, Who: n.Who, Icon: "circle-check", Kind: "success", Items: needItems(v, n)}
		m.Bypass = m.Bypass && (n.Met || n.Warns || n.Rule)
		switch {
		case n.Warns:
			line.Icon, line.Kind = "circle-alert", "warning"
		case n.Pending:
			line.Icon, line.Kind = "clock", "pending"
		case !n.Met:
			line.Icon, line.Kind = "circle-alert", "danger"
		}
		if n.Key == "draft" {
			line.Icon, line.Kind = "git-pull-request-draft", "draft"
			if p.MayEdit(pull.Issue.AuthorID) {
				line.Who = ""
				line.Action = ui.PostButton(m.Base+"/draft", "", map[string]string{"draft": "false"}, ui.ButtonProps{Label: "Ready for review", Icon: "eye"})
			}
		}
		m.Ready = m.Ready && (n.Met || n.Warns)
		m.Needs = append(m.Needs, line)
	}
	line, ok := gitNeed(pull, c.Repo)
	if line != nil && conflicted(p, pull) {
		line.Action = ui.Button(ui.ButtonProps{Label: "Resolve here", Icon: "file-warning", Href: m.Base + "/conflicts"})
	}
	m.Ready, m.Bypass = m.Ready && ok, m.Bypass && ok
	if line != nil {
		m.Needs = append(m.Needs, *line)
	}
	return nil
}

// needItems are the checks or reviews that a need is about.
func needItems(v *pageView, n Need) []pullview.NeedItem {
	var out []pullview.NeedItem
	for _, st := range n.Statuses {
		item := pullview.NeedItem{Title: st.Context, Required: st.Required, State: part.CheckState("expected"), Text: "Not reported yet"}
		if st.Status != nil {
			item.State, item.Text, item.Href = part.CheckState(st.Status.State), st.Status.Description, st.Status.TargetURL
		}
		out = append(out, item)
	}
	for _, r := range n.Reviews {
		item := pullview.NeedItem{Face: v.v.People.Get(r.AuthorID), State: reviewState(r.State)}
		if r.State == model.ReviewApproved && r.SHA != v.pull.HeadSHA {
			item.Text = "approved an earlier round"
		}
		out = append(out, item)
	}
	return out
}

// changedLinks lets the lines about pushes lead to what each changed, without
// what came from the base.
func changedLinks(c *web.Ctx, pull *model.Pull, entries []threadview.Entry) {
	files := link.PullFiles(c.Repo.Owner.Name, c.Repo.Name, pull.Number)
	for _, e := range entries {
		if e.Line == nil || e.Line.Kind != model.ItemPushedCommits && e.Line.Kind != model.ItemForcePushed {
			continue
		}
		for k := 1; k < len(pull.Rounds); k++ {
			if pull.Rounds[k].Head == e.Line.Data.To && pull.Rounds[k-1].Head == e.Line.Data.From {
				e.Line.Changed = link.Q("from", num(int64(k)), "round", num(int64(k+1))).On(files)
			}
		}
	}
}

// waiting is how somebody looks who was asked for a review.
func waiting() ui.State { return ui.State{Kind: "pending", Word: "Asked for a review"} }

// reviewState is how a review's state looks.
func reviewState(state string) ui.State {
	switch state {
	case model.ReviewApproved:
		return ui.State{Kind: "success", Word: "Approved"}
	case model.ReviewChanges:
		return ui.State{Kind: "failure", Word: "Asked for changes", Icon: "file-diff"}
	case model.ReviewDismissed:
		return ui.State{Kind: "cancelled", Word: "Dismissed"}
	}
	return ui.State{Kind: "neutral", Word: "Commented", Icon: "message-square"}
}

// gitNeed is what git says of a merge.
func gitNeed(pull *model.Pull, repo *model.Repo) (*pullview.Need, bool) {
	switch pull.Mergeable {
	case model.MergeConflict:
		n := &pullview.Need{Icon: "circle-alert", Kind: "danger", Text: "There are conflicts with " + pull.BaseRef + ".",
			Who: "Whoever can push to the branch can resolve them: merge " + pull.BaseRef + " into it, or rebase it."}
		for _, path := range pull.Conflicts {
			n.Items = append(n.Items, pullview.NeedItem{State: ui.State{Kind: "failure", Word: "Conflict", Icon: "file-warning"}, Title: path})
		}
		return n, false
	case model.MergeGone:
		return nil, false
	case model.MergeUnrelated:
		return nil, repo.Settings.AllowUnrelated
	}
	if pull.Commits == 0 {
		return &pullview.Need{Icon: "circle-slash", Kind: "", Text: "There is nothing to merge: " + pull.BaseRef + " has all of it."}, false
	}
	return &pullview.Need{Icon: "circle-check", Kind: "success", Text: "There are no conflicts with " + pull.BaseRef + "."}, true
}
