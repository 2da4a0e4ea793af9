package highlight

import (
	"context"
	"html"
	"html/template"
	"strings"
	"time"
)

// Limits on blocks of code in texts, which may hold many of them.
const (
	maxSnippet     = 64 << 10
	maxSnippetTime = time.Second
)

// Snippet colours a block of code in the language of the given name or alias.
// The result keeps line breaks and is only escaped where the language is
// unknown or the code too long.
func Snippet(lang, code string) template.HTML {
	lexer := lexerNamed(lang)
	if lexer == nil || len(code) > maxSnippet || longestLine(code) > MaxLine {
		return template.HTML(html.EscapeString(code)) //nolint:gosec // escaped
	}
	//nolint:forbidigo // bounded by time; rendering a text has no use for less
	ctx, cancel := context.WithTimeout(context.Background(), maxSnippetTime)
	defer cancel()
	text, _ := prepare([]byte(code))
	lines, ok := colour(ctx, lexer, text)
	if !ok {
		return template.HTML(html.EscapeString(code)) //nolint:gosec // escaped
	}
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(string(l))
		if i < len(lines)-1 || strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
	}
	return template.HTML(b.String()) //nolint:gosec // made of escaped lines
}
