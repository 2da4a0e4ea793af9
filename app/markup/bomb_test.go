package markup

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// bombs are small texts that cost much where nothing is bounded.
func bombs(size int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var formatting, numbered strings.Builder
	for i := range size / 20 {
		fmt.Fprintf(&formatting, "<b id=x%d>", i)
		fmt.Fprintf(&numbered, "[^%d]: x\n\n", i)
	}
	half := func(s string) string { return s[:min(len(s), size/2)] }
	return map[string]string{
		"quotes": rep(">"), "quotes apart": rep("> "), "lists": rep("- "), "deep lists": rep("- + * "), "list lines": rep("- a\n"), "brackets": rep("["), "images": rep("!["),
		"open links": rep("[a]("), "nested links": rep("[a](b) "), "stars": rep("*a "), "underscores": rep("_a_ *"), "star runs": rep("*") + "a", "ticks": rep("`a``"), "angle": rep("<"), "tags": rep("<b>"), "open tags": rep("<a "),
		"comments": rep("<!-- "), "cdata": rep("<![CDATA["), "entities": rep("&amp;"), "ampersands": rep("&"), "tildes": rep("~a "), "dollars": rep("$a "), "math lines": rep("$$a\n"), "math": rep("$$"),
		"tables": rep("|"), "table rows": "|a|\n|-|\n" + rep("|a"), "wide table": half(rep("|a")) + "\n" + half(rep("|-")) + "\n", "table cells": "|a|b|c|d|e|f|g|h|\n|-|-|-|-|-|-|-|-|\n" + rep("|\n"),
		"short rows":   half(rep("|a")) + "\n" + half(rep("|-"))[:size/4] + "\n" + rep("|\n")[:size/4],
		"short rows 2": rep("|a")[:size/4] + "|\n" + rep("|-")[:size/4] + "|\n" + half(rep("|\n")), "headings": rep("# a\n"), "same headings": rep("#\n"), "refs": rep("[a]: b\n"), "ref uses": "[a]: " + half(rep("b")) + "\n\n" + half(rep("[a] ")), "footnotes": numbered.String(), "footnote uses": "[^1]: x\n\n" + rep("[^1] "),
		"mentions": rep("@a "), "issues": rep("#1 "), "hex": rep("abcdef1 "), "long hex": rep("a1"), "colons": rep(":"), "emoji": rep(":a:"), "divs": rep("<div>\n"), "closing": rep("</div>"), "addresses": rep("http://a.b "), "one address": "http://" + rep("a."), "parentheses": "http://a.b/" + rep("("), "mail": rep("a@"), "tabs": rep("\t- a\n"),
		"formatting": half(formatting.String()) + "\n\n" + half(rep("<p>x")), "formatting in tables": strings.Repeat("<table><td><b id=x></td></table>", size/64) + rep("<p>x")[:size/2],
		"formatting outside cells": strings.Repeat("<b id=x><table></b></table>", size/64) + half(rep("<p>x")), "links": half(rep("<a href=x>")) + half(rep("<p>x")), "tasks": rep("- [ ] a\n"), "details": rep("<details>\n\n"), "backslashes": rep(`\`), "crs": rep("\r"), "nuls": rep("\x00"), "newlines": rep("\n"), "spaces": rep(" "), "hard breaks": rep("a  \n"), "code": rep("```\n"), "mermaid": rep("```mermaid\na\n```\n"), "alerts": rep("> [!NOTE]\n> a\n\n"), "setext": rep("a\n=\n"),
		"foster": "<table>" + rep("<i>x"), "select": rep("<select>"), "attributes": "<b " + rep("a=b ") + ">", "deep emphasis": half(rep("*a **b ")) + half(rep("** *")),
	}
}

// limit is what one text may take in this test, in which several run at a time
// on machines of all kinds; measured alone they stay far below.
const limit = 10 * time.Second

func TestBombs(t *testing.T) {
	t.Parallel()
	r := New(Config{SiteURL: "http://forge.test"})
	for name, text := range bombs(64 << 10) {
		start := time.Now()
		out, err := r.Render(t.Context(), (&world{}).lookup(), text, Options{Mode: Comment, Owner: "o", Repo: "r"})
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		if took > limit {
			t.Errorf("%s: rendering took %v", name, took)
		}
		if len(out.HTML) > 100*len(text)+10_000 {
			t.Errorf("%s: %d bytes became %d", name, len(text), len(out.HTML))
		}
		t.Logf("%-25s %8v %8d bytes plain %t", name, took.Round(time.Millisecond), len(out.HTML), out.Plain)
	}
}
