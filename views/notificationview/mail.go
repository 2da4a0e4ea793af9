package notificationview

import (
	"html/template"
	"strings"

	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/ui"
)

// MailProps is what the mail of one event shows.
type MailProps struct {
	Repo       *model.Repo
	Actor      *model.Account
	Did        string
	Title, Key string
	Reason     string
	State      string
	Href, Site string
	// Body is what was written, rendered.
	Body template.HTML
}

// DigestProps is what a digest shows.
type DigestProps struct {
	Site, Name string
	Rows       []Row
	More       bool
}

// DigestSubject is the subject of a digest.
func DigestSubject(n int, more bool) string {
	if more {
		return "More than " + ui.Plural(n, "thread") + " with news for you"
	}
	return ui.Plural(n, "thread") + " with news for you"
}

// absolute gives the links of a rendered text the site's address: a mail has
// no page that they start from.
func (p *MailProps) absolute() string {
	return strings.NewReplacer(` href="/`, ` href="`+p.Site+`/`, ` src="/`, ` src="`+p.Site+`/`).Replace(string(p.Body))
}

func stateWord(state string) string { return strings.ReplaceAll(state, "_", " ") }
