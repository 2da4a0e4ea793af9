package api

import (
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gitfor/gitfor/app/web"
	"github.com/google/jsonschema-go/jsonschema"
)

// Meta serves what the API tells of itself.
type Meta struct {
	routes func() []web.Route
	once   sync.Once
	doc    map[string]any
}

// NewMeta makes it over the route table.
func NewMeta(routes func() []web.Route) *Meta { return &Meta{routes: routes} }

// Routes mounts the description and the limits.
func (m *Meta) Routes(r *web.Router, anyone web.Access) {
	a := r.API()
	a.Get("/openapi.json", anyone, m.openAPI, &web.Doc{ID: "meta/openapi", Summary: "This description"})
	a.Get("/rate_limit", anyone, m.rateLimit, &web.Doc{ID: "rate-limit/get", Summary: "Get rate limit status"})
	a.Get("/meta", anyone, m.meta, &web.Doc{ID: "meta/get", Summary: "Get meta information"})
	a.Get("", anyone, m.root, &web.Doc{ID: "meta/root", Summary: "API root"})
	a.Get("/zen", anyone, func(c *web.Ctx) error { return c.Text("Cost follows what is active.") })
}

func (m *Meta) openAPI(c *web.Ctx) error {
	m.once.Do(func() { m.doc = describe(m.routes(), c.Kit().Config()) })
	return c.JSON(http.StatusOK, m.doc)
}

func (m *Meta) rateLimit(c *web.Ctx) error {
	resources := map[string]any{}
	for kind := range web.Costs() {
		u := c.UsageOf(kind)
		resources[kind] = map[string]any{"limit": u.Limit, "used": u.Used, "remaining": u.Remaining, "reset": u.Reset.Unix(), "resource": kind}
	}
	return c.JSON(http.StatusOK, map[string]any{"resources": resources, "rate": resources[web.CostCore]})
}

func (m *Meta) meta(c *web.Ctx) error {
	return c.JSON(http.StatusOK, map[string]any{"verifiable_password_authentication": false,
		"installed_version": c.Kit().Config().Version})
}

func (m *Meta) root(c *web.Ctx) error {
	base := c.URL(web.APIPrefix)
	return c.JSON(http.StatusOK, map[string]string{
		"current_user_url":      base + "/user",
		"repository_url":        base + "/repos/{owner}/{repo}",
		"user_url":              base + "/users/{user}",
		"rate_limit_url":        base + "/rate_limit",
		"issues_url":            base + "/issues",
		"emojis_url":            base + "/emojis",
		"organization_url":      base + "/orgs/{org}",
		"repository_search_url": base + "/search/repositories?q={query}{&page,per_page,sort,order}",
	})
}

var parameter = regexp.MustCompile(`\{([^}]+)\}`)

// describe is the OpenAPI 3.1 document of the API's routes
// (https://spec.openapis.org/oas/v3.1.1.html).
func describe(routes []web.Route, cfg web.Config) map[string]any {
	paths := map[string]map[string]any{}
	for _, r := range routes {
		if r.Door != web.APIDoor {
			continue
		}
		path := strings.ReplaceAll(strings.TrimPrefix(r.Pattern, web.APIPrefix), "*", "{path}")
		if path == "" {
			path = "/"
		}
		if paths[path] == nil {
			paths[path] = map[string]any{}
		}
		paths[path][strings.ToLower(r.Method)] = operation(r, path)
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "gitfor", "version": cfg.Version, "description": "The REST API of gitfor, in the shape of GitHub's."},
		"servers": []any{map[string]any{"url": cfg.URL + web.APIPrefix}},
		"paths":   paths,
		"components": map[string]any{"securitySchemes": map[string]any{
			"token": map[string]any{"type": "http", "scheme": "bearer"},
		}},
		"security": []any{map[string]any{}, map[string]any{"token": []string{}}},
	}
}

func operation(r web.Route, path string) map[string]any {
	op := map[string]any{"x-access": r.Access}
	var params []any
	for _, m := range parameter.FindAllStringSubmatch(path, -1) {
		params = append(params, map[string]any{"name": m[1], "in": "path", "required": true, "schema": map[string]any{"type": "string"}})
	}
	status, ok := http.StatusOK, map[string]any{"description": "Done"}
	if d := r.Doc; d != nil {
		op["operationId"], op["summary"] = d.ID, d.Summary
		if tag, _, found := strings.Cut(d.ID, "/"); found {
			op["tags"] = []string{tag}
		}
		if d.Status != 0 {
			status = d.Status
		}
		for _, q := range d.Query {
			params = append(params, map[string]any{"name": q, "in": "query", "schema": map[string]any{"type": "string"}})
		}
		if s := schemaOf(d.In); s != nil {
			op["requestBody"] = map[string]any{"content": map[string]any{"application/json": map[string]any{"schema": s}}}
		}
		if s := schemaOf(d.Out); s != nil {
			ok["content"] = map[string]any{"application/json": map[string]any{"schema": s}}
		}
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	op["responses"] = map[string]any{strconv.Itoa(status): ok, "default": map[string]any{"description": "What went wrong, as {message, errors, documentation_url}"}}
	return op
}

// schemaOf is the JSON Schema of a body's type, nil where there is none or
// the type cannot be described.
func schemaOf(v any) *jsonschema.Schema {
	if v == nil {
		return nil
	}
	s, err := jsonschema.ForType(reflect.TypeOf(v), &jsonschema.ForOptions{IgnoreInvalidTypes: true})
	if err != nil {
		return nil
	}
	return s
}
