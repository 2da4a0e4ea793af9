package highlight

import (
	"html"
	"html/template"
)

// Snippet colours a fenced code block.
func Snippet(lang, code string) template.HTML { return template.HTML(html.EscapeString(code)) }
