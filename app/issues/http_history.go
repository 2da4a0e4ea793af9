package issues

import (
	"strings"

	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/threadview"
)

// history shows how a post came to be what it is.
func (s *Service) history(c *web.Ctx) error {
	i, err := s.found(c)
	if err != nil {
		return err
	}
	id, body, fragment := int64(0), i.Body, "#post"
	if c.Param("id") != "" {
		if id, err = c.ParamInt("id"); err != nil {
			return err
		}
		t, of, err := s.Threads.FindComment(c.Context(), place(c), id)
		if err != nil {
			return err
		}
		if of.Number != i.Number {
			return db.ErrNotFound
		}
		body, fragment = t.Body, "#comment-"+num(id)
	}
	edits, err := threaddb.Edits(c.Context(), s.DB.Repo(c.Repo.ID), i.Number, id)
	if err != nil {
		return err
	}
	var ids []int64
	for _, e := range edits {
		ids = append(ids, e.By)
	}
	people, err := accountdb.ByIDs(c.Context(), s.DB.Directory(), ids...)
	if err != nil {
		return err
	}
	p := threadview.HistoryProps{Back: threads.Href(c.Repo, i) + fragment}
	title := i.Title
	for n := len(edits) - 1; n >= 0; n-- {
		e := edits[n]
		change := threadview.HistoryEdit{By: people[e.By], At: e.CreatedAt, Lines: lineDiff(e.Body, body)}
		if id == 0 && e.Title != title {
			change.Title = e.Title
		}
		p.Edits = append(p.Edits, change)
		body, title = e.Body, e.Title
	}
	return s.render(c, web.Page{Title: "Edit history of #" + num(i.Number), Body: threadview.History(p)}, i.Kind, nil)
}

// maxDiffCells bounds the table of lineDiff; larger texts are shown as all
// removed and all added.
const maxDiffCells = 4_000_000

// lineDiff compares two texts line by line, by their longest common
// subsequence. Long equal stretches are shortened.
func lineDiff(old, now string) []threadview.HistoryLine {
	a, b := strings.Split(old, "\n"), strings.Split(now, "\n")
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []threadview.HistoryLine
	same := func(lines []string) {
		for _, l := range lines {
			out = append(out, threadview.HistoryLine{Text: l})
		}
	}
	const context = 3
	if head > context {
		out = append(out, threadview.HistoryLine{Text: "…"})
	}
	same(a[max(0, head-context):head])
	out = append(out, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	same(a[len(a)-tail : len(a)-max(0, tail-context)])
	if tail > context {
		out = append(out, threadview.HistoryLine{Text: "…"})
	}
	return out
}

func middle(a, b []string) []threadview.HistoryLine {
	var out []threadview.HistoryLine
	add := func(kind string, lines ...string) {
		for _, l := range lines {
			out = append(out, threadview.HistoryLine{Kind: kind, Text: l})
		}
	}
	if len(a)*len(b) > maxDiffCells || len(a) == 0 || len(b) == 0 {
		add("del", a...)
		add("add", b...)
		return out
	}
	// common[i][j] is how many lines a[i:] and b[j:] have in common.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			add("", a[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			add("del", a[i])
			i++
		default:
			add("add", b[j])
			j++
		}
	}
	add("del", a[i:]...)
	add("add", b[j:]...)
	return out
}
