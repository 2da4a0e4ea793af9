package markup

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, head string
		want       Kind
		media      string
	}{
		{"main.go", "package main\n", KindText, "text/plain; charset=utf-8"},
		{"x.html", "<script>alert(1)</script>", KindText, "text/plain; charset=utf-8"},
		{"x.xml", "<?xml?>", KindText, "text/plain; charset=utf-8"},
		{"mail.eml", "From: a", KindText, "text/plain; charset=utf-8"},
		{"latin1.txt", "caf\xe9", KindText, "text/plain"},
		{"utf16.txt", "\xff\xfea\x00", KindText, "text/plain"},
		{"README.MD", "# x", KindMarkdown, "text/plain; charset=utf-8"},
		{"x.png", "\x89PNG\r\n\x1a\n\x00", KindImage, "image/png"},
		{"x.txt", "\x89PNG\r\n\x1a\n\x00", KindImage, "image/png"},
		{"x.jpg", "\xff\xd8\xff\xe0", KindImage, "image/jpeg"},
		{"x.gif", "GIF89a", KindImage, "image/gif"},
		{"x.webp", "RIFF\x00\x00\x00\x00WEBP", KindImage, "image/webp"},
		{"x.avif", "\x00\x00\x00\x20ftypavif", KindImage, "image/avif"},
		{"x.ico", "\x00\x00\x01\x00", KindImage, "image/x-icon"},
		{"x.png", "not an image", KindText, "text/plain; charset=utf-8"},
		{"x.svg", "<?xml?><svg onload=x>", KindSVG, "image/svg+xml"},
		{"x.svg", "<html>", KindText, "text/plain; charset=utf-8"},
		{"x.pdf", "%PDF-1.7", KindPDF, "application/pdf"},
		{"x.pdf", "<script>", KindText, "text/plain; charset=utf-8"},
		{"x.mp3", "ID3\x03\x00", KindAudio, "audio/mpeg"},
		{"x.mp4", "\x00\x00\x00\x20ftypisom", KindVideo, "video/mp4"},
		{"x.webm", "\x1aE\xdf\xa3", KindVideo, "video/webm"},
		{"x.ipynb", `{"cells":[]}`, KindNotebook, "text/plain; charset=utf-8"},
		{"x.csv", "a,b\n", KindTable, "text/plain; charset=utf-8"},
		{"x.bin", "a\x00b", KindBinary, "application/octet-stream"},
		{"x.csv", "a\x00b", KindBinary, "application/octet-stream"},
		{"x.psd", "version https://git-lfs.github.com/spec/v1\noid sha256:x\n", KindPointer, "text/plain; charset=utf-8"},
		{"empty", "", KindText, "text/plain; charset=utf-8"},
	} {
		if got := KindOf(tc.name, []byte(tc.head)); got != tc.want {
			t.Errorf("%s %q is kind %d, want %d", tc.name, tc.head, got, tc.want)
		}
		if got := ContentType(tc.name, []byte(tc.head)); got != tc.media {
			t.Errorf("%s %q is %q, want %q", tc.name, tc.head, got, tc.media)
		}
	}
	cutHead := []byte(strings.Repeat("a", HeadSize-1) + "ü")[:HeadSize]
	if got := ContentType("x.txt", cutHead); got != "text/plain; charset=utf-8" {
		t.Errorf("a character cut by the end of the head: %q", got)
	}
}

func TestReadmeRank(t *testing.T) {
	t.Parallel()
	order := []string{"README.md", "Readme.md", "README", "README.rst", "README.zh.md", "main.go"}
	for i := 1; i < len(order); i++ {
		if ReadmeRank(order[i-1]) <= ReadmeRank(order[i]) {
			t.Errorf("%s does not come before %s", order[i-1], order[i])
		}
	}
	if ReadmeRank("main.go") != 0 || ReadmeRank("readme.md") == 0 || ReadmeRank("READMEx.md") != 0 {
		t.Error("ranks of other names are wrong")
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	out, err := Table("x.csv", []byte("name,\"a \"\"b\"\"\"\n<script>,\"two\nlines\"\nshort\nlong,1,2,3\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := `<div class="table-scroll"><table class="data-table"><thead><tr><td class="line-number" data-line="1"></td><th scope="col">name</th><th scope="col">a &#34;b&#34;</th></tr></thead><tbody>` +
		`<tr><td class="line-number" data-line="2"></td><td>&lt;script&gt;</td><td>two` + "\n" + `lines</td></tr>` +
		`<tr><td class="line-number" data-line="4"></td><td>short</td><td></td></tr>` +
		`<tr><td class="line-number" data-line="5"></td><td>long</td><td>1</td><td>2</td><td>3</td></tr></tbody></table></div>`
	if string(out.HTML) != want || out.Rows != 3 || out.Cut {
		t.Errorf("got %+v\nwant %s", out, want)
	}
	for src, columns := range map[string]int{"a;b;c\n1;2,5;3\n": 3, "a|b\n": 2, "a\tb\n": 2, "\"a;b\",c\n": 2, "\xef\xbb\xbfa,b": 2} {
		if out, err := Table("x.csv", []byte(src)); err != nil || out.Columns != columns {
			t.Errorf("%q has %d columns, %v", src, out.Columns, err)
		}
	}
	if out, err := Table("x.tsv", []byte("a,b\tc\n")); err != nil || out.Columns != 2 {
		t.Errorf("tabs: %d columns, %v", out.Columns, err)
	}
	big, err := Table("x.csv", []byte(strings.Repeat(strings.Repeat("a,", 300)+"\n", 5000)))
	if err != nil || !big.Cut || big.Rows != maxRows || big.Columns != maxColumns {
		t.Errorf("a big table: %d × %d, cut %t, %v", big.Rows, big.Columns, big.Cut, err)
	}
	for _, bad := range []string{"", "\n\n", strings.Repeat("x", 10_000)} {
		if _, err := Table("x.csv", []byte(bad)); !errors.Is(err, ErrTable) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

// aNotebook builds a notebook with one output of each kind.
func aNotebook(t testing.TB) []byte {
	t.Helper()
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"))
	one := 1
	type m = map[string]any
	out := func(data m) m {
		return m{"output_type": "display_data", "data": data}
	}
	nb := m{
		"nbformat": 4, "metadata": m{"language_info": m{"name": "python"}},
		"cells": []m{
			{"cell_type": "markdown", "source": []string{"# Title\n", "a <script>x</script> **b** [l](../x.md)"}},
			{"cell_type": "code", "execution_count": one, "source": "def f(): pass\n", "outputs": []m{
				{"output_type": "stream", "name": "stderr", "text": []string{"a\n", "\x1b[31mred\x1b[0m <b>\n"}},
				{"output_type": "execute_result", "execution_count": one, "data": m{"text/plain": "42", "text/html": "<table onclick=x><tr><td>7</td></tr></table><script>y</script>"}},
				out(m{"image/png": png + "\n"}), out(m{"image/png": "not base 64!"}), out(m{"image/svg+xml": "<svg onload=x>"}),
				out(m{"text/markdown": "*md*"}), out(m{"text/latex": "$x<y$"}), out(m{"application/json": m{"a": 1}}), out(m{"application/x-unknown": "z"}),
				{"output_type": "error", "ename": "E", "evalue": "v", "traceback": []string{"\x1b[0;31mTrace", "back"}},
			}},
			{"cell_type": "raw", "source": "<i>raw</i>"},
		},
	}
	data, err := json.Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestNotebook(t *testing.T) {
	t.Parallel()
	r := New(Config{})
	out, err := r.Notebook(t.Context(), aNotebook(t), Options{Dir: "a", Files: Files{Page: func(p string) string { return "/f/" + p }, Key: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	got := string(out.HTML)
	for _, want := range []string{
		`<div class="notebook-cell markdown"><h1 id="user-content-c1-title">Title<a class="anchor"`, `<strong>b</strong> <a href="/f/x.md">l</a>`,
		`<div class="notebook-prompt">In [1]</div><pre class="chroma"><code><span class="k">def</span> <span class="nf">f</span>`,
		`<pre class="notebook-stream notebook-stderr">a` + "\nred &lt;b&gt;\n</pre>", `<div class="notebook-prompt">Out [1]</div><div class="markdown"><table><tbody><tr><td>7</td></tr></tbody></table></div>`,
		`src="data:image/png;base64,iVBORw0KGgo="`, `An image is not shown.`, `src="data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9eD4="`, `<em>md</em>`,
		`<pre class="math math-display"><code>x&lt;y</code></pre>`, `<span class="nt">&#34;a&#34;</span>:`, `<pre class="notebook-stream notebook-stderr">Trace` + "\nback</pre>", `<pre>&lt;i&gt;raw&lt;/i&gt;</pre>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s", want)
		}
	}
	if strings.Contains(got, "<script") || strings.Contains(got, "onclick") || strings.Contains(got, "42") {
		t.Errorf("got %s", got)
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestNotebookLimits(t *testing.T) {
	t.Parallel()
	r := New(Config{})
	for _, bad := range []string{"", "x", "[]", "{}", `{"cells": 5}`, `{"cells":[{"outputs":"x"}]}`, strings.Repeat("[", 100_000)} {
		if _, err := r.Notebook(t.Context(), []byte(bad), Options{}); !errors.Is(err, ErrNotebook) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
	cells := strings.TrimSuffix(strings.Repeat(`{"cell_type":"code","source":["x=1"]},`, 5000), ",")
	out, err := r.Notebook(t.Context(), []byte(`{"nbformat":4,"cells":[`+cells+`]}`), Options{})
	if n := strings.Count(string(out.HTML), "notebook-code"); err != nil || n != maxCellCount || !strings.Contains(string(out.HTML), "rest of this notebook") {
		t.Errorf("%d cells, %v", n, err)
	}
	text := strings.Repeat("ü", maxStream)
	out, err = r.Notebook(t.Context(), fmt.Appendf(nil, `{"nbformat":4,"cells":[{"cell_type":"code","outputs":[{"output_type":"stream","text":%q}]}]}`, text), Options{})
	if err != nil || len(out.HTML) > maxStream+1000 || !utf8.ValidString(string(out.HTML)) {
		t.Errorf("a long output is %d bytes, %v", len(out.HTML), err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Notebook(ended, aNotebook(t), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	old := `{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"code","input":["print(1)"]}]}]}`
	if out, err := r.Notebook(t.Context(), []byte(old), Options{}); err != nil || !strings.Contains(string(out.HTML), "print") {
		t.Errorf("format 3: %s, %v", out.HTML, err)
	}
}

func TestNotebookAttacks(t *testing.T) {
	t.Parallel()
	r := New(Config{})
	for _, a := range attacks {
		q, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		src := bytes.ReplaceAll([]byte(`{"nbformat":4,"metadata":{"language_info":{"name":Q}},"cells":[{"cell_type":"markdown","source":Q},{"cell_type":"code","source":Q,"outputs":[
			{"output_type":"stream","name":Q,"text":Q},{"output_type":"error","ename":Q,"evalue":Q},{"output_type":"display_data","data":{"text/html":Q}},
			{"output_type":"display_data","data":{"text/latex":Q}},{"output_type":"display_data","data":{"image/png":Q}}]},{"cell_type":Q,"source":Q}]}`), []byte("Q"), q)
		out, err := r.Notebook(t.Context(), src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkSafe(t, a, string(out.HTML))
	}
}

func FuzzNotebook(f *testing.F) {
	f.Add(aNotebook(f))
	f.Add([]byte(`{"nbformat":4,"cells":[{"cell_type":"code","source":5,"outputs":[{"data":{"text/html":["<b>",1]}}]}]}`))
	r := New(Config{CacheBytes: 1})
	f.Fuzz(func(t *testing.T, src []byte) {
		out, err := r.Notebook(t.Context(), src, Options{})
		if err == nil && !strings.Contains(string(out.HTML), "data:image/") {
			checkSafe(t, "notebook", string(out.HTML))
		}
	})
}

func FuzzTable(f *testing.F) {
	f.Add("x.csv", []byte("a,b\n\"c\",d\n"))
	f.Add("x.tsv", []byte("\"\t\n<"))
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		out, err := Table(name, src)
		if err == nil {
			for _, n := range elements(t, string(out.HTML)) {
				if n.Data == "script" || attr(n, "onclick") != "" {
					t.Errorf("element %s", n.Data)
				}
			}
		}
	})
}
