// Package layout holds the frames around pages: the document, the top bar and
// the shells for the site, an account, a repository, settings, sign-in and
// errors. A shell takes the page's body as a component; the kit passes Props,
// the feature passes the rest.
package layout

import (
	"strings"

	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/static"
	"github.com/gitfor/gitfor/views/ui"
)

// Viewer is who looks at the page.
type Viewer struct {
	ID          int64
	Name        string
	DisplayName string
	AvatarURL   string
	Admin       bool
	Unread      int // notifications
}

// Flash is a message kept over a redirect and shown once, as a toast.
type Flash struct {
	Kind string // "info", "success", "warning", "danger"
	Text string
}

// Crumb is one step of the place shown in the top bar.
type Crumb struct {
	Label string
	Href  string
}

// Props is what every page has. The kit fills it in; a feature sets Title,
// Description and the few below that only it knows.
type Props struct {
	Title       string  // without the product's name
	Description string  // for search engines and link previews
	Viewer      *Viewer // nil for strangers
	Flash       *Flash
	Path        string // the request's path and query, to return to after signing in
	RequestID   string
	Theme       string // "system" (also when empty), "light", "dark", "contrast"
	DiffCB      bool   // diff colours safe for colour-blind readers
	Version     string
	NoSignup    bool // sign-up is closed
	NoIndex     bool // keep search engines away
	Canonical   string
	Place       []Crumb         // in the top bar; the repository and account shells set their own
	Scripts     []string        // further scripts by name in package static, such as "js/passkey.js"
	Head        templ.Component // further elements of the head, such as go-import
	Wide        bool            // the body uses the full width: diffs and logs
	Announce    string          // a notice of the operator, shown on every page
	LiveTopics  []string        // topics whose changes the page listens to besides those of its parts
}

// Shell puts a page's body into its frame.
type Shell func(p Props, body templ.Component) templ.Component

// htmxConfig switches off what the Content-Security-Policy refuses, and lets a
// refused form (422) be swapped in.
const htmxConfig = `{"allowEval":false,"includeIndicatorStyles":false,"scrollIntoViewOnBoost":false,"historyCacheSize":0,"refreshOnHistoryMiss":true,` +
	`"responseHandling":[{"code":"204","swap":false},{"code":"[23]..","swap":true},{"code":"422","swap":true},{"code":"[45]..","swap":false,"error":true}]}`

func (p Props) theme() string {
	switch p.Theme {
	case "light", "dark", "contrast":
		return p.Theme
	}
	return "system"
}

func (p Props) title() string {
	if p.Title == "" {
		return "gitfor"
	}
	return p.Title + " · gitfor"
}

func (p Props) diff() templ.Attributes {
	if p.DiffCB {
		return templ.Attributes{"data-diff": "cb"}
	}
	return nil
}

func (p Props) topics() string { return strings.Join(p.LiveTopics, " ") }

func (p Props) width() string {
	if p.Wide {
		return ""
	}
	return "max-w-content"
}

func (v *Viewer) avatar(size int) ui.AvatarProps {
	return ui.AvatarProps{Name: v.Name, URL: v.AvatarURL, Size: size}
}

func script(name string) string { return static.URL(name) }
