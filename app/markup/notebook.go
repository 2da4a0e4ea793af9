package markup

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"

	"github.com/gitfor/gitfor/app/highlight"
)

// Limits of a notebook that is shown.
const (
	MaxNotebook   = 16 << 20 // bytes of the file
	maxCellCount  = 1000
	maxCellOutput = 100       // outputs of a cell
	maxStream     = 64 << 10  // bytes of an output's text
	maxImage      = 3 << 20   // bytes of an image in base 64
	maxImages     = 10 << 20  // bytes of all images
	maxHTML       = 128 << 10 // bytes of an output's HTML
)

// ErrNotebook says that a file is no notebook, to be shown as text.
var ErrNotebook = errors.New("not a notebook")

// Jupyter's format, as much as is shown of it.
// https://nbformat.readthedocs.io/en/latest/format_description.html
type notebook struct {
	Cells    []notebookCell `json:"cells"`
	Metadata struct {
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
	} `json:"metadata"`
	Format     int `json:"nbformat"`
	Worksheets []struct {
		Cells []notebookCell `json:"cells"`
	} `json:"worksheets"` // nbformat 3
}

type notebookCell struct {
	Type    string           `json:"cell_type"`
	Source  joined           `json:"source"`
	Input   joined           `json:"input"` // nbformat 3
	Count   *int             `json:"execution_count"`
	Outputs []notebookOutput `json:"outputs"`
}

type notebookOutput struct {
	Type      string                     `json:"output_type"`
	Name      string                     `json:"name"`
	Text      joined                     `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Count     *int                       `json:"execution_count"`
	Error     string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// joined is a text that may be written as a list of its lines.
type joined string

func (j *joined) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err == nil {
		*j = joined(strings.Join(list, ""))
		return nil
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return nil //nolint:nilerr // anything else is no text; the rest of the notebook still shows
	}
	*j = joined(s)
	return nil
}

// nbWriter writes one notebook.
type nbWriter struct {
	r      *Renderer
	ctx    context.Context //nolint:containedctx // lives as long as one call
	o      Options
	b      strings.Builder
	lang   string
	images int // bytes so far
	texts  int // rendered so far, for ids
}

// Notebook renders a Jupyter notebook: its text, code and outputs. The error
// is ErrNotebook, or that of ctx.
func (r *Renderer) Notebook(ctx context.Context, src []byte, o Options) (Output, error) {
	if len(src) > MaxNotebook {
		return Output{}, fmt.Errorf("%w: longer than %d bytes", ErrNotebook, MaxNotebook)
	}
	var nb notebook
	if err := json.Unmarshal(src, &nb); err != nil {
		return Output{}, fmt.Errorf("%w: %w", ErrNotebook, err)
	}
	for _, ws := range nb.Worksheets {
		nb.Cells = append(nb.Cells, ws.Cells...)
	}
	if nb.Format == 0 && nb.Cells == nil {
		return Output{}, ErrNotebook
	}
	w := &nbWriter{r: r, ctx: ctx, o: o, lang: nb.Metadata.Language.Name}
	if w.lang == "" {
		w.lang = nb.Metadata.Kernel.Language
	}
	if w.lang == "" {
		w.lang = "python"
	}
	w.b.WriteString(`<div class="notebook">`)
	for i := range nb.Cells {
		if err := ctx.Err(); err != nil {
			return Output{}, fmt.Errorf("render notebook: %w", err)
		}
		if i == maxCellCount || w.b.Len() > 2*maxOutput {
			w.note("The rest of this notebook is not shown.")
			break
		}
		w.cell(&nb.Cells[i])
	}
	w.b.WriteString("</div>")
	return Output{HTML: template.HTML(w.b.String())}, nil //nolint:gosec // escaped or sanitised piece by piece
}

func (w *nbWriter) cell(c *notebookCell) {
	source := clean(string(c.Source) + string(c.Input))
	switch c.Type {
	case "markdown", "heading":
		w.b.WriteString(`<div class="notebook-cell markdown">`)
		w.markdown(source)
	case "code":
		w.b.WriteString(`<div class="notebook-cell notebook-code">`)
		w.prompt("In", c.Count)
		w.b.WriteString(`<pre class="chroma"><code>` + string(highlight.Snippet(w.lang, source)) + `</code></pre>`)
		for i := range c.Outputs {
			if i == maxCellOutput {
				w.note("More outputs are not shown.")
				break
			}
			w.output(&c.Outputs[i])
		}
	default:
		w.b.WriteString(`<div class="notebook-cell"><pre>` + html.EscapeString(source) + `</pre>`)
	}
	w.b.WriteString("</div>")
}

func (w *nbWriter) prompt(word string, count *int) {
	if count != nil {
		fmt.Fprintf(&w.b, `<div class="notebook-prompt">%s [%d]</div>`, word, *count)
	}
}

func (w *nbWriter) note(text string) {
	w.b.WriteString(`<p class="notebook-note">` + html.EscapeString(text) + `</p>`)
}

func (w *nbWriter) markdown(source string) {
	w.texts++
	o := w.o
	o.Mode, o.ID = Document, fmt.Sprintf("%sc%d", o.ID, w.texts)
	out, err := w.r.Render(w.ctx, Lookup{}, source, o)
	if err == nil {
		w.b.WriteString(string(out.HTML))
	}
}

func (w *nbWriter) output(o *notebookOutput) {
	w.b.WriteString(`<div class="notebook-output">`)
	defer w.b.WriteString("</div>")
	switch o.Type {
	case "stream":
		class := "notebook-stream"
		if o.Name == "stderr" {
			class += " notebook-stderr"
		}
		w.text(class, string(o.Text))
	case "error", "pyerr":
		text := strings.Join(o.Traceback, "\n")
		if text == "" {
			text = o.Error + ": " + o.Value
		}
		w.text("notebook-stream notebook-stderr", text)
	default:
		w.prompt("Out", o.Count)
		if !w.data(o.Data) && o.Text != "" {
			w.text("notebook-stream", string(o.Text))
		}
	}
}

// data shows the best of an output's forms.
func (w *nbWriter) data(data map[string]json.RawMessage) bool {
	form := func(kind string) string {
		var s joined
		if raw, ok := data[kind]; ok {
			_ = s.UnmarshalJSON(raw)
		}
		return string(s)
	}
	if s := form("text/html"); s != "" && len(s) <= maxHTML && w.html(s) {
		return true
	}
	for _, kind := range []string{"image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp"} {
		if s := form(kind); s != "" {
			w.image(kind, s)
			return true
		}
	}
	if s := form("text/markdown"); s != "" {
		w.b.WriteString(`<div class="markdown">`)
		w.markdown(s)
		w.b.WriteString("</div>")
		return true
	}
	if s := form("text/latex"); s != "" {
		tex := strings.TrimSpace(s)
		for _, sign := range []string{"$$", "$"} {
			if len(tex) > 2*len(sign) && strings.HasPrefix(tex, sign) && strings.HasSuffix(tex, sign) {
				tex = tex[len(sign) : len(tex)-len(sign)]
			}
		}
		w.b.WriteString(mathSlot(cut(clean(tex))).html)
		return true
	}
	if raw, ok := data["application/json"]; ok {
		w.b.WriteString(`<pre class="chroma"><code>` + string(highlight.Snippet("json", cut(clean(string(raw))))) + `</code></pre>`)
		return true
	}
	if s := form("text/plain"); s != "" {
		w.text("notebook-stream", s)
		return true
	}
	return false
}

// html shows an output's HTML, sanitised as that of any text.
func (w *nbWriter) html(s string) bool {
	w.texts++
	o := w.o
	o.Mode, o.ID = Comment, fmt.Sprintf("%sc%d", o.ID, w.texts)
	safe := capFormatting(w.r.policy.SanitizeBytes([]byte(clean(s))))
	c, err := w.r.compileHTML(safe, newSlots(0), o)
	if err != nil {
		return false
	}
	w.b.WriteString(`<div class="markdown">` + string(c.html(answers{})) + `</div>`)
	return true
}

// image shows an image that lies in the notebook. An SVG too: within img it
// runs no scripts and loads nothing.
func (w *nbWriter) image(kind, data string) {
	if kind == "image/svg+xml" {
		data = base64.StdEncoding.EncodeToString([]byte(data))
	}
	data = strings.Join(strings.Fields(data), "")
	w.images += len(data)
	if _, err := base64.StdEncoding.DecodeString(data); err != nil || len(data) > maxImage || w.images > maxImages {
		w.note("An image is not shown.")
		return
	}
	w.b.WriteString(`<img alt="Output of the cell" loading="lazy" src="data:` + kind + `;base64,` + data + `"/>`)
}

func (w *nbWriter) text(class, s string) {
	w.b.WriteString(`<pre class="` + class + `">` + html.EscapeString(cut(ansi.ReplaceAllString(clean(s), ""))) + `</pre>`)
}

// cut shortens a long output.
func cut(s string) string {
	if len(s) <= maxStream {
		return s
	}
	return strings.ToValidUTF8(s[:maxStream], "") + "\n…"
}

// ansi matches the codes by which programs colour text on a terminal.
var ansi = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)
