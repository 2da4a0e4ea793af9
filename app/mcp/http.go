package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gitfor/gitfor/app/web"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Service answers agents.
type Service struct {
	// Version is gitfor's own.
	Version string
	Log     *slog.Logger

	serve http.Handler
}

// Routes mounts the address, for those with a token, and what tells where to
// get one.
func (s *Service) Routes(r *web.Router, anyone, signedIn web.Access) {
	server := s.newServer()
	s.serve = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, Logger: s.Log,
		// The host is the proxy's business, and every call needs a token.
		DisableLocalhostProtection: true})
	agents, raw := r.Agents(), r.Raw()
	agents.Post(web.AgentPath, signedIn, s.answer)
	agents.Get(web.AgentPath, signedIn, s.answer)
	raw.Get(web.AgentMetadata, anyone, s.resource)
	raw.Get(web.AgentMetadata+web.AgentPath, anyone, s.resource)
}

// callerKey is where the context of a call has the request that it came with.
type callerKey struct{}

func (s *Service) answer(c *web.Ctx) error {
	s.serve.ServeHTTP(c.W, c.R.WithContext(context.WithValue(c.Context(), callerKey{}, c)))
	return nil
}

// resource tells clients who gives out tokens (RFC 9728).
func (s *Service) resource(c *web.Ctx) error {
	return c.JSON(http.StatusOK, map[string]any{
		"resource": c.URL(web.AgentPath), "authorization_servers": []string{c.Kit().Config().URL},
		"bearer_methods_supported": []string{"header"}, "resource_name": "gitfor",
		"scopes_supported": []string{"repo", "notifications", "read:user"},
	})
}

// newServer is the protocol's side.
func (s *Service) newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "gitfor", Title: "gitfor", Version: s.Version}, &mcp.ServerOptions{
		Instructions: "A git forge: repositories, files, issues and pull requests. Follow what happens with list_events: call it with the id of the last event that you saw as after and wait 25.",
	})
	for _, t := range tools() {
		reads := t.method == http.MethodGet
		server.AddTool(&mcp.Tool{Name: t.name, Description: t.about, InputSchema: t.schema(),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, IdempotentHint: reads || t.method == http.MethodPut, DestructiveHint: &t.destroys, OpenWorldHint: new(bool)},
		}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			c, ok := ctx.Value(callerKey{}).(*web.Ctx)
			if !ok {
				return nil, errors.New("a call without a request")
			}
			return call(c, t, req.Params.Arguments)
		})
	}
	return server
}
