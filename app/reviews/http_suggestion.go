package reviews

import (
	"html/template"
	"strings"

	"github.com/gitfor/gitfor/app/diffs"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/reviewview"
)

// safe is HTML that was made safe when it was rendered.
func safe(s string) template.HTML { return template.HTML(s) } //nolint:gosec // rendered by package markup

// suggestion is a proposed change as it is shown.
func (b *build) suggestion(_, first *model.ReviewComment, after []string, there bool) *reviewview.SuggestionProps {
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
	if !there {
		out.Why = "The lines have changed since, so this can no longer be applied."
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
