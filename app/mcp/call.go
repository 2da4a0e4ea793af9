package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/web"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// schema is the JSON Schema of a tool's arguments.
func (t tool) schema() map[string]any {
	props, required := map[string]any{}, []string{}
	for _, p := range t.params {
		one := map[string]any{"type": p.kind, "description": p.about}
		switch p.kind {
		case "":
			one["type"] = "string"
		case "strings":
			one["type"], one["items"] = "array", map[string]any{"type": "string"}
		}
		props[p.name] = one
		if p.required {
			required = append(required, p.name)
		}
	}
	return map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false}
}

// check says what is wrong with arguments, "" for nothing.
func (t tool) check(args map[string]any) string {
	for name := range args {
		if !slices.ContainsFunc(t.params, func(p param) bool { return p.name == name }) {
			return fmt.Sprintf("%s has no argument %q.", t.name, name)
		}
	}
	for _, p := range t.params {
		value, given := args[p.name]
		if !given || value == nil {
			if p.required {
				return fmt.Sprintf("The argument %q is missing: %s", p.name, p.about)
			}
			continue
		}
		fits := false
		switch v := value.(type) {
		case string:
			fits = p.kind == "" && (v != "" || !p.required)
		case bool:
			fits = p.kind == "boolean"
		case float64:
			fits = p.kind == "integer" && v == float64(int64(v))
		case []any:
			fits = p.kind == "strings" && !slices.ContainsFunc(v, func(one any) bool { _, ok := one.(string); return !ok })
		}
		if !fits {
			return fmt.Sprintf("The argument %q is of the wrong type or empty: %s", p.name, p.about)
		}
	}
	return ""
}

// request is the call as a request to the API: a path below its prefix, and a
// body unless the method has none.
func (t tool) request(args map[string]any) (path string, in any) {
	rest, query := map[string]any{}, url.Values{}
	path = t.path
	for _, p := range t.params {
		value := args[p.name]
		if hole := "{" + p.name + "}"; strings.Contains(path, hole) {
			path = strings.ReplaceAll(path, hole, escaped(text(value)))
			continue
		}
		if value == nil {
			continue
		}
		rest[p.name] = value
		if many, ok := value.([]any); ok {
			for _, one := range many {
				query.Add(p.name, text(one))
			}
		} else {
			query.Set(p.name, text(value))
		}
	}
	path = strings.TrimSuffix(path, "/")
	if t.method == http.MethodGet {
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
		return path, nil
	}
	if content, ok := rest["content"].(string); ok {
		rest["content"] = base64.StdEncoding.EncodeToString([]byte(content))
	}
	return path, rest
}

// text is an argument as it stands in an address.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case float64:
		return fmt.Sprintf("%d", int64(v))
	}
	return fmt.Sprint(value)
}

// escaped keeps the slashes of paths and refs. Steps up are no names.
func escaped(s string) string {
	parts := strings.Split(strings.Trim(s, "/"), "/")
	for i, p := range parts {
		if p == "." || p == ".." {
			p = "%2E"
		}
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// call runs a tool for whoever made the request.
func call(c *web.Ctx, t tool, raw json.RawMessage) (*mcp.CallToolResult, error) {
	args := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return refusal("The arguments are no JSON object."), nil
		}
	}
	if wrong := t.check(args); wrong != "" {
		return refusal(wrong), nil
	}
	path, in := t.request(args)
	accept := ""
	if t.text {
		accept = "application/vnd.github.raw+json"
	}
	answer, err := c.Call(t.method, path, in, accept)
	if f := fault.From(err); err != nil && f.Kind != fault.Internal {
		return refusal(f.Message), nil
	}
	if err != nil {
		return nil, err
	}
	return result(t, answer), nil
}

func refusal(words string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: words}}}
}

// maxText bounds what a file may add to an agent's context.
const maxText = 1 << 20

// result is the API's answer for an agent.
func result(t tool, answer *web.Answer) *mcp.CallToolResult {
	body := answer.Body
	if answer.Status >= http.StatusMultipleChoices {
		return refusal(fmt.Sprintf("%d: %s", answer.Status, words(body)))
	}
	if t.text {
		if len(body) > maxText {
			return refusal(fmt.Sprintf("The file has %d bytes, more than the %d that are read at once.", len(body), maxText))
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.ToValidUTF8(string(body), "\uFFFD")}}}
	}
	var doc any
	if len(body) == 0 {
		doc = map[string]any{"done": true}
	} else if err := json.Unmarshal(body, &doc); err != nil {
		return refusal("The answer could not be read.")
	}
	doc = slim(doc)
	out, err := json.Marshal(doc)
	if err != nil {
		return refusal("The answer could not be written.")
	}
	r := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(out)}}}
	if list, ok := doc.([]any); ok {
		doc = map[string]any{"items": list}
	}
	r.StructuredContent = doc
	return r
}

// words are what an error of the API says.
func words(body []byte) string {
	var e struct {
		Message string
		Errors  []struct{ Field, Message string }
	}
	if json.Unmarshal(body, &e) != nil || e.Message == "" {
		return strings.TrimSpace(string(body))
	}
	for _, f := range e.Errors {
		e.Message += "; " + f.Field + ": " + f.Message
	}
	return e.Message
}

// slim leaves out what only links GitHub's documents together: an agent pays
// for each word that it reads.
func slim(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = slim(v[i])
		}
	case map[string]any:
		for key, value := range v {
			switch {
			case key == "node_id", key == "gravatar_id", key == "_links", key == "url", strings.HasSuffix(key, "_url") && key != "html_url" && key != "clone_url":
				delete(v, key)
			default:
				v[key] = slim(value)
			}
		}
	}
	return v
}
