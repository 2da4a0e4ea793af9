package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
)

// NotMergeable says that git cannot merge as was asked.
type NotMergeable struct{ Reason string }

func (e *NotMergeable) Error() string { return e.Reason }

// Unwrap makes it a fault.
func (e *NotMergeable) Unwrap() error { return &fault.Fault{Kind: fault.Conflict, Message: e.Reason} }

// Message is a commit's message in two parts, as people edit it.
type Message struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

func (m Message) text() string {
	if strings.TrimSpace(m.Body) == "" {
		return m.Title + "\n"
	}
	return m.Title + "\n\n" + strings.TrimSpace(m.Body) + "\n"
}

// maxMessages is how many commits a squashed commit's message lists.
const maxMessages = 100

// Suggested is the message that a merge with this method has unless another
// is given; rebase and fast-forward make no commit of their own.
func (s *Service) Suggested(ctx context.Context, g *git.Repository, pull *model.Pull, method string) (Message, error) {
	number := strconv.FormatInt(pull.Number, 10)
	switch method {
	case model.MethodMerge:
		from := strings.Replace(pull.HeadLabel, ":", "/", 1)
		return Message{"Merge pull request #" + number + " from " + from, pull.Issue.Title}, nil
	case model.MethodSquash:
		m := Message{Title: pull.Issue.Title + " (#" + number + ")"}
		log, err := commitsOf(ctx, g, pull, maxMessages)
		if err != nil {
			return m, err
		}
		m.Body = squashed(log)
		trailers, err := s.coAuthors(ctx, pull, log)
		if trailers != "" {
			m.Body = strings.TrimSpace(m.Body + "\n\n" + trailers)
		}
		return m, err
	}
	return Message{}, nil
}

// squashed is the text of several commits in one.
func squashed(log []*git.Commit) string {
	var b strings.Builder
	for _, c := range log {
		if c.IsMerge() {
			continue
		}
		body := withoutTrailers(c)
		if len(log) == 1 {
			return body
		}
		b.WriteString("* " + c.Title() + "\n\n")
		if body != "" {
			b.WriteString(body + "\n\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// withoutTrailers is a commit's text below its title without the lines that
// name co-authors, who are named once for all.
func withoutTrailers(c *git.Commit) string {
	lines := strings.Split(strings.TrimSpace(c.Body()), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool {
		return strings.HasPrefix(strings.ToLower(l), "co-authored-by:")
	})
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// coAuthors names everyone but the pull request's author who wrote one of the
// commits.
func (s *Service) coAuthors(ctx context.Context, pull *model.Pull, log []*git.Commit) (string, error) {
	var people []git.Person
	var emails []string
	add := func(p git.Person) {
		key := strings.ToLower(p.Email)
		if p.Email != "" && !slices.Contains(emails, key) {
			emails = append(emails, key)
			people = append(people, p)
		}
	}
	for _, c := range log {
		add(git.Person{Name: c.AuthorName(), Email: git.DecodeText(c.Author.Email)})
		for _, p := range c.CoAuthors() {
			add(p)
		}
	}
	accounts, err := accountdb.ByEmails(ctx, s.DB.Directory(), emails)
	if err != nil {
		return "", err
	}
	var lines []string
	for i, p := range people {
		a := accounts[emails[i]]
		if a != nil && a.ID == pull.Issue.AuthorID || a == nil && len(people) == 1 {
			continue
		}
		lines = append(lines, fmt.Sprintf("Co-authored-by: %s <%s>", p.Name, p.Email))
	}
	return strings.Join(lines, "\n"), nil
}

// commitsOf are the commits that a pull request brings, the oldest first.
func commitsOf(ctx context.Context, g *git.Repository, pull *model.Pull, limit int) ([]*git.Commit, error) {
	opts := git.LogOptions{Limit: limit}
	if pull.BaseSHA != "" {
		opts.Exclude = []git.OID{git.OID(pull.BaseSHA)}
	}
	if pull.MergeBase != "" && pull.Merged() {
		opts.Exclude = []git.OID{git.OID(pull.MergeBase)}
	}
	log, err := g.Log(ctx, git.OID(pull.HeadSHA), opts)
	slices.Reverse(log)
	return log, err
}

// plan is a merge that is about to be made.
type plan struct {
	git       *git.Repository
	pull      *model.Pull
	base      git.OID
	method    string
	message   Message
	author    git.Person // of a squashed commit
	committer git.Person
	sign      signer
	unrelated bool // may be merged all the same
}

// build makes the commits of a merge and is what the base becomes. No ref
// moves.
func (p *plan) build(ctx context.Context) (git.OID, error) {
	head := git.OID(p.pull.HeadSHA)
	common, err := p.git.MergeBase(ctx, p.base, head)
	if err != nil {
		return "", err
	}
	if common == head {
		return "", &NotMergeable{"Everything in " + git.Display(p.pull.HeadRef) + " is in " + git.Display(p.pull.BaseRef) + " already: nothing to merge."}
	}
	if common == "" && !p.unrelated {
		return "", &NotMergeable{"The two branches have no common history, and this repository does not allow merging such. An administrator can allow it in the settings."}
	}
	switch p.method {
	case model.MethodMerge:
		return p.merged(ctx, []git.OID{p.base, head}, p.committer)
	case model.MethodSquash:
		return p.merged(ctx, []git.OID{p.base}, p.author)
	case model.MethodFastForward:
		if common != p.base {
			return "", &NotMergeable{"The branch is not based on the newest commit of " + git.Display(p.pull.BaseRef) + ", so it cannot be fast-forwarded. Update the branch by a rebase first."}
		}
		return head, nil
	case model.MethodRebase:
		return p.rebased(ctx, head)
	}
	return "", fault.Field("merge_method", "The method is merge, squash, rebase or fast-forward.")
}

func (p *plan) tree(ctx context.Context, head git.OID) (git.OID, error) {
	res, err := p.git.MergeTree(ctx, p.base, head, git.MergeOptions{AllowUnrelated: p.unrelated})
	if err != nil {
		return "", err
	}
	if !res.Clean() {
		return "", &NotMergeable{"There are conflicts with " + git.Display(p.pull.BaseRef) + " in " + conflictNames(res) + ". Resolve them in the branch first."}
	}
	return res.Tree, nil
}

func conflictNames(res *git.MergeResult) string {
	var names []string
	for _, c := range res.Conflicts {
		if name := git.Display(c.Path); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more files", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}

// merged makes one commit of the whole change.
func (p *plan) merged(ctx context.Context, parents []git.OID, author git.Person) (git.OID, error) {
	tree, err := p.tree(ctx, git.OID(p.pull.HeadSHA))
	if err != nil {
		return "", err
	}
	return p.git.CommitTree(ctx, git.CommitSpec{Tree: tree, Parents: parents, Author: author, Committer: p.committer,
		Message: p.message.text(), Sign: p.sign})
}

// signer signs the bytes of a commit; nil signs nothing.
type signer = func(payload []byte) (string, error)

// maxReplayed is how many commits a rebase makes anew.
const maxReplayed = 500

// rebased makes the commits of the head anew upon the base. The result must
// be the same as a merge's.
func (p *plan) rebased(ctx context.Context, head git.OID) (git.OID, error) {
	want, err := p.tree(ctx, head)
	if err != nil {
		return "", err
	}
	at, err := replay(ctx, p.git, p.base, head, p.committer, p.sign)
	if err != nil {
		return "", err
	}
	got, err := p.git.TreeOf(ctx, at)
	if err != nil {
		return "", err
	}
	if got != want {
		return "", &NotMergeable{"Rebasing would give another result than merging, because the branch holds merges. Choose another method."}
	}
	return at, nil
}

// replay makes the commits that head has and onto lacks anew upon onto, merges
// left out, and is the last of them. Those that change nothing any more are
// left out too.
func replay(ctx context.Context, g *git.Repository, onto, head git.OID, committer git.Person, sign signer) (git.OID, error) {
	log, err := g.Log(ctx, head, git.LogOptions{Exclude: []git.OID{onto}, NoMerges: true, Limit: maxReplayed + 1})
	if err != nil {
		return "", err
	}
	if len(log) > maxReplayed {
		return "", &NotMergeable{"There are more than " + strconv.Itoa(maxReplayed) + " commits, too many for a rebase here."}
	}
	slices.Reverse(log)
	at := onto
	for _, c := range log {
		next, err := pick(ctx, g, at, c, committer, sign)
		if err != nil {
			return "", err
		}
		at = next
	}
	return at, nil
}

// pick makes a commit's change anew upon onto, which stays where the change
// is there already.
func pick(ctx context.Context, g *git.Repository, onto git.OID, c *git.Commit, committer git.Person, sign signer) (git.OID, error) {
	base := g.EmptyTree()
	if len(c.Parents) > 0 {
		base = c.Parents[0]
	}
	res, err := g.MergeTree(ctx, onto, c.OID, git.MergeOptions{Base: base})
	if err != nil {
		return "", err
	}
	if !res.Clean() {
		return "", &NotMergeable{"The commit " + c.OID.Short() + " “" + c.Title() + "” conflicts in " + conflictNames(res) + "."}
	}
	before, err := g.TreeOf(ctx, onto)
	if err != nil || before == res.Tree {
		return onto, err
	}
	author := git.Person{Name: c.AuthorName(), Email: git.DecodeText(c.Author.Email), When: c.Author.When}
	return g.CommitTree(ctx, git.CommitSpec{Tree: res.Tree, Parents: []git.OID{onto}, Author: author, Committer: committer,
		Message: c.Text(), Sign: sign})
}

// authorOf is a pull request's author as the author of a squashed commit.
func (s *Service) authorOf(ctx context.Context, pull *model.Pull, fallback git.Person) (git.Person, error) {
	account, err := accountdb.ByID(ctx, s.DB.Directory(), pull.Issue.AuthorID)
	if fault.Is(err, fault.NotFound) {
		return fallback, nil
	}
	if err != nil {
		return fallback, err
	}
	user, err := accountdb.User(ctx, s.DB.Directory(), account.ID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return fallback, err
	}
	who := s.Repos.Person(&model.Viewer{Account: account, User: user})
	who.When = time.Now()
	return who, nil
}

// retriable says that somebody else moved the ref meanwhile.
func retriable(err error) bool {
	return errors.Is(err, git.ErrRefChanged) || errors.Is(err, git.ErrRefBusy)
}
