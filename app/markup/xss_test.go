package markup

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// allowed are the elements that a rendered text may hold.
var allowed = strings.Fields(`a abbr b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em
	figcaption figure h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark ol p picture pre q rp rt ruby s samp small
	source span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var video wbr`)

// checkSafe asserts that HTML does nothing but show itself. It parses what a
// browser would get: the text between other parts of a page.
func checkSafe(t *testing.T, name, out string) {
	t.Helper()
	page := `<!DOCTYPE html><html><body><main id="text">` + out + `</main><footer id="after">end</footer></body></html>`
	doc, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var main, footer *nethtml.Node
	for n := range doc.Descendants() {
		switch {
		case n.DataAtom == atom.Main:
			main = n
		case attr(n, "id") == "after":
			footer = n
		}
	}
	if main == nil || footer == nil || footer.Parent != main.Parent || main.NextSibling != footer || footer.NextSibling != nil {
		t.Fatalf("%s: the text breaks out of its place: %s", name, out)
	}
	for n := range main.Descendants() {
		switch n.Type {
		case nethtml.TextNode:
		case nethtml.ElementNode:
			checkElement(t, name, n)
		default:
			t.Errorf("%s: node of type %d: %s", name, n.Type, out)
		}
	}
}

func checkElement(t *testing.T, name string, n *nethtml.Node) {
	t.Helper()
	if !slices.Contains(allowed, n.Data) || n.Namespace != "" {
		t.Errorf("%s: element %s %q", name, n.Namespace, n.Data)
	}
	for _, a := range n.Attr {
		val := strings.ToLower(a.Val)
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc", a.Key == "name", a.Key == "form", a.Key == "formaction",
			a.Key == "action", a.Key == "http-equiv", a.Key == "background", a.Key == "is", a.Key == "slot", a.Key == "part", a.Key == "contenteditable",
			a.Key == "autofocus", a.Key == "tabindex" && (n.DataAtom != atom.Pre || a.Val != "0"), a.Key == "accesskey", a.Key == "target", a.Key == "ping", strings.HasPrefix(a.Key, "hx-"), a.Namespace != "":
			t.Errorf("%s: attribute %s:%s=%q", name, a.Namespace, a.Key, a.Val)
		case a.Key == "id" && !strings.HasPrefix(a.Val, idPrefix):
			t.Errorf("%s: id %q", name, a.Val)
		case strings.HasPrefix(a.Key, "data-") && a.Key != "data-task" && a.Key != "data-char" && a.Key != "data-hover":
			t.Errorf("%s: attribute %s=%q", name, a.Key, a.Val)
		case a.Key == "href" || a.Key == "src" || a.Key == "cite" || a.Key == "poster":
			checkAddress(t, name, a.Key, val)
		case a.Key == "srcset":
			for part := range strings.SplitSeq(val, ",") {
				if f := strings.Fields(part); len(f) > 0 {
					checkAddress(t, name, a.Key, f[0])
				}
			}
		}
	}
	if n.DataAtom == atom.Input && (attr(n, "type") != "checkbox" || attr(n, "data-task") == "") {
		t.Errorf("%s: an input that is no task", name)
	}
}

func checkAddress(t *testing.T, name, key, val string) {
	t.Helper()
	squeezed := strings.Map(func(r rune) rune { // as browsers do
		if r <= 0x20 {
			return -1
		}
		return r
	}, val)
	u, err := url.Parse(squeezed)
	if err != nil {
		t.Errorf("%s: %s=%q: %v", name, key, val, err)
		return
	}
	if !slices.Contains([]string{"", "http", "https", "mailto", "tel", "irc", "ircs", "xmpp", "ftp", "matrix"}, u.Scheme) {
		t.Errorf("%s: %s=%q", name, key, val)
	}
	scheme, _, colon := strings.Cut(squeezed, ":")
	if colon && slices.Contains([]string{"javascript", "vbscript", "data", "livescript", "file", "blob"}, strings.Trim(scheme, "\x00")) {
		t.Errorf("%s: %s=%q", name, key, val)
	}
}

// attacks are texts that try to run a script, to load something, to break out
// of their place or to pretend to be part of the page.
var attacks = []string{
	// links in Markdown
	`[a](javascript:alert(1))`, `[a](JaVaScRiPt:alert(1))`, `[a](javascript&colon;alert(1))`, `[a](java&#x09;script:alert(1))`,
	"[a](java\tscript:alert(1))", "[a](<java\nscript:alert(1)>)", `[a](&#106;avascript:alert(1))`, `[a](\javascript:alert(1))`,
	`[a](<javascript:alert(1)>)`, `[a]( javascript:alert(1))`, `[a](%6aavascript:alert(1))`, `[a](data:text/html;base64,PHNjcmlwdD4=)`,
	`[a](vbscript:msgbox)`, `[a](file:///etc/passwd)`, `[a](blob:http://x/y)`, `[a](view-source:javascript:1)`, `[a](jar:javascript:1)`,
	`<javascript:alert(1)>`, `<data:text/html,<script>>`, "[a]: javascript:alert(1)\n\n[a]", `![a](javascript:alert(1))`,
	`![a](data:image/svg+xml,<svg onload=alert(1)>)`, `[a](http://x "onclick=alert(1)")`, `[a](http://x" onclick="alert(1))`,
	`![a" onerror="alert(1)](x)`, `[a](x 'b" onclick="alert(1)')`, "[a](javascript:alert(1)//http://x)", "[a](\u0001javascript:alert(1))",
	"[a](javascript\u0000:alert(1))", "[a](feed:javascript:alert(1))", `[<img src=x onerror=alert(1)>](http://x)`, `[a](//evil.test/x)`,
	// elements
	`<script>alert(1)</script>`, `<ScRiPt src=//x></sCrIpT>`, `<script/x>alert(1)</script>`, "<script\n>alert(1)</script\n>", `<scr<script>ipt>alert(1)</scr</script>ipt>`,
	`<<script>alert(1)//<</script>`, `<script>`, `</script><script>alert(1)`, `<style>@import "//x"</style>`, `<style><img src="</style><img src=x onerror=alert(1)>">`,
	`<link rel=stylesheet href=//x>`, `<meta http-equiv=refresh content="0;url=javascript:alert(1)">`, `<base href=//evil/>`, `<iframe src=javascript:alert(1)>`,
	`<iframe srcdoc="<script>alert(1)</script>">`, `<object data=javascript:alert(1)>`, `<embed src=//x>`, `<applet code=x>`, `<frameset onload=alert(1)>`,
	`<form action=javascript:alert(1)><button>go</button></form>`, `<form><button formaction=javascript:alert(1)>x`, `<input onfocus=alert(1) autofocus>`, `<input type=image src=x onerror=alert(1)>`,
	`<select onfocus=alert(1) autofocus><option>x</select>`, `<textarea autofocus onfocus=alert(1)>`, `<keygen onfocus=alert(1)>`, `<isindex type=image src=1 onerror=alert(1)>`,
	`<marquee onstart=alert(1)>x</marquee>`, `<dialog open>fake</dialog>`, `<template><script>alert(1)</script></template>`, `<slot name=x>`, `<portal src=//x>`,
	`<noscript><p title="</noscript><img src=x onerror=alert(1)>">`, `<xmp><p title="</xmp><img src=x onerror=alert(1)>">`, `<plaintext>`, `<title><img src=x onerror=alert(1)></title>`,
	`<textarea><p title="</textarea><img src=x onerror=alert(1)>">`, `<noembed><img src="</noembed><img src=x onerror=alert(1)>">`, `<listing>&lt;img src=x onerror=alert(1)&gt;</listing>`,
	`<audio src=x onerror=alert(1)>`, `<video><source onerror=alert(1)></video>`, `<video src=javascript:alert(1) poster=javascript:alert(2)>`, `<track onload=alert(1)>`,
	// handlers
	`<img src=x onerror=alert(1)>`, `<img/src=x/onerror=alert(1)>`, "<img src=x\nonerror\n=\nalert(1)>", "<img src=x \x0conerror=alert(1)>", `<img src="x"onerror="alert(1)">`,
	`<img src=x OnErRoR=alert(1)>`, "<img src=`x`onerror=alert(1)>", `<b onmouseover=alert(1)>x</b>`, `<details open ontoggle=alert(1)>x</details>`, `<a href=x onclick=alert(1)>x</a>`,
	`<a onfocus=alert(1) tabindex=0 id=x>x</a>`, `<p style="background:url(javascript:alert(1))">`, `<div style="position:fixed;inset:0">x</div>`, `<b style=width:expression(alert(1))>`,
	`<td background=javascript:alert(1)>`, `<table background=javascript:alert(1)><tr><td>x`, `<img src=x alt="` + "`" + `onerror=alert(1)">`, `<img src="x:x" onerror="alert(1)"`, `<img """><script>alert(1)</script>">`,
	`<div hx-get=/logout hx-trigger=load>`, `<div data-hx-get=/logout>`, `<b hx-on:click=alert(1)>`, `<div is=x-y slot=z part=w>`, `<a target=_blank ping=//x href=//x>`, `<p contenteditable autofocus onfocus=alert(1)>`,
	// addresses in HTML
	`<a href="javascript:alert(1)">x</a>`, `<a href=" javascript:alert(1)">x</a>`, `<a href="jav&#x0A;ascript:alert(1)">x</a>`, `<a href="&#1;javascript:alert(1)">x</a>`,
	`<a href=&#x6A&#x61vascript:alert(1)>x</a>`, `<a href="javascript&#58;alert(1)">x</a>`, `<a href="//evil.test">x</a>`, `<a href='data:text/html,x'>x</a>`, `<a xlink:href=javascript:alert(1)>x</a>`,
	`<img src="data:image/svg+xml;base64,PHN2Zz4=">`, `<img srcset="javascript:alert(1) 1x, data:x 2x, x.png 3x">`, `<picture><source srcset="javascript:alert(1)"><img src=javascript:alert(1)></picture>`,
	`<q cite=javascript:alert(1)>x</q>`, `<blockquote cite="data:text/html,x">x</blockquote>`, `<img lowsrc=javascript:alert(1) dynsrc=javascript:alert(1)>`, `<a href="http://x" rel="opener">x</a>`,
	// foreign content
	`<svg onload=alert(1)>`, `<svg><script>alert(1)</script></svg>`, `<svg><a xlink:href=javascript:alert(1)><text>x</text></a></svg>`, `<svg><animate onbegin=alert(1)>`, `<svg><set attributeName=onload to=alert(1)>`,
	`<svg><foreignObject><img src=x onerror=alert(1)></foreignObject></svg>`, `<svg><style><img src="</style><img src=x onerror=alert(1)>"></svg>`, `<svg><use href="data:image/svg+xml,x#y"/></svg>`,
	`<math><mi xlink:href="javascript:alert(1)">x</mi></math>`, `<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>`, `<math href=javascript:alert(1)>x</math>`,
	`<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`, `<math><annotation-xml encoding="text/html"><script>alert(1)</script></annotation-xml></math>`,
	// clobbering and pretending
	`<a id=location>x</a>`, `<img name=cookie>`, `<form id=document name=body>x</form>`, `<a id=x><a id=x name=y href=z>`, `<p id="user-content-user-content-x">`, `<b id=__proto__>`, `<a name="after">x</a>`,
	`<div id=text class="mention g0000000000000000-0">x</div>`, `<span class="g0123456789abcdef-1">x</span>`, `<input type=checkbox data-task=0 checked>`, `<div class="flash-error">You must sign in</div>`, `<p role=alert aria-live=assertive>x</p>`,
	// breaking out
	`</div></main></body></html><h1>x`, `</main>`, `</p></p></div>`, `<ul><li><div><li></li></div></li></ul></main>`, `<table><tr><td></main></td></tr></table>`, `<a><a><a></a>`, `<b><p></b></p></main>`,
	`<dl><dd><div><dd></dd></div></dd></dl>`, `<table><div></main><b>x`, `<h1><h2></h1></main>`, `<details><summary></details></main>`, `<!--`, `<!-- --!><img src=x onerror=alert(1)> -->`, `<!--><img src=x onerror=alert(1)>-->`,
	`<![CDATA[<img src=x onerror=alert(1)>]]>`, `<?php <img src=x onerror=alert(1)> ?>`, `<!DOCTYPE x [<!ENTITY y "z">]>`, `<a href="x`, `<img src='`, "<b\x00onclick=alert(1)>", `<p title="</main>">`, `<pre></pre></pre></main>`,
	// through our own parts
	"```html\n<img src=x onerror=alert(1)>\n```", "```\"><img src=x onerror=alert(1)>\nx\n```", "```mermaid\n</code></pre><img src=x onerror=alert(1)>\n```", "$`</code><img src=x onerror=alert(1)>`$", "$</code><script>x</script>$", "$$\n</code></pre><script>alert(1)</script>\n$$",
	"# <img src=x onerror=alert(1)>", "# x\" onclick=\"alert(1)", "> [!NOTE]\n> <img src=x onerror=alert(1)>", "> [!<script>]\n> x", "- [ ] <img src=x onerror=alert(1)>", "a[^1]\n\n[^1]: <img src=x onerror=alert(1)>", "a[^\"onclick=alert(1)]\n\n[^\"onclick=alert(1)]: x",
	"| a |\n|---|\n| <img src=x onerror=alert(1)> |", ":<script>:", `@<script>alert(1)</script>`, `#1"onclick=alert(1)`, "`<img src=x onerror=alert(1)>`", "http://x/\"onmouseover=alert(1)", "http://x/<script>alert(1)</script>", "www.x.y/\"onclick=alert(1)//",
	"\ufeff<script>alert(1)</script>", "<scrİpt>alert(1)</scrİpt>", "\u202e<img src=x onerror=alert(1)>", "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;img src=x onerror=alert(1)&#62;", "<img src=x:alert(1) onerror=eval(src)>\xff", "\xc0\xbcscript\xc0\xbealert(1)",
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	if len(attacks) < 80 {
		t.Fatalf("only %d attacks", len(attacks))
	}
	r := New(Config{SiteURL: "http://forge.test"})
	files := Files{
		Page: func(p string) string { return "/o/r/blob/main/" + escapePath(p) }, Folder: func(p string) string { return "/o/r/tree/main/" + escapePath(p) },
		Raw: func(p string) string { return "/o/r/raw/main/" + escapePath(p) }, Home: "/o/r", Key: "main",
	}
	for _, a := range attacks {
		// An attack may need a context: between other text, in a list, a
		// table, a link, a heading, after an element that is still open.
		for _, text := range []string{
			a, "x " + a + " y", "- " + a + "\n- z", "> " + a, "<div>\n\n" + a + "\n\n</div>", "[" + a + "](http://x)", "**" + a + "**", "<p>" + a, "<table><tr><td>" + a,
			"<details><summary>" + a + "</summary>", "<a href=x>" + a, "<b title='" + a + "'>", `<b title="` + a + `">`, a + a,
		} {
			for _, o := range []Options{{}, {Mode: Comment, ID: "c1", Owner: "o", Repo: "r"}, {Dir: "d", Files: files, Editable: true}, {Mode: Plain, Owner: "o", Repo: "r"}} {
				out, err := r.Render(t.Context(), (&world{}).lookup(), text, o)
				if err != nil {
					t.Fatal(err)
				}
				checkSafe(t, text, string(out.HTML))
			}
		}
		checkSafe(t, "title "+a, string(Title(a)))
		if n := len(elements(t, string(Title(a)))); strings.Count(a, "`") < 2 && n > 1 {
			t.Errorf("title %q has elements: %s", a, Title(a))
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, a := range attacks {
		f.Add(a)
	}
	for _, s := range []string{tasks, "# h\n\n[a](../b#c)\n\n@ann #1 abc1234\n\n$x$\n\n|a|\n|-|\n|b|", "> [!NOTE]\n> x[^1]\n\n[^1]: y\n"} {
		f.Add(s)
	}
	r := New(Config{SiteURL: "http://forge.test", CacheBytes: 1})
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range []Options{{Editable: true}, {Mode: Comment, ID: "c", Owner: "o", Repo: "r"}} {
			out, err := r.Render(t.Context(), (&world{}).lookup(), text, o)
			if err != nil {
				t.Fatal(err)
			}
			checkSafe(t, text, string(out.HTML))
			if n := strings.Count(string(out.HTML), "data-task="); !out.Plain && n != len(TaskList(clean(text))) && !strings.Contains(text, "data-task=") {
				t.Errorf("%d checkboxes, %d tasks in %q", n, len(TaskList(clean(text))), text)
			}
		}
		checkSafe(t, text, string(Title(text)))
	})
}
