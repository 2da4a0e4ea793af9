// Package web is the HTTP kit: one route table, one way to read a request,
// render a page or its fragment, answer JSON, and turn an error into an
// answer. It knows no noun of the forge.
package web

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// Door is the kind of client that a route serves; errors are shown in its
// form.
type Door int

// The doors.
const (
	PageDoor  Door = iota // browsers: HTML
	APIDoor               // API clients: GitHub's JSON
	GitDoor               // git and LFS clients: text
	RawDoor               // assets and machine endpoints: text
	AgentDoor             // programs that speak MCP: text, and where to get a token
)

// String names the door in the route listing.
func (d Door) String() string { return [...]string{"page", "api", "git", "raw", "agent"}[d] }

// Access says who may use a route. Allow loads what the route is about into
// the context and returns a fault for those who may not.
type Access struct {
	Name  string
	Allow func(c *Ctx) error
}

// Handler answers a request or returns what went wrong.
type Handler func(c *Ctx) error

// Route is one row of the route table.
type Route struct {
	Method, Pattern string
	Door            Door
	Access          string
	Doc             *Doc
}

// Doc describes an API operation for the OpenAPI document. In and Out are
// values of the body types, nil where there is none.
type Doc struct {
	ID, Summary string
	In, Out     any
	Status      int
	Query       []string
}

// Router registers routes. Patterns are chi's.
type Router struct {
	kit    *Kit
	mux    chi.Router
	door   Door
	prefix string
}

// APIPrefix is where the API lives.
const APIPrefix = "/api/v3"

// API is the router for API operations: the same table below /api/v3.
func (r *Router) API() *Router { return &Router{r.kit, r.mux, APIDoor, APIPrefix} }

// AgentPath is where agents speak MCP, and AgentMetadata where they learn who
// hands out tokens for it (RFC 9728).
const (
	AgentPath     = "/mcp"
	AgentMetadata = "/.well-known/oauth-protected-resource"
)

// UploadsPrefix is where files are sent to the API, as on GitHub's own servers.
const UploadsPrefix = "/api/uploads"

// Uploads is the router for API operations that take files.
func (r *Router) Uploads() *Router { return &Router{r.kit, r.mux, APIDoor, UploadsPrefix} }

// Git is the router for what git clients call.
func (r *Router) Git() *Router { return &Router{r.kit, r.mux, GitDoor, ""} }

// Raw is the router for assets and machine endpoints.
func (r *Router) Raw() *Router { return &Router{r.kit, r.mux, RawDoor, ""} }

// Agents is the router for what speaks the Model Context Protocol.
func (r *Router) Agents() *Router { return &Router{r.kit, r.mux, AgentDoor, ""} }

// Get registers a GET route, which answers HEAD too.
func (r *Router) Get(pattern string, access Access, h Handler, doc ...*Doc) {
	r.add(http.MethodGet, pattern, access, h, doc)
	r.mux.Method(http.MethodHead, r.prefix+pattern, r.kit.serve(r.door, access, h))
}

// Post registers a POST route.
func (r *Router) Post(pattern string, access Access, h Handler, doc ...*Doc) {
	r.add(http.MethodPost, pattern, access, h, doc)
}

// Put registers a PUT route.
func (r *Router) Put(pattern string, access Access, h Handler, doc ...*Doc) {
	r.add(http.MethodPut, pattern, access, h, doc)
}

// Patch registers a PATCH route.
func (r *Router) Patch(pattern string, access Access, h Handler, doc ...*Doc) {
	r.add(http.MethodPatch, pattern, access, h, doc)
}

// Delete registers a DELETE route.
func (r *Router) Delete(pattern string, access Access, h Handler, doc ...*Doc) {
	r.add(http.MethodDelete, pattern, access, h, doc)
}

func (r *Router) add(method, pattern string, access Access, h Handler, doc []*Doc) {
	if access.Name == "" || access.Allow == nil {
		panic("web: route " + method + " " + pattern + " without access")
	}
	route := Route{Method: method, Pattern: r.prefix + pattern, Door: r.door, Access: access.Name}
	if len(doc) > 0 {
		route.Doc = doc[0]
	}
	r.kit.routes = append(r.kit.routes, route)
	r.mux.Method(method, r.prefix+pattern, r.kit.serve(r.door, access, h))
}

// Routes is the route table in order of registration.
func (k *Kit) Routes() []Route { return k.routes }

// doorOf guesses the door of a path that no route matches.
func doorOf(r *http.Request) Door {
	p := r.URL.Path
	switch {
	case strings.HasPrefix(p, "/api/"):
		return APIDoor
	case strings.HasSuffix(p, "/info/refs"), strings.HasSuffix(p, "/git-upload-pack"),
		strings.HasSuffix(p, "/git-receive-pack"), strings.Contains(p, "/info/lfs"):
		return GitDoor
	case strings.HasPrefix(p, "/-/"), p == "/healthz", p == "/readyz", p == "/metrics":
		return RawDoor
	case p == AgentPath:
		return AgentDoor
	}
	return PageDoor
}
