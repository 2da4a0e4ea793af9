package replies

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/jhillyerd/enmime/v2"
)

// read returns what a person wrote in a mail, without what they answered to.
// An empty text with automatic set is nobody's: an absence note or a bounce.
func read(from string, r io.Reader) (text string, automatic bool, err error) {
	e, err := enmime.ReadEnvelope(r)
	if err != nil {
		return "", false, fmt.Errorf("read mail: %w", err)
	}
	if from == "" || isAutomatic(e) {
		return "", true, nil
	}
	plain := e.Text
	if e.HTML != "" && (plain == "" || e.Root.FirstChild == nil) {
		if plain, err = ofHTML(e.HTML); err != nil {
			return "", false, err
		}
	}
	return unquoted(plain), false, nil
}

// isAutomatic says that a program wrote the mail by itself (RFC 3834, and what
// programs did before it).
func isAutomatic(e *enmime.Envelope) bool {
	auto := strings.ToLower(e.GetHeader("Auto-Submitted"))
	switch strings.ToLower(e.GetHeader("Precedence")) {
	case "bulk", "junk", "auto_reply":
		return true
	}
	return auto != "" && !strings.HasPrefix(auto, "no") || e.GetHeader("X-Autoreply") != "" || e.GetHeader("X-Autorespond") != "" ||
		strings.HasPrefix(e.Root.ContentType, "multipart/report")
}

// ofHTML is the text of a mail that has no other, without the elements in which
// mail programs put what was answered to.
func ofHTML(page string) (string, error) {
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		return "", err
	}
	doc.Find("style, script, .gmail_quote, .gmail_attr, .moz-cite-prefix, .yahoo_quoted, .protonmail_quote, blockquote[type=cite]").Remove()
	for _, mark := range []string{"#divRplyFwdMsg", "#appendonsend", "#mail-editor-reference-message-container"} {
		doc.Find(mark).NextAll().Remove()
		doc.Find(mark).Remove()
	}
	doc.Find("br").ReplaceWithHtml("\n")
	doc.Find("p, div, li").Each(func(_ int, p *goquery.Selection) { p.AppendHtml("\n") })
	return doc.Text(), nil
}

var (
	// rest begins what follows an answer: a signature, or the head of the
	// mail that was answered to.
	rest = regexp.MustCompile(`(?m)^(-- |-{2,} ?[^\n-]{4,60} ?-{2,}|_{10,}|(\*?From:\*? .+\n+\*?(Sent|Date|To):\*? .*))$`)
	// many is more than one empty line.
	many = regexp.MustCompile(`\n{3,}`)
	// dated is in the line before a quotation: who wrote, and when.
	dated = regexp.MustCompile(`\d`)
)

// unquoted is an answer without the quotation at its end and the signature.
// Quotations that the person wrote below stay.
func unquoted(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\u00a0", " ")
	if at := rest.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	end := len(lines)
	quoted := false
	for end > 0 && (lines[end-1] == "" || strings.HasPrefix(lines[end-1], ">")) {
		quoted = quoted || lines[end-1] != ""
		end--
	}
	if quoted {
		end = introduction(lines[:end])
	}
	return strings.TrimSpace(many.ReplaceAllString(strings.Join(lines[:end], "\n"), "\n\n"))
}

// introduction is where the lines begin that say whose words follow: up to
// three, the last of which ends with a colon, and with a date.
func introduction(lines []string) int {
	if len(lines) == 0 || !strings.HasSuffix(lines[len(lines)-1], ":") {
		return len(lines)
	}
	at := len(lines) - 1
	for at > 0 && at > len(lines)-3 && lines[at-1] != "" {
		at--
	}
	if !dated.MatchString(strings.Join(lines[at:], " ")) {
		return len(lines)
	}
	return at
}
