// Package ui is gitfor's design system: the pieces all pages are made of. It
// knows no domain noun; components take plain values and decide nothing.
//
// Every component works without JavaScript: menus are details elements, tabs
// are links, dialogs fall back to pages. Scripts in static/js only shorten the
// trip. Colours come from the tokens in static/css/tokens.css through the names
// of tailwind.config.js; no component uses a raw colour or an inline style,
// which the Content-Security-Policy would refuse. /-/ui shows every component
// in every state in development.
package ui

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// Errors holds messages by field name, as fault's fields do; the name "" is
// for the form as a whole. A nil map has none.
type Errors map[string]string

// Get is the message for a field, or empty.
func (e Errors) Get(field string) string { return e[field] }

// join concatenates the non-empty classes.
func join(classes ...string) string {
	var b strings.Builder
	for _, c := range classes {
		if c == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c)
	}
	return b.String()
}

func when(cond bool, s string) string {
	if cond {
		return s
	}
	return ""
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func itoa(n int) string { return strconv.Itoa(n) }

// Text is a component of plain text, for slots that take a component.
func Text(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, templ.EscapeString(s))
		return err
	})
}

// HTML is a component of HTML that has been made safe already, such as
// rendered Markdown after sanitising.
func HTML(s string) templ.Component { return templ.Raw(s) }

// Group renders components one after the other.
func Group(parts ...templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for _, p := range parts {
			if p == nil {
				continue
			}
			if err := p.Render(ctx, w); err != nil {
				return err
			}
		}
		return nil
	})
}
