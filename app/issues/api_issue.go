package issues

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/issuedb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/repodb"
)

// anyText is a text that some clients send as a number.
type anyText string

// UnmarshalJSON reads a string or a number.
func (t *anyText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	*t = anyText(b)
	return nil
}

// labelName is a label in a request: its name, or an object that has it.
type labelText string

// UnmarshalJSON reads both forms.
func (l *labelText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var o struct {
			Name string `json:"name"`
		}
		err := json.Unmarshal(b, &o)
		*l = labelText(o.Name)
		return err
	}
	return json.Unmarshal(b, (*string)(l))
}

// issueBody is the body of requests that make or change an issue.
type issueBody struct {
	Title        api.Maybe[anyText]     `json:"title"`
	Body         api.Maybe[string]      `json:"body"`
	State        api.Maybe[string]      `json:"state"`
	StateReason  api.Maybe[string]      `json:"state_reason"`
	Milestone    api.Maybe[anyText]     `json:"milestone"`
	Labels       api.Maybe[[]labelText] `json:"labels"`
	Assignees    api.Maybe[[]string]    `json:"assignees"`
	Assignee     api.Maybe[string]      `json:"assignee"`
	Type         api.Maybe[string]      `json:"type"`
	Confidential api.Maybe[bool]        `json:"confidential"`
}

func (b *issueBody) labels() []string {
	out := make([]string, 0, len(b.Labels.Value))
	for _, l := range b.Labels.Value {
		out = append(out, string(l))
	}
	return out
}

func (b *issueBody) assignees() *[]string {
	switch {
	case b.Assignees.Set:
		return &b.Assignees.Value
	case b.Assignee.Set && (b.Assignee.Null || b.Assignee.Value == ""):
		return &[]string{}
	case b.Assignee.Set:
		return &[]string{b.Assignee.Value}
	}
	return nil
}

func (b *issueBody) milestone() (*int64, error) {
	if !b.Milestone.Set {
		return nil, nil
	}
	n := int64(0)
	if v := string(b.Milestone.Value); !b.Milestone.Null && v != "" {
		var err error
		if n, err = strconv.ParseInt(v, 10, 64); err != nil || n <= 0 {
			return nil, resource("Issue", fault.Field("milestone", "There is no such milestone."))
		}
	}
	return &n, nil
}

func (s *Service) apiCreate(c *web.Ctx) error {
	var b issueBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	milestone, err := b.milestone()
	if err != nil {
		return err
	}
	in := CreateInput{Title: string(b.Title.Value), Body: b.Body.Value, Labels: b.labels(), Type: b.Type.Value,
		Confidential: b.Confidential.Value, MakeLabels: true}
	if a := b.assignees(); a != nil {
		in.Assignees = *a
	}
	if milestone != nil {
		in.Milestone = *milestone
	}
	o, err := s.create(c.Context(), place(c), in)
	if err != nil {
		return err
	}
	c.W.Header().Set("Location", c.URL(c.R.URL.EscapedPath()+"/"+num(o.Issue.Number)))
	return s.answer(c, http.StatusCreated, o.Issue, o.Facts)
}

// found is the issue that the request is about; one that was moved away
// redirects.
func (s *Service) found(c *web.Ctx) (*model.Issue, error) {
	n, err := c.ParamInt("number")
	if err != nil {
		return nil, err
	}
	i, err := s.Threads.Find(c.Context(), place(c), n)
	if err != nil {
		return nil, s.movedAway(c, n, err)
	}
	return i, nil
}

func (s *Service) apiGet(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	return s.answer(c, http.StatusOK, i, nil)
}

func (s *Service) apiUpdate(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var b issueBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	ch, err := b.change()
	if err != nil {
		return err
	}
	r, err := s.Threads.Update(c.Context(), place(c), n, ch)
	if err != nil {
		return resource("Issue", err)
	}
	return s.answer(c, http.StatusOK, r.Issue, nil)
}

func (b *issueBody) change() (ch threads.Change, err error) {
	if b.Title.Set && !b.Title.Null {
		t := string(b.Title.Value)
		ch.Title = &t
	}
	if b.Body.Set {
		ch.Body = &b.Body.Value
	}
	ch.State, ch.Reason, ch.MakeLabels = b.State.Ref(), b.StateReason.Value, true
	if b.Labels.Set {
		l := b.labels()
		ch.Labels = &l
	}
	ch.Assignees = b.assignees()
	if b.Type.Set {
		ch.Type = &b.Type.Value
	}
	ch.Confidential = b.Confidential.Ref()
	ch.Milestone, err = b.milestone()
	return ch, err
}

func (s *Service) apiDelete(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	if err := s.Threads.Delete(c.Context(), place(c), n); err != nil {
		return err
	}
	return c.NoContent()
}

type lockBody struct {
	LockReason string `json:"lock_reason"`
}

func (s *Service) apiLock(c *web.Ctx) error {
	var b lockBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	return s.apiSet(c, threads.Change{Lock: yes(true), LockReason: b.LockReason})
}

func (s *Service) apiUnlock(c *web.Ctx) error { return s.apiSet(c, threads.Change{Lock: yes(false)}) }

// apiSet makes a change that is answered by 204.
func (s *Service) apiSet(c *web.Ctx, ch threads.Change) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	if _, err := s.Threads.Update(c.Context(), place(c), n, ch); err != nil {
		return resource("Issue", err)
	}
	return c.NoContent()
}

func yes(b bool) *bool { return &b }

func num(n int64) string { return strconv.FormatInt(n, 10) }

// apiList answers with issues and pull requests, as GitHub does.
func (s *Service) apiList(c *web.Ctx) error {
	in, err := s.listInput(c)
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	in.Limit, in.Offset, in.Bodies = page.PerPage, int(page.Offset()), true
	r, err := s.List(c.Context(), place(c), *in)
	if err != nil {
		return err
	}
	page.LinkTotal(c, r.Total())
	w := &show{c: c, repo: c.Repo, facts: r.Facts, people: r.People}
	out := make([]Issue, len(r.Issues))
	for n, i := range r.Issues {
		out[n] = w.issue(i)
	}
	return c.JSON(http.StatusOK, out)
}

// listInput reads the parameters of GitHub's list.
func (s *Service) listInput(c *web.Ctx) (*ListInput, error) {
	in := &ListInput{State: c.Query("state"), Sort: c.Query("sort"), Ascending: c.Query("direction") == "asc"}
	switch in.State {
	case "":
		in.State = model.StateOpen
	case "all":
		in.State = ""
	case model.StateOpen, model.StateClosed:
	default:
		return nil, resource("Issue", fault.Field("state", "The state is open, closed or all."))
	}
	terms := Node{Op: "and"}
	term := func(key, value string) {
		if value != "" {
			terms.Kids = append(terms.Kids, Node{Key: key, Value: value})
		}
	}
	for _, l := range strings.Split(c.Query("labels"), ",") {
		term("label", strings.TrimSpace(l))
	}
	term("author", c.Query("creator"))
	term("mentions", c.Query("mentioned"))
	switch v := c.Query("assignee"); v {
	case "none":
		term("no", "assignee")
	default:
		term("assignee", v)
	}
	switch v := c.Query("milestone"); v {
	case "none":
		term("no", "milestone")
	case "":
	case "*":
		in.Where = append(in.Where, issuedb.Cond{Field: issuedb.Milestone, Not: true})
	default:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, resource("Issue", fault.Field("milestone", "The milestone is a number, none or *."))
		}
		m, err := s.Milestone(c.Context(), c.Repo, n)
		if err != nil {
			return nil, resource("Issue", fault.Field("milestone", "There is no such milestone."))
		}
		in.Where = append(in.Where, issuedb.Cond{Field: issuedb.Milestone, IDs: []int64{m.ID}})
	}
	if v := c.Query("type"); v != "" && v != "*" {
		term("type", v)
	}
	if v := c.Query("since"); v != "" {
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return nil, resource("Issue", fault.Field("since", "The time is in the form 2006-01-02T15:04:05Z."))
		}
		in.Where = append(in.Where, issuedb.Cond{Field: issuedb.Updated, From: &t})
	}
	in.Query = terms.String()
	return in, nil
}

type searchResult struct {
	TotalCount int     `json:"total_count"`
	Incomplete bool    `json:"incomplete_results"`
	Items      []Issue `json:"items"`
}

// apiSearch searches in one repository, which the query names by repo:.
func (s *Service) apiSearch(c *web.Ctx) error {
	q := c.Query("q")
	owner, name, ok := strings.Cut(Get(q, "repo"), "/")
	if !ok {
		return resource("Search", fault.Field("q", "Name the repository to search in, as repo:owner/name."))
	}
	repo, role, err := repodb.Find(c.Context(), s.DB.Directory(), owner, name, c.Viewer.ID())
	if err != nil || !c.Viewer.Reaches(repo.ID, repo.IsPrivate(), false) {
		if err == nil || fault.Is(err, fault.NotFound) {
			return resource("Search", fault.Field("q", "The repository does not exist, or you may not see it."))
		}
		return err
	}
	c.Repo, c.Role = repo, role
	page := api.PageOf(c)
	in := ListInput{Query: q, Sort: c.Query("sort"), Ascending: c.Query("order") == "asc", Bodies: true, Limit: page.PerPage, Offset: int(page.Offset())}
	if in.Sort == "" {
		in.Sort = "relevance"
	}
	r, err := s.List(c.Context(), place(c), in)
	if err != nil {
		return err
	}
	page.LinkTotal(c, r.Total())
	w := &show{c: c, repo: repo, facts: r.Facts, people: r.People}
	out := searchResult{TotalCount: r.Total(), Items: []Issue{}}
	for _, i := range r.Issues {
		v := w.issue(i)
		v.Score = new(float64)
		*v.Score = 1
		out.Items = append(out.Items, v)
	}
	return c.JSON(http.StatusOK, out)
}

// accounts returns people by id as the API shows them.
func (s *Service) accounts(ctx context.Context, c *web.Ctx, ids []int64) ([]api.User, error) {
	byID, err := accountdb.ByIDs(ctx, s.DB.Directory(), ids...)
	if err != nil {
		return nil, err
	}
	out := []api.User{}
	for _, id := range ids {
		if a := byID[id]; a != nil {
			out = append(out, api.UserOf(c, a))
		}
	}
	return out, nil
}
