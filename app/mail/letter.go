package mail

import (
	"fmt"
	"net/mail"
	"strings"
	"unicode"

	gomail "github.com/wneessen/go-mail"
)

// letter is a message made ready.
type letter struct {
	To       string            `json:"to"`
	ToName   string            `json:"to_name,omitempty"`
	From     string            `json:"from"`
	FromName string            `json:"from_name"`
	ReplyTo  string            `json:"reply_to,omitempty"`
	Subject  string            `json:"subject"`
	ID       string            `json:"id"`
	Thread   string            `json:"thread,omitempty"`
	Headers  map[string]string `json:"headers"`
	Text     string            `json:"text"`
	HTML     string            `json:"html"`
}

// maxHeader bounds a header's value in characters.
const maxHeader = 300

// clean makes a text fit for a header: one line, no control characters, so
// that nobody's name or title adds a header of its own.
func clean(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\uFEFF'
	}), " ")
	if r := []rune(text); len(r) > maxHeader {
		text = string(r[:maxHeader-1]) + "…"
	}
	return strings.TrimSpace(text)
}

// phrase is a name before an address in angle brackets.
func phrase(name string) string {
	a := mail.Address{Name: clean(name), Address: "x@x"}
	return strings.TrimSuffix(a.String(), " <x@x>")
}

// message makes the mail of a letter.
func (l *letter) message() (*gomail.Msg, error) {
	to, err := mail.ParseAddress(l.To)
	if err != nil || to.Name != "" || to.Address != l.To {
		return nil, fmt.Errorf("%q is no address", l.To)
	}
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithEncoding(gomail.EncodingQP))
	m.FromMailAddress(&mail.Address{Name: l.FromName, Address: l.From})
	m.ToMailAddress(&mail.Address{Name: l.ToName, Address: l.To})
	if l.ReplyTo != "" {
		m.ReplyToMailAddress(&mail.Address{Name: l.FromName, Address: l.ReplyTo})
	}
	m.Subject(l.Subject)
	m.SetDate()
	m.SetMessageIDWithValue(l.ID)
	if l.Thread != "" {
		m.SetGenHeader(gomail.HeaderInReplyTo, "<"+l.Thread+">")
		m.SetGenHeader(gomail.HeaderReferences, "<"+l.Thread+">")
	}
	for name, value := range l.Headers {
		m.SetGenHeader(gomail.Header(name), value)
	}
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	m.AddAlternativeString(gomail.TypeTextHTML, l.HTML)
	return m, nil
}
