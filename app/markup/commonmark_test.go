package markup

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

type example struct {
	number        int
	section       string
	markdown, out string
}

func commonmark(t testing.TB) []example {
	t.Helper()
	data, err := os.ReadFile("testdata/commonmark.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][4]any
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	var list []example
	for _, r := range rows {
		list = append(list, example{int(r[0].(float64)), r[1].(string), r[2].(string), r[3].(string)})
	}
	if len(list) != 652 {
		t.Fatalf("%d examples, want 652", len(list))
	}
	return list
}

// extended lists the examples whose HTML differs because GitHub's extensions
// give their text a meaning that CommonMark alone does not.
var extended = map[int]string{
	608: "a bare address is a link", 611: "a bare address is a link", 612: "a bare mail address is a link",
	170: "a filtered tag", 171: "a filtered tag", 172: "a filtered tag", 173: "a filtered tag", 176: "a filtered tag", 178: "a filtered tag",
}

func TestCommonMark(t *testing.T) {
	t.Parallel()
	md := newMarkdown(html.WithXHTML())
	core := goldmark.New(goldmark.WithRendererOptions(html.WithXHTML(), html.WithUnsafe()))
	for _, ex := range commonmark(t) {
		var buf bytes.Buffer
		if err := md.Convert([]byte(ex.markdown), &buf); err != nil {
			t.Fatal(err)
		}
		same := buf.String() == ex.out
		_, differs := extended[ex.number]
		if differs { // without the extensions it is as the specification says
			buf.Reset()
			if err := core.Convert([]byte(ex.markdown), &buf); err != nil || buf.String() != ex.out {
				t.Errorf("example %d without extensions: %q, %v", ex.number, buf.String(), err)
			}
		}
		if same == differs {
			t.Errorf("example %d (%s): %q\n got %q\nwant %q", ex.number, ex.section, ex.markdown, buf.String(), ex.out)
		}
	}
}

// TestCommonMarkText checks that nothing of a text gets lost on the way from
// the parser to the page: sanitising, slots and the second parsing.
func TestCommonMarkText(t *testing.T) {
	t.Parallel()
	r := New(Config{})
	for _, ex := range commonmark(t) {
		if extended[ex.number] != "" || ex.section == "HTML blocks" || ex.section == "Raw HTML" || strings.Contains(ex.markdown, "<!--") {
			continue
		}
		out, err := r.Render(t.Context(), Lookup{}, ex.markdown, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if out.Plain {
			t.Errorf("example %d: shown as plain text", ex.number)
		}
		got, want := shape(t, string(out.HTML)), shape(t, ex.out)
		if got != want {
			t.Errorf("example %d (%s): %q\n got %s\nwant %s", ex.number, ex.section, ex.markdown, got, want)
		}
	}
}

// shape is the text and the elements of HTML, without what only this package
// adds: wrappers, anchors, classes and ids.
func shape(t testing.TB, s string) string {
	t.Helper()
	nodes, err := nethtml.ParseFragment(strings.NewReader(s), &nethtml.Node{Type: nethtml.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(*nethtml.Node)
	walk = func(n *nethtml.Node) {
		if n.Type == nethtml.TextNode {
			b.WriteString(n.Data)
		}
		// Links may lose an odd address, and with it themselves; unknown
		// elements (foo, bar) are for sanitising to drop.
		skip := n.Type != nethtml.ElementNode || slices.Contains([]string{"div", "span", "a", "foo", "bar"}, n.Data)
		if n.Data == "a" && attr(n, "class") == "anchor" {
			return
		}
		if !skip {
			b.WriteString("<" + n.Data + ">")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		if !skip {
			b.WriteString("</" + n.Data + ">")
		}
	}
	for _, n := range nodes {
		walk(n)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
