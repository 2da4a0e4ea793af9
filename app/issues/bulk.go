package issues

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

// maxBulk is how many threads one bulk edit changes.
const maxBulk = 100

// undo is what a bulk edit changed, so that it can be taken back.
type undo struct {
	By   int64  `json:"by"`
	Text string `json:"text"`
	Was  []was  `json:"was"`
}

// was is what a thread was before.
type was struct {
	Number    int64   `json:"number"`
	State     string  `json:"state"`
	Reason    string  `json:"reason"`
	Labels    []int64 `json:"labels"`
	Assignees []int64 `json:"assignees"`
	Milestone int64   `json:"milestone"`
}

// bulkChange is the change that a word such as close or label:bug stands for.
func bulkChange(do string, viewer int64, i *model.Issue) (threads.Change, string, error) {
	if c, ok := closing(do, ""); ok && do != "duplicate" {
		return c, map[string]string{"close": "closed", "not_planned": "closed as not planned", "reopen": "reopened"}[do], nil
	}
	word, value, _ := strings.Cut(do, ":")
	switch word {
	case "label":
		return threads.Change{AddLabels: []string{value}}, "labelled " + value, nil
	case "unlabel":
		return threads.Change{RemoveLabels: []string{value}}, "unlabelled " + value, nil
	case "milestone":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			break
		}
		return threads.Change{Milestone: &n}, "put in another milestone", nil
	case "assign":
		return threads.Change{AssignIDs: []int64{viewer}}, "assigned to you", nil
	case "unassign":
		return threads.Change{UnassignIDs: slices.Clone(i.AssigneeIDs)}, "unassigned", nil
	}
	return threads.Change{}, "", fault.New(fault.BadRequest, "That cannot be done with issues.")
}

// Bulk does the same with many threads at once, all or nothing, and returns a
// token by which it can be undone and a sentence that says what was done.
func (s *Service) Bulk(ctx context.Context, p threads.Place, numbers []int64, do string) (token, text string, err error) {
	if !p.MayTriage() {
		return "", "", denied("Many issues at once are changed by people with the triage role or more.")
	}
	if len(numbers) == 0 {
		return "", "Nothing was chosen, so nothing was changed.", nil
	}
	if len(numbers) > maxBulk {
		return "", "", fault.New(fault.Invalid, "At most 100 issues can be changed at once.")
	}
	var raw [12]byte
	_, _ = rand.Read(raw[:]) // never fails, by its documentation
	token = hex.EncodeToString(raw[:])
	err = s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		u := undo{By: p.Viewer.ID()}
		for _, n := range numbers {
			i, err := s.bulkOne(ctx, tx, p, n, do, &text)
			if err != nil {
				return fmt.Errorf("#%d: %w", n, err)
			}
			if i != nil {
				u.Was = append(u.Was, *i)
			}
		}
		text = fmt.Sprintf("%d %s.", len(u.Was), text)
		if len(u.Was) == 0 {
			token, text = "", "Nothing had to be changed."
			return nil
		}
		u.Text = text
		return threaddb.Put(ctx, tx, recordUndo, token, p.Viewer.ID(), u)
	})
	return token, text, err
}

// recordUndo is the kind of the records that undo bulk edits.
const recordUndo = "undo"

// bulkOne changes one thread and returns what it was, nil when it was so
// already.
func (s *Service) bulkOne(ctx context.Context, tx *db.RepoTx, p threads.Place, n int64, do string, text *string) (*was, error) {
	i, err := threaddb.Find(ctx, tx.Repo, n)
	if err != nil {
		return nil, err
	}
	before := &was{i.Number, i.State, i.StateReason, i.LabelIDs, i.AssigneeIDs, i.MilestoneID}
	change, said, err := bulkChange(do, p.Viewer.ID(), i)
	if err != nil {
		return nil, err
	}
	*text = said
	r, err := s.Threads.UpdateTx(ctx, tx, p, n, change)
	if fault.Is(err, fault.NotFound) && len(change.RemoveLabels) > 0 {
		// It has not got the label.
		return nil, nil
	}
	if err != nil || len(r.Items) == 0 {
		return nil, err
	}
	return before, nil
}

// Undo takes a bulk edit back, once. What others have changed since stays.
func (s *Service) Undo(ctx context.Context, p threads.Place, token string) (string, error) {
	text := ""
	err := s.DB.InRepo(ctx, p.Repo.ID, func(ctx context.Context, tx *db.RepoTx) error {
		row, err := threaddb.Record(ctx, tx.Repo, recordUndo, token)
		if err != nil {
			return err
		}
		var u undo
		if err := json.Unmarshal(row.Data, &u); err != nil {
			return err
		}
		if u.By != p.Viewer.ID() {
			return db.ErrNotFound
		}
		facts, err := threaddb.LoadContext(ctx, tx.Repo, 0, 0)
		if err != nil {
			return err
		}
		for _, w := range u.Was {
			if err := s.restore(ctx, tx, p, facts, w); err != nil {
				return fmt.Errorf("#%d: %w", w.Number, err)
			}
		}
		text = "Undone: " + u.Text
		_, err = threaddb.Drop(ctx, tx, recordUndo, token)
		return err
	})
	return text, err
}

func (s *Service) restore(ctx context.Context, tx *db.RepoTx, p threads.Place, facts *threaddb.Context, w was) error {
	i, err := threaddb.Find(ctx, tx.Repo, w.Number)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	c := threads.Change{Labels: &[]string{}, Milestone: new(int64)}
	if w.State != i.State {
		c.State, c.Reason = &w.State, w.Reason
		if w.Reason == model.ReasonMerged {
			c.Reason = ""
		}
	}
	for _, l := range facts.Labels {
		if slices.Contains(w.Labels, l.ID) {
			*c.Labels = append(*c.Labels, l.Name)
		}
	}
	for _, m := range facts.Milestones {
		if m.ID == w.Milestone {
			*c.Milestone = m.Number
		}
	}
	for _, id := range w.Assignees {
		if !slices.Contains(i.AssigneeIDs, id) {
			c.AssignIDs = append(c.AssignIDs, id)
		}
	}
	for _, id := range i.AssigneeIDs {
		if !slices.Contains(w.Assignees, id) {
			c.UnassignIDs = append(c.UnassignIDs, id)
		}
	}
	_, err = s.Threads.UpdateTx(ctx, tx, p, w.Number, c)
	return err
}
