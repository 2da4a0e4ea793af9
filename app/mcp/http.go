package mcp

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/gitfor/gitfor/app/web"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where agents connect.
const Path = "/mcp"

const resourcePath = "/.well-known/oauth-protected-resource"

// Service answers agents.
type Service struct {
	// Version is gitfor's own.
	Version string
	Log     *slog.Logger

	api    http.Handler
	serve  http.Handler
	tools  []tool
	schema []map[string]any
}

// Routes mounts the address; what tools do is asked of the same table of
// routes.
func (s *Service) Routes(r *web.Router, anyone web.Access) {
	s.api = r.Handler()
	s.tools = tools()
	for _, t := range s.tools {
		s.schema = append(s.schema, t.schema())
	}
	s.serve = mcp.NewStreamableHTTPHandler(s.server, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, Logger: s.Log,
		// The host is the proxy's business, and every call needs a token.
		DisableLocalhostProtection: true})
	raw := r.Raw()
	raw.Post(Path, anyone, s.answer)
	raw.Get(Path, anyone, s.answer)
	raw.Get(resourcePath, anyone, s.resource)
	raw.Get(resourcePath+Path, anyone, s.resource)
}

// answer lets in those with a token; a session's cookie is not enough, as a
// page of another site could bring it along.
func (s *Service) answer(c *web.Ctx) error {
	if !c.Viewer.SignedIn() || c.R.Header.Get("Authorization") == "" {
		c.W.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+c.URL(resourcePath)+`"`)
		c.W.WriteHeader(http.StatusUnauthorized)
		return c.Text("Send an access token: Authorization: Bearer g1t_…\n")
	}
	s.serve.ServeHTTP(c.W, c.R)
	return nil
}

// resource tells clients who gives out tokens (RFC 9728).
func (s *Service) resource(c *web.Ctx) error {
	return c.JSON(http.StatusOK, map[string]any{
		"resource": c.URL(Path), "authorization_servers": []string{c.Kit().Config().URL},
		"bearer_methods_supported": []string{"header"}, "resource_name": "gitfor",
		"scopes_supported": []string{"repo", "notifications", "read:user"},
	})
}

// server is the protocol's side of one request.
func (s *Service) server(from *http.Request) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "gitfor", Title: "gitfor", Version: s.Version}, &mcp.ServerOptions{
		Instructions: "A git forge: repositories, files, issues and pull requests. Follow what happens with list_events: call it with the id of the last event that you saw as after and wait 25.",
	})
	for i, t := range s.tools {
		reads := t.method == http.MethodGet
		server.AddTool(&mcp.Tool{Name: t.name, Description: t.about, InputSchema: s.schema[i],
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, IdempotentHint: reads || t.method == http.MethodPut, DestructiveHint: &t.destroys, OpenWorldHint: new(bool)},
		}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return s.call(ctx, from, t, req.Params.Arguments)
		})
	}
	return server
}
