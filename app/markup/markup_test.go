package markup

import (
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func render(t testing.TB, text string, o Options) string {
	t.Helper()
	out, err := New(Config{SiteURL: "http://forge.test"}).Render(t.Context(), Lookup{}, text, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(out.HTML)
}

func TestGFM(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"table":         {"| a | b |\n|:--|--:|\n| 1 | `x` |\n", "<table>\n<thead>\n<tr>\n" + `<th align="left">a</th>` + "\n" + `<th align="right">b</th>`},
		"strikethrough": {"~~gone~~ ~one~", "<p><del>gone</del> <del>one</del></p>\n"},
		"autolink":      {"see https://example.com/a_b.", `<p>see <a href="https://example.com/a_b" rel="nofollow noopener noreferrer">https://example.com/a_b</a>.</p>` + "\n"},
		"www":           {"www.example.com", `<p><a href="http://www.example.com" rel="nofollow noopener noreferrer">www.example.com</a></p>` + "\n"},
		"mail":          {"a@example.com", `<p><a href="mailto:a@example.com">a@example.com</a></p>` + "\n"},
		"tagfilter":     {"a <title> b <script>c</script> d\n\n<xmp> e <svg> f <object> g", "<p>a &lt;title&gt; b &lt;script&gt;c&lt;/script&gt; d</p>\n<p>&lt;xmp&gt; e  f  g</p>\n"},
		"emoji":         {":tada: and :nosuchthing:", "<p>🎉 and :nosuchthing:</p>\n"},
		"details":       {"<details open>\n<summary>More</summary>\n\n**x**\n\n</details>", "<details open=\"\">\n<summary>More</summary>\n<p><strong>x</strong></p>\n</details>"},
		"kbd":           {"<kbd>Ctrl</kbd> H<sub>2</sub>O x<sup>2</sup>", "<p><kbd>Ctrl</kbd> H<sub>2</sub>O x<sup>2</sup></p>\n"},
		"align":         {`<p align="center"><img src="https://e.com/x.png" width="100" height="50%" align="right" style="x"></p>`, `<p align="center"><img src="https://e.com/x.png" width="100" height="50%" align="right" loading="lazy"/></p>`},
		"alert":         {"> [!WARNING]\n> Mind the **gap**.\n", `<div class="markdown-alert markdown-alert-warning"><p class="markdown-alert-title">Warning</p>` + "\n<p>Mind the <strong>gap</strong>.</p>\n</div>\n"},
		"alert, blank":  {"> [!tip]\n>\n> x\n", `<div class="markdown-alert markdown-alert-tip"><p class="markdown-alert-title">Tip</p>` + "\n<p>x</p>\n</div>\n"},
		"no alert":      {"> [!FOO]\n> x\n", "<blockquote>\n<p>[!FOO]\nx</p>\n</blockquote>\n"},
		"empty alert":   {"> [!NOTE]\n", "<blockquote>\n<p>[!NOTE]</p>\n</blockquote>\n"},
		"alert, inner":  {"> > [!NOTE]\n> > x\n", "<blockquote>\n<blockquote>\n<p>[!NOTE]\nx</p>\n</blockquote>\n</blockquote>\n"},
		"math":          {"so $x^2 < y$ and $`a`$", `<p>so <code class="math math-inline">x^2 &lt; y</code> and <code class="math math-inline">a</code></p>` + "\n"},
		"prices":        {"costs $5 and $6, US$7, 3$, $ 5$", "<p>costs $5 and $6, US$7, 3$, $ 5$</p>\n"},
		"escaped math":  {`\$x$ y $z\$`, "<p>$x$ y $z$</p>\n"},
		"math block":    {"text\n$$\na\\\\b\n<c\n$$\nmore", "<p>text</p>\n" + `<pre class="math math-display"><code>a\\b` + "\n" + `&lt;c</code></pre>` + "\n<p>more</p>\n"},
		"math one line": {"$$x=1$$", `<pre class="math math-display"><code>x=1</code></pre>` + "\n"},
		"open math":     {"$$ for nothing\n\nnext", "<p>$$ for nothing</p>\n<p>next</p>\n"},
		"math fence":    {"```math\nx\n```", `<pre class="math math-display"><code>x</code></pre>` + "\n"},
		"mermaid":       {"```mermaid\ngraph TD; A-->B\n```", `<pre class="mermaid"><code>graph TD; A--&gt;B` + "\n</code></pre>\n"},
		"code":          {"```nosuchlang x\na <b>\n```", `<div class="code-block"><pre class="chroma" tabindex="0"><code class="language-nosuchlang">a &lt;b&gt;` + "\n</code></pre></div>\n"},
		"footnote":      {"a[^1]\n\n[^1]: note", `<p>a<sup id="user-content-fnref:1"><a class="footnote-ref" href="#user-content-fn:1" role="doc-noteref">1</a></sup></p>`},
		"title":         {`[a](https://e.com "it's")`, `<p><a href="https://e.com" title="it&#39;s" rel="nofollow noopener noreferrer">a</a></p>` + "\n"},
		"soft break":    {"a\nb", "<p>a\nb</p>\n"},
		"unclosed":      {"</div></div><div>x", "<div>x</div>"},
		"picture": {`<picture><source media="(prefers-color-scheme: dark)" srcset="https://e.com/d.png 2x, javascript:x"><img src="https://e.com/l.png"></picture>`,
			`<p><picture><source media="(prefers-color-scheme: dark)" srcset="https://e.com/d.png 2x"/><img src="https://e.com/l.png" loading="lazy"/></picture></p>` + "\n"},
	} {
		got := render(t, tc.in, Options{})
		if !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %q\n got %s\nwant %s", name, tc.in, got, tc.want)
		}
	}
}

func TestCommentBreaksLines(t *testing.T) {
	t.Parallel()
	if got, want := render(t, "a\nb", Options{Mode: Comment}), "<p>a<br/>\nb</p>\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHeadings(t *testing.T) {
	t.Parallel()
	out, err := New(Config{}).Render(t.Context(), Lookup{}, "# Hello, *World*!\n\n## Hello World\n\n## :rocket: Über `x_y`\n\n# 日本語\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Heading{
		{1, "user-content-hello-world", "Hello, World!"}, {2, "user-content-hello-world-1", "Hello World"},
		{2, "user-content-rocket-über-x_y", "🚀 Über x_y"}, {1, "user-content-日本語", "日本語"},
	}
	if len(out.Headings) != len(want) {
		t.Fatalf("headings %+v", out.Headings)
	}
	for i, h := range out.Headings {
		if h != want[i] {
			t.Errorf("heading %d is %+v, want %+v", i, h, want[i])
		}
	}
	first := `<h1 id="user-content-hello-world">Hello, <em>World</em>!<a class="anchor" href="#user-content-hello-world" aria-label="Link to this heading">#</a></h1>`
	if !strings.HasPrefix(string(out.HTML), first) {
		t.Errorf("got %s", out.HTML)
	}
	if got := render(t, "# x", Options{Mode: Comment}); got != "<h1>x</h1>\n" {
		t.Errorf("a comment's heading is %q", got)
	}
}

func TestIDsAreApart(t *testing.T) {
	t.Parallel()
	got := render(t, `<a name="top"></a><b id="x" class="mention">b</b> <a href="#x">j</a> <i id="user-content-y"></i> a[^1]`+"\n\n[^1]: n", Options{Mode: Comment, ID: "c7"})
	for _, want := range []string{`<a id="user-content-c7-top">`, `<b id="user-content-c7-x">`, `href="#user-content-c7-x"`, `id="user-content-c7-y"`, `id="user-content-c7-fnref:1"`, `href="#user-content-c7-fn:1"`} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s: %s", want, got)
		}
	}
	if strings.Contains(got, "mention") {
		t.Errorf("an author's class stayed: %s", got)
	}
}

func TestTaskListHTML(t *testing.T) {
	t.Parallel()
	text := "- [ ] one\n- [X] two `c`\n  1. [x] three\n- [ ]\n- [y] no\n- x [ ] no\n\n<input type=checkbox data-task=0>"
	got := render(t, text, Options{})
	for _, want := range []string{
		`<ul class="contains-task-list">`, `<ol class="contains-task-list">`,
		`<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" data-task="0" aria-label="Done" disabled=""/> one</li>`,
		`<input type="checkbox" class="task-list-item-checkbox" data-task="1" aria-label="Done" checked="" disabled=""/> two`,
		`data-task="2" aria-label="Done" checked="" disabled=""/> three`, `<li>[ ]</li>`, `<li>[y] no</li>`, `<li>x [ ] no</li>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s: %s", want, got)
		}
	}
	if n := strings.Count(got, "<input"); n != 3 {
		t.Errorf("%d inputs, want 3: %s", n, got)
	}
	if strings.Contains(render(t, text, Options{Editable: true}), "disabled") {
		t.Error("an editable list is disabled")
	}
}

func TestRelativeLinks(t *testing.T) {
	t.Parallel()
	files := Files{
		Page:   func(p string) string { return "/o/r/blob/a%2Fb/" + escapePath(p) },
		Folder: func(p string) string { return "/o/r/tree/a%2Fb/" + escapePath(p) },
		Raw:    func(p string) string { return "/o/r/raw/a%2Fb/" + escapePath(p) },
		Home:   "/o/r", Key: "a/b",
	}
	doc := Options{Dir: "docs/guide", Files: files}
	for in, want := range map[string]string{
		"x.md":                 "/o/r/blob/a%2Fb/docs/guide/x.md",
		"./x.md":               "/o/r/blob/a%2Fb/docs/guide/x.md",
		"../x.md#use":          "/o/r/blob/a%2Fb/docs/x.md#use",
		"../../x.md?plain=1":   "/o/r/blob/a%2Fb/x.md?plain=1",
		"/x.md":                "/o/r/blob/a%2Fb/x.md",
		"/":                    "/o/r/tree/a%2Fb/",
		"img/":                 "/o/r/tree/a%2Fb/docs/guide/img",
		"..":                   "/o/r/tree/a%2Fb/docs",
		"../../..":             "/o/r/tree/a%2Fb/",
		"../../../x":           "/o/r/blob/a%2Fb/x",
		"../../../../issues":   "/o/r/issues",
		"../../../../../q":     "/o/q",
		"../../../../../../q":  "/q",
		"a%20b%25.md":          "/o/r/blob/a%2Fb/docs/guide/a%20b%25.md",
		"ü?x=1":                "/o/r/blob/a%2Fb/docs/guide/%C3%BC?x=1",
		"#use":                 "#user-content-use",
		"https://e.com/x":      "https://e.com/x",
		"//e.com/x":            "//e.com/x",
		"mailto:a@e.com":       "mailto:a@e.com",
		"http://forge.test/a/": "http://forge.test/a/",
	} {
		got := linkOf(t, render(t, "[t](<"+in+">)", doc), atom.A, "href")
		if got != want {
			t.Errorf("link %q leads to %q, want %q", in, got, want)
		}
		if got := linkOf(t, render(t, `<a href="`+in+`">t</a>`, doc), atom.A, "href"); got != want {
			t.Errorf("HTML link %q leads to %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"x.png":           "/o/r/raw/a%2Fb/docs/guide/x.png",
		"../i/x.png?w=1":  "/o/r/raw/a%2Fb/docs/i/x.png?w=1",
		"/x.png":          "/o/r/raw/a%2Fb/x.png",
		"https://e.com/x": "https://e.com/x",
		"http://forge.test/o/r/blob/main/x.png?raw=1": "/o/r/raw/main/x.png?raw=1",
	} {
		if got := linkOf(t, render(t, "![t]("+in+")", doc), atom.Img, "src"); got != want {
			t.Errorf("image %q comes from %q, want %q", in, got, want)
		}
	}
	comment := Options{Mode: Comment, Files: files}
	if got := linkOf(t, render(t, "[t](/o/r/issues)", comment), atom.A, "href"); got != "/o/r/issues" {
		t.Errorf("a comment's link to this site leads to %q", got)
	}
	if got := linkOf(t, render(t, "[t](docs/x.md)", comment), atom.A, "href"); got != "/o/r/blob/a%2Fb/docs/x.md" {
		t.Errorf("a comment's link to a file leads to %q", got)
	}
}

func TestImageProxy(t *testing.T) {
	t.Parallel()
	r := New(Config{SiteURL: "http://forge.test", Image: func(u string) string { return "/proxy?u=" + escape(u, "") }})
	out, err := r.Render(t.Context(), Lookup{}, "![t](http://evil.test/x.png) ![t](http://forge.test/y.png)", Options{Mode: Comment})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out.HTML), `src="/proxy?u=http%3A%2F%2Fevil.test%2Fx.png"`) || !strings.Contains(string(out.HTML), `src="http://forge.test/y.png"`) {
		t.Errorf("got %s", out.HTML)
	}
}

// linkOf returns an attribute of the first element of a kind.
func linkOf(t testing.TB, s string, tag atom.Atom, key string) string {
	t.Helper()
	for _, n := range elements(t, s) {
		if n.DataAtom == tag {
			return attr(n, key)
		}
	}
	t.Errorf("no %s in %s", tag, s)
	return ""
}

// elements parses HTML and returns all its nodes.
func elements(t testing.TB, s string) []*nethtml.Node {
	t.Helper()
	nodes, err := nethtml.ParseFragment(strings.NewReader(s), &nethtml.Node{Type: nethtml.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		t.Fatal(err)
	}
	var all []*nethtml.Node
	for _, n := range nodes {
		all = append(all, n)
		for d := range n.Descendants() {
			all = append(all, d)
		}
	}
	return all
}
