package issues

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/gitfor/gitfor/db/threaddb"
)

// set makes a change that the sidebar asks for, and answers with the sidebar.
func (s *Service) set(c *web.Ctx, ch threads.Change) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	r, err := s.Threads.Update(c.Context(), place(c), n, ch)
	if fields, ok := invalid(err); ok {
		messages := []string{}
		for _, m := range fields {
			messages = append(messages, m)
		}
		slices.Sort(messages)
		if !c.HTMX() {
			return fault.New(fault.Invalid, strings.Join(messages, " "))
		}
		v, err := s.load(c)
		if err != nil {
			return err
		}
		return s.renderParts(c, unprocessable, v, map[string]string{"": strings.Join(messages, " ")})
	}
	if err != nil {
		return err
	}
	return s.after(c, r.Issue, "")
}

// filled leaves out empty texts; forms send one so that a list can be
// emptied.
func filled(list []string) []string {
	out := []string{}
	for _, v := range list {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

func (s *Service) setLabels(c *web.Ctx) error {
	var in struct {
		Labels []string `form:"labels"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	names := filled(in.Labels)
	return s.set(c, threads.Change{Labels: &names})
}

func (s *Service) setAssignees(c *web.Ctx) error {
	var in struct {
		Assignees []string `form:"assignees"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	names := filled(in.Assignees)
	for i, n := range names {
		names[i] = account(n)
	}
	return s.set(c, threads.Change{Assignees: &names})
}

func (s *Service) setMilestone(c *web.Ctx) error {
	var in struct {
		Milestone int64 `form:"milestone"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	return s.set(c, threads.Change{Milestone: &in.Milestone})
}

type switchForm struct {
	On     bool   `form:"on"`
	Reason string `form:"reason"`
}

func (s *Service) setLock(c *web.Ctx) error {
	var in switchForm
	if err := c.Decode(&in); err != nil {
		return err
	}
	return s.set(c, threads.Change{Lock: &in.On, LockReason: in.Reason})
}

func (s *Service) setPin(c *web.Ctx) error {
	var in switchForm
	if err := c.Decode(&in); err != nil {
		return err
	}
	return s.set(c, threads.Change{Pin: &in.On})
}

func (s *Service) setConfidential(c *web.Ctx) error {
	var in switchForm
	if err := c.Decode(&in); err != nil {
		return err
	}
	return s.set(c, threads.Change{Confidential: &in.On})
}

func (s *Service) setSubscription(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in struct {
		State string `form:"state"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	switch in.State {
	case "subscribed", "ignored":
		err = s.Threads.Subscribe(c.Context(), place(c), n, in.State == "ignored")
	default:
		err = s.Threads.Unsubscribe(c.Context(), place(c), n)
	}
	if err != nil {
		return err
	}
	i, err := s.Threads.Find(c.Context(), place(c), n)
	if err != nil {
		return err
	}
	return s.after(c, i, "")
}

// children adds a sub-issue or takes one out.
func (s *Service) children(c *web.Ctx) error {
	return s.related(c, func(n, add, remove int64) error {
		if remove != 0 {
			_, err := s.RemoveSubIssue(c.Context(), place(c), n, remove)
			return err
		}
		_, err := s.AddSubIssue(c.Context(), place(c), n, add, true)
		return err
	})
}

// blockers adds what an issue waits for, or takes it away.
func (s *Service) blockers(c *web.Ctx) error {
	return s.related(c, func(n, add, remove int64) error {
		_, err := s.Block(c.Context(), place(c), n, max(add, remove), remove != 0)
		return err
	})
}

func (s *Service) related(c *web.Ctx, do func(n, add, remove int64) error) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var in struct {
		Add    string `form:"add"`
		Remove int64  `form:"remove"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	err = do(n, number(in.Add), in.Remove)
	message := ""
	switch f := fault.From(err); {
	case err == nil:
	case f.Kind == fault.NotFound:
		message = "There is no issue " + in.Add + " here."
	case f.Kind == fault.Invalid:
		for _, m := range f.Fields {
			message = m
		}
	default:
		return err
	}
	v, err := s.load(c)
	if err != nil {
		return err
	}
	switch {
	case !c.HTMX() && message == "":
		return c.Redirect(threads.Href(c.Repo, v.Issue))
	case !c.HTMX():
		return c.RedirectFlash(threads.Href(c.Repo, v.Issue), message)
	case message == "":
		return s.renderParts(c, http.StatusOK, v, nil)
	}
	return s.renderParts(c, unprocessable, v, map[string]string{"": message})
}

// person is an account that a text could mention.
type person struct {
	Name  string `json:"name"`
	Shown string `json:"shown"`
}

// peopleList answers with the people that fit what was typed after an @: those
// of the thread first, then the repository's.
func (s *Service) peopleList(c *web.Ctx) error {
	const most = 8
	var ids []int64
	if n, err := c.ParamInt("number"); err == nil {
		if _, err := s.Threads.Find(c.Context(), place(c), n); err != nil {
			return err
		}
		if ids, err = threaddb.Participants(c.Context(), s.DB.Repo(c.Repo.ID), n); err != nil {
			return err
		}
	}
	members, err := repodb.Members(c.Context(), s.DB.Directory(), c.Repo)
	if err != nil {
		return err
	}
	for _, id := range members {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	byID, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
	if err != nil {
		return err
	}
	out, q := []person{}, strings.ToLower(account(c.Query("q")))
	for _, id := range ids {
		a := byID[id]
		if a == nil || a.DeletedAt != nil || !fits(a, q) {
			continue
		}
		if out = append(out, person{a.Name, a.DisplayName}); len(out) == most {
			break
		}
	}
	c.W.Header().Set("Content-Type", "application/json; charset=utf-8")
	return json.NewEncoder(c.W).Encode(out)
}

func fits(a *model.Account, q string) bool {
	return strings.HasPrefix(a.NameKey, q) || strings.Contains(strings.ToLower(a.DisplayName), q) && q != ""
}
