package threads

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gitfor/gitfor/app/markup"
	"github.com/gitfor/gitfor/db/model"
)

// Limits in characters.
const (
	MaxTitle = 256
	MaxBody  = 65_536
)

// TitleOf is a title as it is kept, on one line, or what is wrong with it.
func TitleOf(s string) (title, problem string) {
	if p := noText(s); p != "" {
		return s, p
	}
	title = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)), " ")
	switch {
	case blank(title):
		return s, "A title is needed."
	case utf8.RuneCountInString(title) > MaxTitle:
		return s, "The title is too long: at most 256 characters."
	}
	return title, ""
}

// BodyOf is a text as it is kept, with plain line ends, or what is wrong with
// it.
func BodyOf(s string) (body, problem string) {
	if p := noText(s); p != "" {
		return s, p
	}
	body = strings.ReplaceAll(s, "\r\n", "\n")
	if utf8.RuneCountInString(body) > MaxBody {
		return s, "The text is too long: at most 65,536 characters."
	}
	return body, ""
}

// blank says that nothing in s can be seen: only spaces and characters
// without a shape.
func blank(s string) bool {
	for _, r := range s {
		if !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Cc) && r != '\u2800' && r != '\u3164' {
			return false
		}
	}
	return true
}

func noText(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "This is not text in UTF-8."
	case strings.ContainsRune(s, 0):
		return "This holds a NUL character, which is no text."
	}
	return ""
}

// content is what a text says to the machine.
type content struct {
	text     string
	refs     []int64      // threads of the same repository
	away     []markup.Ref // threads of others
	closes   []int64      // threads of the same repository that it closes
	mentions []string     // accounts and teams ("org/team"), in lower case
	tasks    int
	done     int
}

func options(repo *model.Repo, id string) markup.Options {
	return markup.Options{Mode: markup.Comment, Owner: repo.Owner.Name, Repo: repo.Name, ID: id}
}

func (s *Service) read(repo *model.Repo, text string) content {
	var c content
	if text == "" {
		return c
	}
	found := s.text.Extract(text, options(repo, ""))
	c.text = text
	c.mentions = found.People
	for _, r := range found.Threads {
		if isOwn(repo, r) {
			c.refs = append(c.refs, r.Number)
		} else {
			c.away = append(c.away, r)
		}
	}
	for _, r := range found.Closes {
		if isOwn(repo, r) {
			c.closes = append(c.closes, r.Number)
		}
	}
	if strings.Contains(text, "[") {
		for _, t := range markup.TaskList(text) {
			c.tasks++
			if t.Checked {
				c.done++
			}
		}
	}
	return c
}

func isOwn(repo *model.Repo, r markup.Ref) bool {
	return r.Owner == "" || r.Owner == model.Key(repo.Owner.Name) && r.Repo == model.Key(repo.Name)
}

// Closes returns the threads of the repository that a text says it closes.
func (s *Service) Closes(repo *model.Repo, text string) []int64 { return s.read(repo, text).closes }

// Named returns the threads of the repository that a commit's message names,
// and those of them that it says it closes.
func (s *Service) Named(repo *model.Repo, message string) (refs, closes []int64) {
	o := options(repo, "")
	o.Mode = markup.Plain
	found := s.text.Extract(message, o)
	for _, r := range found.Threads {
		if isOwn(repo, r) {
			refs = append(refs, r.Number)
		}
	}
	for _, r := range found.Closes {
		if isOwn(repo, r) {
			closes = append(closes, r.Number)
		}
	}
	return refs, closes
}

// Mentions are the accounts and teams that a text names, in lower case.
func (s *Service) Mentions(repo *model.Repo, text string) []string {
	return s.read(repo, text).mentions
}
