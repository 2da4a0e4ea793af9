package threads

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// Opening is what a new thread starts with. Labels, assignees, milestone and
// type are left out without a word where the author may not set them, as on
// GitHub.
type Opening struct {
	Title        string
	Body         string
	Labels       []string
	Assignees    []string // account names
	Milestone    int64    // its number, 0 for none
	Type         string
	Confidential bool
	// Draft is for pull requests.
	Draft bool
	// MakeLabels makes labels that are missing, where the author may.
	MakeLabels bool
	// TemplateLabels are given whoever the author is; those that do not exist
	// are left out.
	TemplateLabels []string

	assignees []int64
}

// Validate says what is wrong with the texts, and puts them into the form in
// which they are kept.
func (o *Opening) Validate() error {
	fields := fault.Fields{}
	var problem string
	o.Title, problem = TitleOf(o.Title)
	fields.Add("title", problem)
	o.Body, problem = BodyOf(o.Body)
	fields.Add("body", problem)
	return fields.Err()
}

// Prepare checks an opening and looks up its assignees; it is called before
// the transaction of OpenTx.
func (s *Service) Prepare(ctx context.Context, p Place, o *Opening) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if !p.MayTriage() {
		o.Labels, o.Assignees, o.Milestone, o.Type = nil, nil, 0, ""
	}
	if len(o.Assignees) == 0 {
		return nil
	}
	var err error
	o.assignees, err = s.assignable(ctx, p, o.Assignees, 0)
	return err
}

// Opened is a new thread.
type Opened struct {
	Issue *model.Issue
	// Event is what the caller completes and publishes.
	Event Event
	// Facts are the repository's labels and milestones, where the thread has
	// any.
	Facts *threaddb.Context
}

// OpenTx adds a thread of kind within a transaction.
func (s *Service) OpenTx(ctx context.Context, tx *db.RepoTx, p Place, kind string, o Opening) (*Opened, error) {
	text := s.read(p.Repo, o.Body)
	id, err := tx.NextID(ctx)
	if err != nil {
		return nil, err
	}
	i := &model.Issue{ID: id, Kind: kind, Title: o.Title, Body: o.Body, State: model.StateOpen, AuthorID: p.Viewer.ID(),
		AssigneeIDs: o.assignees, Type: o.Type, Refs: text.refs, Tasks: text.tasks, TasksDone: text.done,
		Confidential: o.Confidential, Draft: o.Draft, Version: 1, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	var labels []model.LabelRef
	var milestone *MilestoneRef
	facts := &threaddb.Context{}
	if len(o.Labels)+len(o.TemplateLabels) > 0 || o.Milestone != 0 {
		// The tables may be new in this transaction.
		if _, err := tx.Write(ctx, threaddb.Domain); err != nil {
			return nil, err
		}
		if facts, err = threaddb.LoadContext(ctx, tx.Repo, 0, 0); err != nil {
			return nil, err
		}
		if o.MakeLabels && p.MayModerate() {
			if err := makeLabels(ctx, tx, facts, o.Labels); err != nil {
				return nil, err
			}
		}
		for _, name := range o.TemplateLabels {
			if slices.ContainsFunc(facts.Labels, func(l *model.Label) bool { return model.Key(l.Name) == model.Key(name) }) {
				o.Labels = append(o.Labels, name)
			}
		}
		if i.LabelIDs, labels, err = pickLabels(facts.Labels, o.Labels); err != nil {
			return nil, err
		}
		if o.Milestone != 0 {
			if milestone, err = pickMilestone(facts.Milestones, o.Milestone); err != nil {
				return nil, err
			}
			i.MilestoneID = milestone.ID
		}
	}
	i.Number = tx.NextNumber()
	if err := threaddb.Insert(ctx, tx, i); err != nil {
		return nil, err
	}
	tx.Count(counter(i), 1)
	if i.Confidential {
		tx.Count("confidential", 1)
	}
	if err := threaddb.CountMilestones(ctx, tx, i.MilestoneID); err != nil {
		return nil, err
	}
	if err := s.refer(ctx, tx, p, i, 0, text); err != nil {
		return nil, err
	}
	e := EventOf(i, "opened")
	e.Body, e.Mentions, e.Labels, e.Milestone = &i.Body, text.mentions, labels, milestone
	return &Opened{i, e, facts}, nil
}

// counter is the name of the scope's counter that counts the thread.
func counter(i *model.Issue) string { return i.State + "_" + i.Kind + "s" }

// pickLabels finds labels by name. Of an exclusive group the last one wins.
func pickLabels(all []*model.Label, names []string) ([]int64, []model.LabelRef, error) {
	var picked []*model.Label
	for _, name := range names {
		at := slices.IndexFunc(all, func(l *model.Label) bool { return model.Key(l.Name) == model.Key(name) })
		if at < 0 {
			return nil, nil, fault.Field("labels", "There is no label named "+name+".")
		}
		l := all[at]
		picked = slices.DeleteFunc(picked, func(o *model.Label) bool { return o.ID == l.ID || l.Group() != "" && o.Group() == l.Group() })
		picked = append(picked, l)
	}
	ids, refs := make([]int64, len(picked)), make([]model.LabelRef, len(picked))
	for i, l := range picked {
		ids[i], refs[i] = l.ID, model.LabelRef{ID: l.ID, Name: l.Name, Color: l.Color}
	}
	return ids, refs, nil
}

// makeLabels adds those of the names that are no label yet, in grey.
func makeLabels(ctx context.Context, tx *db.RepoTx, c *threaddb.Context, names []string) error {
	for _, name := range names {
		if slices.ContainsFunc(c.Labels, func(l *model.Label) bool { return model.Key(l.Name) == model.Key(name) }) {
			continue
		}
		clean, problem := TitleOf(name)
		if problem != "" || clean != name || utf8.RuneCountInString(name) > 50 || strings.Contains(name, ",") {
			return fault.Field("labels", "A label's name is one line of at most 50 characters.")
		}
		l := &model.Label{Name: name, Color: "ededed"}
		if err := threaddb.InsertLabel(ctx, tx, l); err != nil {
			return err
		}
		c.Labels = append(c.Labels, l)
	}
	return nil
}

func pickMilestone(all []*model.Milestone, number int64) (*MilestoneRef, error) {
	for _, m := range all {
		if m.Number == number {
			return &MilestoneRef{m.ID, m.Number, m.Title}, nil
		}
	}
	return nil, fault.Field("milestone", "There is no such milestone.")
}

// assignable finds accounts by name that a thread of this author may be
// assigned to: those with access to the repository, and its author.
func (s *Service) assignable(ctx context.Context, p Place, names []string, author int64) ([]int64, error) {
	accounts, err := accountdb.Candidates(ctx, s.db.Directory(), p.Repo, names)
	if err != nil {
		return nil, err
	}
	ids := []int64{}
	for _, name := range names {
		a := accounts[model.Key(name)]
		switch {
		case a == nil || !a.IsUser():
			return nil, fault.Field("assignees", "There is no user named "+name+".")
		case a.ID != author && a.ID != p.Viewer.ID() && !a.Member:
			return nil, fault.Field("assignees", name+" has no access to this repository, so it cannot be assigned.")
		case len(ids) >= 10 && !slices.Contains(ids, a.ID):
			return nil, fault.Field("assignees", "At most 10 people can be assigned.")
		case !slices.Contains(ids, a.ID):
			ids = append(ids, a.ID)
		}
	}
	return ids, nil
}
