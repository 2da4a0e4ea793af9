package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// call is one g1t api.
type call struct {
	method, input   string
	raw, typed      []string
	headers         []string
	include, silent bool
	paginate        bool
}

func (t *tool) apiCommand() *cobra.Command {
	a := &call{}
	c := &cobra.Command{Use: "api PATH", Short: "Call the API", Args: cobra.ExactArgs(1),
		Long: `Call the API, signed in, and print the answer.

{owner} and {repo} in PATH stand for the repository of the clone you are in, or
of --repo. Fields make the call a POST unless --method says otherwise; with GET
they are parameters. All calls are described at <server>/api/v3/openapi.json.`,
		Example: "  g1t api user\n  g1t api repos/{owner}/{repo}/labels --paginate\n  g1t api repos/ann/box/issues -f title=Hello -f 'labels[]=bug'\n" +
			"  g1t api -X PATCH repos/ann/box -F archived=true",
		RunE: func(cmd *cobra.Command, args []string) error { return t.call(cmd, a, args[0]) }}
	f := c.Flags()
	f.StringVarP(&a.method, "method", "X", "", "GET, POST, PATCH, PUT or DELETE")
	f.StringArrayVarP(&a.raw, "field", "f", nil, "a text field, `NAME=VALUE`; NAME[]=VALUE adds to a list")
	f.StringArrayVarP(&a.typed, "typed-field", "F", nil, "a field whose `NAME=VALUE` may be a number, true, false, null, or @FILE")
	f.StringArrayVarP(&a.headers, "header", "H", nil, "a header, `NAME: VALUE`")
	f.StringVar(&a.input, "input", "", "a `FILE` with the body, - for standard input")
	f.BoolVarP(&a.include, "include", "i", false, "print status and headers too")
	f.BoolVar(&a.silent, "silent", false, "print nothing of the answer")
	f.BoolVar(&a.paginate, "paginate", false, "read all pages of a list, as one list")
	t.repoFlags(c)
	return c
}

func (t *tool) call(cmd *cobra.Command, a *call, path string) error {
	c, err := t.client()
	if err != nil {
		return err
	}
	if strings.Contains(path, "{owner}") || strings.Contains(path, "{repo}") {
		full, err := t.repo(c)
		if err != nil {
			return err
		}
		owner, name, _ := strings.Cut(full, "/")
		path = strings.NewReplacer("{owner}", url.PathEscape(owner), "{repo}", url.PathEscape(name)).Replace(path)
	}
	fields, err := t.fields(a)
	if err != nil {
		return err
	}
	method := strings.ToUpper(a.method)
	if method == "" {
		method = http.MethodGet
		if len(fields) > 0 || a.input != "" {
			method = http.MethodPost
		}
	}
	var body []byte
	switch {
	case a.input != "":
		if body, err = t.file(a.input); err != nil {
			return err
		}
	case len(fields) > 0 && method == http.MethodGet:
		path = withQuery(path, fields)
	case len(fields) > 0:
		if body, err = json.Marshal(fields); err != nil {
			return err
		}
	}
	if a.paginate && method != http.MethodGet {
		return usagef("--paginate is for GET")
	}
	return t.pages(cmd, c, a, method, path, body)
}

// pages calls the API and, where asked for, goes on to the last page: lists
// become one list.
func (t *tool) pages(cmd *cobra.Command, c *client, a *call, method, path string, body []byte) error {
	headers := map[string]string{}
	for _, h := range a.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return usagef("%q is no header such as \"Accept: text/plain\"", h)
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	var all []json.RawMessage
	for at := path; at != ""; {
		var in io.Reader
		if body != nil {
			in = bytes.NewReader(body)
		}
		res, err := c.send(cmd.Context(), method, at, in, headers)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			return err
		}
		if a.include {
			t.printf("%s %s\n", res.Proto, res.Status)
			for _, name := range slices.Sorted(mapKeys(res.Header)) {
				t.printf("%s: %s\n", name, clean(strings.Join(res.Header[name], ", ")))
			}
			t.printf("\n")
		}
		if res.StatusCode >= 300 {
			t.body(a, res, b)
			return refusal(res.StatusCode, b)
		}
		at = ""
		var page []json.RawMessage
		if a.paginate && json.Unmarshal(b, &page) == nil {
			all = append(all, page...)
			if at = next(res.Header); at != "" {
				continue
			}
			b = joined(all)
			if len(all) == 0 {
				b = []byte("[]")
			}
		}
		t.body(a, res, b)
	}
	return nil
}

func mapKeys(h http.Header) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range h {
			if !yield(k) {
				return
			}
		}
	}
}

func (t *tool) body(a *call, res *http.Response, b []byte) {
	if a.silent || len(b) == 0 {
		return
	}
	if t.tty && strings.Contains(res.Header.Get("Content-Type"), "json") {
		var pretty bytes.Buffer
		if json.Indent(&pretty, b, "", "  ") == nil {
			b = pretty.Bytes()
		}
		b = []byte(clean(string(b)))
	}
	_, _ = t.out.Write(b)
	if b[len(b)-1] != '\n' && t.tty {
		t.printf("\n")
	}
}

func (t *tool) file(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(t.in)
	}
	return os.ReadFile(name)
}

func (t *tool) fields(a *call) (map[string]any, error) {
	out := map[string]any{}
	for _, list := range []struct {
		fields []string
		typed  bool
	}{{a.raw, false}, {a.typed, true}} {
		for _, field := range list.fields {
			name, text, ok := strings.Cut(field, "=")
			if !ok || name == "" {
				return nil, usagef("%q is no field such as title=Hello", field)
			}
			var value any = text
			if list.typed {
				var err error
				if value, err = t.typed(text); err != nil {
					return nil, err
				}
			}
			if base, isList := strings.CutSuffix(name, "[]"); isList {
				have, _ := out[base].([]any)
				out[base] = append(have, value)
				continue
			}
			out[name] = value
		}
	}
	return out, nil
}

func (t *tool) typed(text string) (any, error) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		b, err := t.file(name)
		return string(b), err
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&v) == nil && !dec.More() {
		switch v.(type) {
		case json.Number, bool, nil:
			return v, nil
		}
	}
	return text, nil
}

func withQuery(path string, fields map[string]any) string {
	q := url.Values{}
	for name, v := range fields {
		if list, ok := v.([]any); ok {
			for _, item := range list {
				q.Add(name, fmt.Sprint(item))
			}
			continue
		}
		q.Set(name, fmt.Sprint(v))
	}
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	return path + sep + q.Encode()
}
