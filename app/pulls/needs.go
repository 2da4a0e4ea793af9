package pulls

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/protectdb"
	"github.com/gitfor/gitfor/db/reviewdb"
	"github.com/gitfor/gitfor/db/statusdb"
)

// Need is one thing that is asked of a pull request before it may be merged.
type Need struct {
	// Key tells what it is about: state, draft, history, access, reviews,
	// changes, owners, conversations, checks, behind, unstable.
	Key string
	// Met says that it is there.
	Met bool
	// Rule says that a rule of the branch asks for it, which those who are
	// exempt from rules may pass over.
	Rule bool
	// Pending says that it is on its way, so nobody needs to do anything.
	Pending bool
	// Warns says that it forbids nothing, but should be seen.
	Warns bool
	// Text says what is missing or there, Who can do something about it.
	Text, Who string
	// Statuses and Reviews are what it is about.
	Statuses []NeedStatus
	Reviews  []*model.Review
}

// NeedStatus is a check that is there or waited for.
type NeedStatus struct {
	Context  string
	Status   *model.Status // nil when nothing was reported
	Required bool
}

// order puts what failed before what is waited for and what succeeded, and
// what is required before the rest of each.
func (n NeedStatus) order() int {
	at := 2
	switch {
	case n.Status == nil || n.Status.Outcome() == model.StatusPending:
		at = 1
	case n.Status.Outcome() == model.StatusFailure:
		at = 0
	}
	if n.Required {
		return 2 * at
	}
	return 2*at + 1
}

// Needs are what is asked of a pull request.
type Needs struct {
	List []Need
	// Bypass says that the viewer may merge in spite of rules that are not
	// met.
	Bypass bool
	// Reviews are all that were submitted.
	Reviews []*model.Review
}

// Open are those that are not met.
func (n *Needs) Open() []Need {
	var out []Need
	for _, need := range n.List {
		if !need.Met {
			out = append(out, need)
		}
	}
	return out
}

// refusal is the fault for a merge while something is missing.
func (n *Needs) refusal(bypass bool) error {
	for _, need := range n.List {
		if need.Met || need.Warns || need.Rule && bypass && n.Bypass {
			continue
		}
		text := strings.TrimSpace(need.Text + " " + need.Who)
		return fault.Wrap(fault.Conflict, text, &NotMergeable{text})
	}
	return nil
}

// gitFacts are what needs want to know of git; they are gathered before the
// transaction in which needs are looked at.
type gitFacts struct {
	owned  []Owned
	behind bool // the base has commits that the head lacks
	merges bool // the head brings merge commits
	// unsigned is a commit of the head without a verified signature.
	unsigned git.OID
}

// gather reads the facts, where the rules of the base ask for them.
func (s *Service) gather(ctx context.Context, g *git.Repository, pull *model.Pull) (*gitFacts, error) {
	f := &gitFacts{}
	rules, err := protectdb.For(ctx, s.DB.Repo(g.ID), pull.BaseRef)
	rule := model.Together(rules)
	if err != nil || rule == nil {
		return f, err
	}
	if rule.Owners {
		if f.owned, err = s.owned(ctx, g, pull); err != nil {
			return nil, err
		}
	}
	if rule.UpToDate {
		base, err := s.baseTip(ctx, g, pull)
		if err != nil {
			return nil, err
		}
		if base != "" {
			in, err := g.IsAncestor(ctx, base, git.OID(pull.HeadSHA))
			if err != nil {
				return nil, err
			}
			f.behind = !in
		}
	}
	if rule.Signed && s.Signatures != nil {
		log, err := commitsOf(ctx, g, pull, maxReplayed)
		if err != nil {
			return nil, err
		}
		if f.unsigned, err = s.Signatures.AllVerified(ctx, g, log); err != nil {
			return nil, err
		}
	}
	if rule.Linear {
		log, err := commitsOf(ctx, g, pull, maxReplayed)
		if err != nil {
			return nil, err
		}
		f.merges = slices.ContainsFunc(log, (*git.Commit).IsMerge)
	}
	return f, nil
}

// needing is the look at what a pull request needs.
type needing struct {
	p       Place
	pull    *model.Pull
	method  string
	rule    *model.Protection // nil when the base is not protected
	facts   *gitFacts
	reviews []*model.Review
	Needs
}

func (n *needing) add(need Need) { n.List = append(n.List, need) }

// needsOf looks at all that is asked of a pull request before it may be
// merged with a method ("" for any). It reads the repository's state only, so
// it can be asked within the transaction that decides about the merge.
func (s *Service) needsOf(ctx context.Context, repo db.Repo, p Place, pull *model.Pull, method string, facts *gitFacts) (*Needs, error) {
	n := &needing{p: p, pull: pull, method: method, facts: facts}
	rules, err := protectdb.For(ctx, repo, pull.BaseRef)
	if err != nil {
		return nil, err
	}
	n.rule = model.Together(rules)
	if n.reviews, err = reviewdb.List(ctx, repo, pull.Number, 0); err != nil {
		return nil, err
	}
	n.Reviews = n.reviews
	n.state()
	n.review()
	n.owners()
	if n.rule != nil && n.rule.Resolved {
		open, err := reviewdb.Unresolved(ctx, repo, pull.Number)
		if err != nil {
			return nil, err
		}
		n.conversations(open)
	}
	statuses, err := statusdb.Latest(ctx, repo, "", pull.HeadSHA)
	if err != nil {
		return nil, err
	}
	n.checks(statuses[pull.HeadSHA])
	n.history()
	if n.rule != nil {
		n.Bypass = n.rule.Exempt(p.Role)
	}
	return &n.Needs, nil
}

func (n *needing) state() {
	pull := n.pull
	if pull.Issue.Draft {
		n.add(Need{Key: "draft", Text: "This pull request is still a draft.", Who: "Its author or someone with write access can mark it as ready."})
	}
	switch pull.Mergeable {
	case model.MergeGone:
		n.add(Need{Key: "state", Text: "The branch " + git.Display(pull.BaseRef) + " no longer exists.", Who: "Its author can choose another base."})
	case model.MergeUnrelated:
		if !n.p.Repo.Settings.AllowUnrelated {
			n.add(Need{Key: "history", Text: "The two branches have no common history, and this repository does not allow merging such.",
				Who: "An administrator can allow it in the settings."})
		}
	}
	if n.rule != nil && n.p.Role.AtLeast(model.RoleWrite) && !n.rule.MayPush(n.p.Viewer.ID(), n.p.Role) {
		n.add(Need{Key: "access", Text: "Only certain people may merge into " + git.Display(pull.BaseRef) + ", and you are not one of them.",
			Who: "The repository’s administrators say who."})
	}
}

// votes are the standing reviews of those whose word counts for rules.
func (n *needing) votes() (approvals, against []*model.Review) {
	for _, r := range reviewdb.Standing(n.reviews) {
		switch {
		case !r.Counts || r.AuthorID == n.pull.Issue.AuthorID:
		case r.State == model.ReviewChanges:
			against = append(against, r)
		case n.rule == nil || !n.rule.Fresh || r.SHA == n.pull.HeadSHA:
			approvals = append(approvals, r)
		}
	}
	byID := func(a, b *model.Review) int { return int(a.ID - b.ID) }
	slices.SortFunc(approvals, byID)
	slices.SortFunc(against, byID)
	return approvals, against
}

func (n *needing) review() {
	approvals, against := n.votes()
	ruled := n.rule != nil && n.rule.Reviews > 0
	if len(against) > 0 {
		n.add(Need{Key: "changes", Rule: true, Warns: !ruled, Text: "Changes were asked for.",
			Who: "Who asked for them can approve, or someone with write access can dismiss the review.", Reviews: against})
	}
	switch {
	case ruled && len(approvals) < n.rule.Reviews:
		missing := n.rule.Reviews - len(approvals)
		text := "One more approval is needed."
		if missing > 1 {
			text = strconv.Itoa(missing) + " more approvals are needed."
		}
		if len(approvals) == 0 && missing == 1 {
			text = "An approval is needed."
		}
		n.add(Need{Key: "reviews", Rule: true, Text: text, Who: "People with write access, other than the author, can give it.", Reviews: approvals})
	case len(approvals) > 0:
		n.add(Need{Key: "reviews", Met: true, Text: approved(len(approvals)), Reviews: approvals})
	}
	if n.rule == nil || !n.rule.Other {
		return
	}
	last := int64(0)
	if k := n.pull.Round(); k > 0 {
		last = n.pull.Rounds[k-1].By
	}
	if !slices.ContainsFunc(approvals, func(r *model.Review) bool { return r.AuthorID != last && r.SHA == n.pull.HeadSHA }) {
		n.add(Need{Key: "reviews", Rule: true, Text: "The newest commits need an approval by somebody else than who pushed them.",
			Who: "People with write access can give it."})
	}
}

func approved(count int) string {
	if count == 1 {
		return "Approved."
	}
	return "Approved by " + strconv.Itoa(count) + " people."
}

func (n *needing) owners() {
	if n.rule == nil || !n.rule.Owners || n.facts == nil {
		return
	}
	approvals, _ := n.votes()
	for _, o := range n.facts.owned {
		met := slices.ContainsFunc(approvals, func(r *model.Review) bool { return slices.Contains(o.IDs, r.AuthorID) })
		// One's own files need nobody else's word.
		met = met || slices.Contains(o.IDs, n.pull.Issue.AuthorID) && len(o.IDs) == 1
		if !met {
			n.add(Need{Key: "owners", Rule: true, Text: "An owner of " + o.Pattern + " has to approve.", Who: "That is " + strings.Join(o.Names, " or ") + "."})
		}
	}
}

func (n *needing) conversations(open int) {
	if open == 0 {
		n.add(Need{Key: "conversations", Rule: true, Met: true, Text: "All conversations are resolved."})
		return
	}
	text := "A conversation is not resolved."
	if open > 1 {
		text = strconv.Itoa(open) + " conversations are not resolved."
	}
	n.add(Need{Key: "conversations", Rule: true, Text: text, Who: "The author and people with write access can resolve them."})
}

func (n *needing) checks(list []*model.Status) {
	var required []string
	if n.rule != nil {
		required = n.rule.Checks
	}
	var all []NeedStatus
	failed, waits, missing := 0, 0, 0
	for _, name := range required {
		at := slices.IndexFunc(list, func(s *model.Status) bool { return s.Context == name })
		if at < 0 {
			all = append(all, NeedStatus{Context: name, Required: true})
			missing++
		}
	}
	optional := 0
	for _, s := range list {
		need := slices.Contains(required, s.Context)
		all = append(all, NeedStatus{Context: s.Context, Status: s, Required: need})
		switch o := s.Outcome(); {
		case o == model.StatusSuccess:
		case !need:
			optional++
		case o == model.StatusPending:
			waits++
		default:
			failed++
		}
	}
	slices.SortStableFunc(all, func(a, b NeedStatus) int { return a.order() - b.order() })
	need := Need{Key: "checks", Rule: true, Statuses: all}
	switch {
	case len(all) == 0:
		return
	case failed > 0:
		need.Text, need.Who = plural(failed, "required check has", "required checks have")+" failed.", "Whoever can push to the branch can fix it."
	case waits+missing > 0:
		need.Pending = true
		need.Text, need.Who = plural(waits+missing, "required check is", "required checks are")+" not done.", "They report by themselves."
	case optional > 0:
		need.Key, need.Warns = "unstable", true
		need.Text = plural(optional, "check that is not required has", "checks that are not required have") + " not succeeded."
	default:
		need.Met, need.Text = true, "All checks have succeeded."
	}
	n.add(need)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func (n *needing) history() {
	if n.rule == nil || n.facts == nil {
		return
	}
	if n.rule.UpToDate && n.facts.behind {
		n.add(Need{Key: "behind", Rule: true, Text: "The branch lacks the newest commits of " + git.Display(n.pull.BaseRef) + ".",
			Who: "Whoever can push to the branch can update it."})
	}
	// Squashing and rebasing make new commits, which this site signs.
	if n.facts.unsigned != "" && (n.method == model.MethodMerge || n.method == model.MethodFastForward) {
		n.add(Need{Key: "signed", Rule: true, Text: git.Display(n.pull.BaseRef) + " takes signed commits only; " + n.facts.unsigned.Short() + " has no verified signature.",
			Who: "Squash or rebase instead, or sign the commits."})
	}
	if !n.rule.Linear {
		return
	}
	switch {
	case n.method == model.MethodMerge:
		n.add(Need{Key: "method", Rule: true, Text: git.Display(n.pull.BaseRef) + " takes no merge commits.", Who: "Squash, rebase or fast-forward instead."})
	case n.method == model.MethodFastForward && n.facts.merges:
		n.add(Need{Key: "method", Rule: true, Text: git.Display(n.pull.BaseRef) + " takes no merge commits, and the branch holds some.", Who: "Squash or rebase instead."})
	}
}
