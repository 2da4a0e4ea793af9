package part

import (
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

func pagerOf(path string, page, perPage, total int) ui.PagerProps {
	page = max(page, 1)
	pages := max((total+perPage-1)/max(perPage, 1), 1)
	p := pagerMore(path, page, page < pages)
	p.Page, p.Pages = page, pages
	return p
}

func pagerMore(path string, page int, more bool) ui.PagerProps {
	var p ui.PagerProps
	if page > 1 {
		p.Newer = link.Page(path, page-1)
	}
	if more {
		p.Older = link.Page(path, max(page, 1)+1)
	}
	return p
}
