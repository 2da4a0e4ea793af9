package issues

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/threaddb"
)

func (s *Service) apiLabelRoutes(a *web.Router, base string, read, post web.Access) {
	at := base + "/issues/{number}/labels"
	a.Get(base+"/labels", read, s.apiLabels, &web.Doc{ID: "issues/list-labels-for-repo", Summary: "List labels for a repository", Out: []Label{}})
	a.Post(base+"/labels", post, s.apiLabelCreate, &web.Doc{ID: "issues/create-label", Summary: "Create a label", In: LabelInput{}, Out: Label{}, Status: http.StatusCreated})
	a.Get(base+"/labels/*", read, s.apiLabel, &web.Doc{ID: "issues/get-label", Summary: "Get a label", Out: Label{}})
	a.Patch(base+"/labels/*", post, s.apiLabelEdit, &web.Doc{ID: "issues/update-label", Summary: "Update a label", In: LabelInput{}, Out: Label{}})
	a.Delete(base+"/labels/*", post, s.apiLabelDelete, &web.Doc{ID: "issues/delete-label", Summary: "Delete a label", Status: http.StatusNoContent})
	a.Get(at, read, s.apiIssueLabels, &web.Doc{ID: "issues/list-labels-on-issue", Summary: "List labels for an issue", Out: []Label{}})
	a.Post(at, post, s.apiLabelsAdd, &web.Doc{ID: "issues/add-labels", Summary: "Add labels to an issue", In: labelsBody{}, Out: []Label{}})
	a.Put(at, post, s.apiLabelsSet, &web.Doc{ID: "issues/set-labels", Summary: "Set labels for an issue", In: labelsBody{}, Out: []Label{}})
	a.Delete(at, post, s.apiLabelsClear, &web.Doc{ID: "issues/remove-all-labels", Summary: "Remove all labels from an issue", Status: http.StatusNoContent})
	a.Delete(at+"/*", post, s.apiLabelRemove, &web.Doc{ID: "issues/remove-label", Summary: "Remove a label from an issue", Out: []Label{}})
}

func (s *Service) apiLabels(c *web.Ctx) error {
	w, err := s.showing(c, nil)
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(w.facts.Labels))
	out := []Label{}
	for _, l := range cutPage(w.facts.Labels, page) {
		out = append(out, w.label(l))
	}
	return c.JSON(http.StatusOK, out)
}

// cutPage is a page of a list that was read as a whole.
func cutPage[T any](list []T, page api.Paging) []T {
	from := min(page.Offset(), int64(len(list)))
	return list[from:min(from+page.Limit(), int64(len(list)))]
}

func (s *Service) answerLabel(c *web.Ctx, status int, l *model.Label) error {
	w := &show{c: c, repo: c.Repo}
	out := w.label(l)
	if status == http.StatusCreated {
		c.W.Header().Set("Location", out.URL)
	}
	return c.JSON(status, out)
}

func (s *Service) apiLabelCreate(c *web.Ctx) error {
	var in LabelInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	in.NewName = nil
	l, err := s.CreateLabel(c.Context(), place(c), in)
	if err != nil {
		return err
	}
	return s.answerLabel(c, http.StatusCreated, l)
}

func (s *Service) apiLabel(c *web.Ctx) error {
	l, err := s.Label(c.Context(), c.Repo, c.Param("*"))
	if err != nil {
		return err
	}
	return s.answerLabel(c, http.StatusOK, l)
}

func (s *Service) apiLabelEdit(c *web.Ctx) error {
	var in LabelInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	l, err := s.EditLabel(c.Context(), place(c), c.Param("*"), in)
	if err != nil {
		return err
	}
	return s.answerLabel(c, http.StatusOK, l)
}

func (s *Service) apiLabelDelete(c *web.Ctx) error {
	if err := s.DeleteLabel(c.Context(), place(c), c.Param("*")); err != nil {
		return err
	}
	return c.NoContent()
}

// labelsBody is {"labels": [...]}, or the list itself.
type labelsBody struct {
	Labels []labelText `json:"labels"`
}

// UnmarshalJSON reads both forms.
func (b *labelsBody) UnmarshalJSON(doc []byte) error {
	if len(doc) > 0 && doc[0] == '[' {
		return json.Unmarshal(doc, &b.Labels)
	}
	type plain labelsBody
	return json.Unmarshal(doc, (*plain)(b))
}

func (s *Service) apiIssueLabels(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	page := api.PageOf(c)
	page.LinkTotal(c, len(i.LabelIDs))
	return s.answerLabels(c, cutPage(i.LabelIDs, page))
}

func (s *Service) answerLabels(c *web.Ctx, ids []int64) error {
	facts := &threaddb.Context{}
	if len(ids) > 0 {
		facts = nil
	}
	w, err := s.showing(c, facts)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, w.labels(ids))
}

func (s *Service) apiLabelsAdd(c *web.Ctx) error {
	return s.apiRelabel(c, func(names []string) threads.Change { return threads.Change{AddLabels: names} })
}

func (s *Service) apiLabelsSet(c *web.Ctx) error {
	return s.apiRelabel(c, func(names []string) threads.Change { return threads.Change{Labels: &names} })
}

func (s *Service) apiRelabel(c *web.Ctx, change func(names []string) threads.Change) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	var b labelsBody
	if err := c.Decode(&b); err != nil {
		return err
	}
	names := []string{}
	for _, l := range b.Labels {
		names = append(names, string(l))
	}
	ch := change(names)
	ch.MakeLabels = true
	r, err := s.Threads.Update(c.Context(), place(c), n, ch)
	if err != nil {
		return resource("Label", err)
	}
	return s.answerLabels(c, slices.Clone(r.Issue.LabelIDs))
}

func (s *Service) apiLabelsClear(c *web.Ctx) error {
	return s.apiSet(c, threads.Change{Labels: &[]string{}})
}

func (s *Service) apiLabelRemove(c *web.Ctx) error {
	n, err := c.ParamInt("number")
	if err != nil {
		return err
	}
	r, err := s.Threads.Update(c.Context(), place(c), n, threads.Change{RemoveLabels: []string{c.Param("*")}})
	if err != nil {
		return err
	}
	return s.answerLabels(c, r.Issue.LabelIDs)
}
