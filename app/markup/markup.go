package markup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	gmhtml "github.com/yuin/goldmark/renderer/html"

	"github.com/gitfor/gitfor/app/highlight/lru"
)

// Limits, in bytes of source. Longer texts are shown as plain text.
const (
	MaxDocument = 512 << 10
	MaxComment  = 256 << 10
)

// Mode says what kind of text is rendered.
type Mode int

const (
	// Document is a file: paragraphs flow, headings have anchors, and links
	// beginning with a slash start at the top of the repository.
	Document Mode = iota
	// Comment is what people write to each other: each line break counts.
	Comment
	// Plain is text without any syntax, such as a commit's message: only
	// addresses and references become links.
	Plain
)

// Files gives the addresses of files that a text links to by relative paths.
// Paths are relative to the top of the repository, clean, without a leading
// slash, not encoded. Funcs left nil leave links of their kind as they are.
type Files struct {
	// Page is the page of a file.
	Page func(path string) string
	// Folder is the page of a folder; the top is "".
	Folder func(path string) string
	// Raw is the address of a file's bytes, for images.
	Raw func(path string) string
	// Home is the address of the repository, without a slash at the end:
	// ../../issues in a file at the top leads to Home/issues.
	Home string
	// Key names what the funcs depend on (the ref), so that results can be
	// kept. With an empty Key they are not.
	Key string
}

// Options say how and where a text is rendered.
type Options struct {
	Mode Mode
	// Owner and Repo are the repository that #123 belongs to; empty where
	// there is none.
	Owner, Repo string
	// Dir is the folder that relative links start from.
	Dir   string
	Files Files
	// ID makes element ids unique where a page shows several texts.
	ID string
	// Editable leaves the checkboxes of task lists enabled.
	Editable bool
}

// Config is what all texts of an instance have in common.
type Config struct {
	// SiteURL is the address of this instance, without a slash at the end:
	// full addresses within it are shortened to references.
	SiteURL string
	// Image gives the address under which the reader's browser may fetch an
	// image of another site; nil leaves it as it is.
	Image func(url string) string
	// CacheBytes bounds the memory for compiled texts; 0 means 16 MB.
	CacheBytes int64
}

// Output is a rendered text.
type Output struct {
	HTML     template.HTML
	Headings []Heading
	// Plain says that the text was too long or too deeply nested, and is
	// shown as plain text.
	Plain bool
}

// Heading is a heading of a document, for an outline.
type Heading struct {
	Level int    // 1 to 6
	ID    string // of the element
	Text  string
}

// Source is one of several texts rendered together.
type Source struct {
	Text    string
	Options Options
}

// Renderer renders texts. It is safe for concurrent use.
type Renderer struct {
	config   Config
	site     string
	document goldmark.Markdown
	comment  goldmark.Markdown
	policy   *bluemonday.Policy
	cache    *lru.Cache[[32]byte, *compiled]
}

// New returns a Renderer.
func New(config Config) *Renderer {
	if config.CacheBytes == 0 {
		config.CacheBytes = 16 << 20
	}
	return &Renderer{
		config:   config,
		site:     strings.TrimRight(config.SiteURL, "/"),
		document: newMarkdown(),
		comment:  newMarkdown(gmhtml.WithHardWraps()),
		policy:   newPolicy(),
		cache:    lru.New[[32]byte, *compiled](config.CacheBytes),
	}
}

// Render renders one text. See RenderAll.
func (r *Renderer) Render(ctx context.Context, look Lookup, text string, o Options) (Output, error) {
	out, err := r.RenderAll(ctx, look, []Source{{Text: text, Options: o}})
	if err != nil {
		return Output{}, err
	}
	return out[0], nil
}

// RenderAll renders texts that appear together, with one call of each func of
// look for all of them. Errors are those of look or of ctx.
func (r *Renderer) RenderAll(ctx context.Context, look Lookup, texts []Source) ([]Output, error) {
	docs := make([]*compiled, len(texts))
	var want wanted
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("render: %w", err)
		}
		docs[i] = r.compiled(t.Text, t.Options)
		want.add(docs[i].candidates)
	}
	found, err := want.look(ctx, look)
	if err != nil {
		return nil, err
	}
	out := make([]Output, len(docs))
	for i, d := range docs {
		out[i] = Output{HTML: d.html(found), Headings: d.headings, Plain: d.plain}
	}
	return out, nil
}

// compiled returns the compiled text, from memory where possible.
func (r *Renderer) compiled(text string, o Options) *compiled {
	key, ok := cacheKey(text, o)
	if !ok {
		return r.compile(text, o)
	}
	if c, ok := r.cache.Get(key); ok {
		return c
	}
	c := r.compile(text, o)
	r.cache.Put(key, c, c.size())
	return c
}

var errTooLong = errors.New("text is too long to render")

// compile renders text up to what only look-ups can tell.
func (r *Renderer) compile(text string, o Options) (c *compiled) {
	text = clean(text)
	defer func() {
		// A fault in a parser must not take down the page that shows the text.
		if recover() != nil {
			c = plainText(text)
		}
	}()
	c, err := r.tryCompile(text, o)
	if err != nil {
		return plainText(text)
	}
	return c
}

func (r *Renderer) tryCompile(text string, o Options) (*compiled, error) {
	if o.Mode == Plain {
		return r.compilePlain(text, o)
	}
	md, limit := r.document, MaxDocument
	if o.Mode == Comment {
		md, limit = r.comment, MaxComment
	}
	if len(text) > limit {
		return nil, errTooLong
	}
	source := []byte(text)
	doc, err := parseWatched(md.Parser(), source)
	if err != nil {
		return nil, err
	}
	s := newSlots(len(source))
	s.prepare(doc, source, o.Editable)
	var buf bytes.Buffer
	if err := md.Renderer().Render(&buf, source, doc); err != nil {
		return nil, fmt.Errorf("render Markdown: %w", err)
	}
	if buf.Len() > maxOutput {
		return nil, errTooLong
	}
	safe := r.policy.SanitizeBytes(buf.Bytes())
	if s.raw {
		safe = capFormatting(safe)
	}
	return r.compileHTML(safe, s, o)
}

// clean makes text valid UTF-8 without NUL, which this package uses as a mark.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.ReplaceAll(text, "\x00", "\uFFFD")
}
