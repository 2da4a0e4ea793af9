package issues

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/model"
	"go.yaml.in/yaml/v3"
)

// templateFolder is where a repository keeps its issue templates
// (https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests).
const templateFolder = ".github/ISSUE_TEMPLATE"

// Limits on templates.
const (
	maxTemplates    = 50
	maxTemplateSize = 64 << 10
	maxFields       = 60
	maxOptions      = 200
)

// issueForm is an issue template: a form with fields (YAML), or a text to
// start from (Markdown with front matter).
type issueForm struct {
	File        string      `yaml:"-"`
	Name        string      `yaml:"name"`
	About       string      `yaml:"about"`
	Description string      `yaml:"description"`
	Title       string      `yaml:"title"`
	Labels      nameList    `yaml:"labels"`
	Assignees   nameList    `yaml:"assignees"`
	Body        []formField `yaml:"body"`
	Text        string      `yaml:"-"`
}

// formField is a field of an issue form.
type formField struct {
	Type       string `yaml:"type"`
	ID         string `yaml:"id"`
	Attributes struct {
		Label       string       `yaml:"label"`
		Description string       `yaml:"description"`
		Placeholder string       `yaml:"placeholder"`
		Value       string       `yaml:"value"`
		Render      string       `yaml:"render"`
		Multiple    bool         `yaml:"multiple"`
		Options     []formOption `yaml:"options"`
		Default     *int         `yaml:"default"`
	} `yaml:"attributes"`
	Validations struct {
		Required bool `yaml:"required"`
	} `yaml:"validations"`
}

// formOption is a choice: a text, or an object with a label.
type formOption struct {
	Label    string `yaml:"label"`
	Required bool   `yaml:"required"`
}

// UnmarshalYAML reads both forms.
func (o *formOption) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		o.Label = n.Value
		return nil
	}
	type plain formOption
	return n.Decode((*plain)(o))
}

// nameList is a list of names, or one text with commas between them.
type nameList []string

// UnmarshalYAML reads both forms.
func (l *nameList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*l = splitComma(n.Value)
		return nil
	}
	return n.Decode((*[]string)(l))
}

func splitComma(s string) []string {
	var out []string
	for _, p := range strings.Split(s, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// isForm says that the template has fields.
func (f *issueForm) isForm() bool { return len(f.Body) > 0 }

// about says what the template is for.
func (f *issueForm) about() string {
	if f.Description != "" {
		return f.Description
	}
	return f.About
}

// templateConfig is config.yml beside the templates.
type templateConfig struct {
	Blank    *bool `yaml:"blank_issues_enabled"`
	Contacts []struct {
		Name  string `yaml:"name"`
		URL   string `yaml:"url"`
		About string `yaml:"about"`
	} `yaml:"contact_links"`
}

// templateSet is what a repository offers to start an issue from.
type templateSet struct {
	forms  []*issueForm
	config templateConfig
}

func (t *templateSet) form(file string) *issueForm {
	at := slices.IndexFunc(t.forms, func(f *issueForm) bool { return f.File == file })
	if at < 0 {
		return nil
	}
	return t.forms[at]
}

// templates reads the templates on the default branch. What cannot be read as
// one is left out.
func (s *Service) templates(ctx context.Context, repo *model.Repo) (*templateSet, error) {
	set := &templateSet{}
	if repo.PushedAt == nil {
		return set, nil
	}
	g, err := s.Repos.Open(ctx, repo)
	if err != nil {
		return nil, err
	}
	rev, err := g.ResolveRef(ctx, repo.DefaultBranch)
	if err != nil {
		return set, absent(err)
	}
	entries, _, err := g.TreeAt(ctx, rev.Commit, templateFolder)
	if err != nil {
		return set, absent(err)
	}
	for _, e := range entries {
		ext := strings.ToLower(path.Ext(e.Name))
		if ext != ".md" && ext != ".yml" && ext != ".yaml" {
			continue
		}
		text, err := g.Blob(ctx, e.OID, maxTemplateSize)
		if err != nil {
			if absent(err) == nil {
				continue
			}
			return nil, err
		}
		base := strings.TrimSuffix(strings.ToLower(e.Name), ext)
		if base == "config" && ext != ".md" {
			// A broken file says nothing.
			_ = yaml.Unmarshal(text, &set.config)
			continue
		}
		if f := readTemplate(e.Name, ext, text); f != nil && len(set.forms) < maxTemplates {
			set.forms = append(set.forms, f)
		}
	}
	return set, nil
}

// absent is err, unless it says that something is not in the repository.
func absent(err error) error {
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrWrongType) || errors.Is(err, git.ErrTooLarge) {
		return nil
	}
	return err
}

func readTemplate(name, ext string, text []byte) *issueForm {
	f := &issueForm{}
	if ext != ".md" {
		if yaml.Unmarshal(text, f) != nil || f.Name == "" || len(f.Body) == 0 || len(f.Body) > maxFields {
			return nil
		}
		f.File = name
		f.tidy()
		return f
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return nil
	}
	head, body, ok := bytes.Cut(rest, []byte("\n---"))
	if !ok || yaml.Unmarshal(head, f) != nil || f.Name == "" {
		return nil
	}
	f.File, f.Body = name, nil
	_, after, _ := bytes.Cut(body, []byte("\n"))
	f.Text = strings.TrimLeft(strings.ToValidUTF8(string(after), "\uFFFD"), "\n")
	return f
}

// tidy gives every field an id and takes out what is no field.
func (f *issueForm) tidy() {
	var out []formField
	for n, field := range f.Body {
		switch field.Type {
		case "markdown", "input", "textarea", "dropdown", "checkboxes":
		default:
			continue
		}
		if field.ID == "" || strings.ContainsAny(field.ID, " \"'<>&") {
			field.ID = "f" + num(int64(n))
		}
		if len(field.Attributes.Options) > maxOptions {
			field.Attributes.Options = field.Attributes.Options[:maxOptions]
		}
		out = append(out, field)
	}
	f.Body = out
}

// fill makes the issue's body of what was filled in, as GitHub does: a heading
// and the answer for each field. Problems are added to fields.
func (f *issueForm) fill(values url.Values, fields map[string]string) string {
	var b strings.Builder
	for _, field := range f.Body {
		if field.Type == "markdown" {
			continue
		}
		name := "field-" + field.ID
		given := values[name]
		text := strings.TrimSpace(strings.ReplaceAll(strings.Join(given, ", "), "\r\n", "\n"))
		if field.Validations.Required && text == "" {
			fields[name] = "This is needed."
		}
		b.WriteString("### " + strings.Join(strings.Fields(field.Attributes.Label), " ") + "\n\n")
		switch {
		case field.Type == "checkboxes":
			for _, o := range field.Attributes.Options {
				mark := " "
				if slices.Contains(given, o.Label) {
					mark = "x"
				} else if o.Required {
					fields[name] = "All that is marked as required must be ticked."
				}
				b.WriteString("- [" + mark + "] " + o.Label + "\n")
			}
			b.WriteString("\n")
			continue
		case text == "":
			text = "_No response_"
		case field.Type == "textarea" && field.Attributes.Render != "":
			fence := "```"
			for strings.Contains(text, fence) {
				fence += "`"
			}
			text = fence + strings.Join(strings.Fields(field.Attributes.Render), "") + "\n" + text + "\n" + fence
		}
		b.WriteString(text + "\n\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
