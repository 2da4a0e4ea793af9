package ui

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/static"
)

// drawn are the icons that were shown before: a page has hundreds, of few kinds.
var drawn sync.Map // of icon to string

type icon struct {
	name, class string
	size        int
}

// Icon is one of the icons listed in static/icons.txt, by its Lucide name, at
// 16 or 20 pixels. It is hidden from screen readers: the word beside it, or the
// label of the control around it, says what it means.
func Icon(name string, size int, classes ...string) templ.Component {
	i := icon{name, strings.Join(classes, " "), size}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		svg, ok := drawn.Load(i)
		if !ok {
			svg, _ = drawn.LoadOrStore(i, i.draw())
		}
		_, err := io.WriteString(w, svg.(string))
		return err
	})
}

func (i icon) draw() string {
	class := strings.TrimSpace("icon " + i.class)
	return `<svg class="` + templ.EscapeString(class) + `" width="` + itoa(i.size) + `" height="` + itoa(i.size) +
		`" aria-hidden="true"><use href="` + templ.EscapeString(static.URL("icons.svg")+"#"+i.name) + `"></use></svg>`
}
