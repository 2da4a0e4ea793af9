package reviews

import (
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/gitfor/gitfor/app/diffs"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/reviewview"
	"github.com/gitfor/gitfor/views/ui"
)

// safe is HTML that was made safe when it was rendered.
func safe(s string) template.HTML { return template.HTML(s) } //nolint:gosec // rendered by package markup

// suggestion is a proposed change as it is shown.
func (b *build) suggestion(x, first *model.ReviewComment, after []string, there bool) *reviewview.SuggestionProps {
	out := &reviewview.SuggestionProps{After: after}
	from := first.Line
	if first.StartLine > 0 {
		from = first.StartLine
	}
	for _, l := range quoted(first.Hunk) {
		if l.new >= from && l.new <= first.Line {
			out.Before = append(out.Before, l.text)
		}
	}
	switch {
	case !there:
		out.Why = "The lines have changed since, so this can no longer be applied."
	case x.Pending || first.Resolved():
	default:
		out.CanApply = pulls.MayPush(b.p, b.pull)
	}
	return out
}

type quotedLine struct {
	new  int
	text string
}

// quoted are the lines after the change of a hunk that was kept as text.
func quoted(hunk string) []quotedLine {
	var out []quotedLine
	raw := strings.Split(hunk, "\n")
	for i, l := range diffs.Excerpt(hunk) {
		if l.New > 0 && i+1 < len(raw) && raw[i+1] != "" {
			out = append(out, quotedLine{l.New, raw[i+1][1:]})
		}
	}
	return out
}

// applyPost applies the suggestion of one comment.
func (s *Service) applyPost(c *web.Ctx) error {
	x, pull, err := s.commentOf(c)
	if err != nil {
		return err
	}
	_, err = s.Apply(c.Context(), pulls.Here(c), pull.Number, []int64{x.ID}, "")
	if f := fault.From(err); err != nil && f.Kind == fault.Conflict {
		if c.HTMX() {
			return s.answer(c, http.StatusUnprocessableEntity, pull, x, func(t *reviewview.ThreadProps) { t.Errors = ui.Errors{"": f.Message} })
		}
		return c.RedirectFlash(here(c, pull.Number)+"#discussion-"+num(x.ID), f.Message)
	}
	if err != nil {
		return err
	}
	if pull, err = s.pullOf(c); err != nil {
		return err
	}
	return s.answer(c, http.StatusOK, pull, x, nil)
}

// suggestions lists what can be applied together.
func (s *Service) suggestions(c *web.Ctx) error {
	return s.suggestionsWith(c, http.StatusOK, nil, "", nil)
}

func (s *Service) suggestionsWith(c *web.Ctx, status int, chosen []string, message string, errs ui.Errors) error {
	pull, g, err := s.Pulls.Found(c)
	if err != nil {
		return err
	}
	if err := s.Follow(c.Context(), pulls.Here(c), g, pull); err != nil {
		return err
	}
	b, err := s.building(c, pull, "files", nil)
	if err != nil {
		return err
	}
	o, n := c.Repo.Owner.Name, c.Repo.Name
	p := reviewview.SuggestionsProps{Action: link.PullPart(o, n, pull.Number, "suggestions"), Back: link.PullFiles(o, n, pull.Number),
		Message: message, Errors: errs, Chosen: map[string]bool{}}
	for _, id := range chosen {
		p.Chosen[id] = true
	}
	for _, id := range b.order {
		t := b.thread(id)
		for _, x := range t.Comments {
			if x.Suggestion != nil && x.Suggestion.CanApply {
				p.List = append(p.List, reviewview.Offer{ID: strconv.FormatInt(x.ID, 10), Path: t.Path, Where: t.Where, By: x.Author, Suggestion: *x.Suggestion})
			}
		}
	}
	return s.page(c, status, "Suggestions", pull, reviewview.Suggestions(p))
}

func (s *Service) suggestionsPost(c *web.Ctx) error {
	pull, err := s.pullOf(c)
	if err != nil {
		return err
	}
	var in struct {
		IDs     []string `form:"ids"`
		Message string   `form:"message"`
	}
	if err := c.Decode(&in); err != nil {
		return err
	}
	var ids []int64
	for _, v := range in.IDs {
		if id, err := strconv.ParseInt(v, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	_, err = s.Apply(c.Context(), pulls.Here(c), pull.Number, ids, in.Message)
	if f := fault.From(err); err != nil && (f.Kind == fault.Conflict || f.Kind == fault.Invalid) {
		said := f.Message
		for _, m := range f.Fields {
			said = m
		}
		return s.suggestionsWith(c, http.StatusUnprocessableEntity, in.IDs, in.Message, ui.Errors{"": said})
	}
	if err != nil {
		return err
	}
	return c.RedirectFlash(link.PullFiles(c.Repo.Owner.Name, c.Repo.Name, pull.Number), "The suggestions were committed to the branch.")
}
