package mcp_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

type session struct {
	*testing.T
	*mcp.ClientSession
}

func connect(t *testing.T, s *apptest.Server, token string) *session {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	c, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL + "/mcp",
		HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &session{t, c}
}

// call runs a tool and returns its text and whether it was refused.
func (s *session) call(name string, args map[string]any) (string, bool) {
	s.Helper()
	res, err := s.CallTool(s.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		s.Fatal(name, err)
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		s.Fatalf("%s answered %T", name, res.Content[0])
	}
	return text.Text, res.IsError
}

func (s *session) ok(name string, args map[string]any, want string) {
	s.Helper()
	if text, refused := s.call(name, args); refused || !strings.Contains(text, want) {
		s.Errorf("%s %v: %s", name, args, text)
	}
}

func (s *session) refused(name string, args map[string]any, want string) {
	s.Helper()
	if text, refused := s.call(name, args); !refused || !strings.Contains(text, want) {
		s.Errorf("%s %v: %s", name, args, text)
	}
}

// An agent does a day's work by tools alone.
func TestTools(t *testing.T) {
	t.Parallel()
	s := apptest.NewWorking(t)
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	agent := connect(t, s, ann.Token)
	list, err := agent.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) < 25 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	at := func(more ...any) map[string]any {
		args := map[string]any{"owner": "ann", "repo": "box"}
		for i := 0; i < len(more); i += 2 {
			args[more[i].(string)] = more[i+1]
		}
		return args
	}
	agent.ok("get_me", nil, `"login":"ann"`)
	agent.ok("create_repository", map[string]any{"name": "box", "private": true, "auto_init": true}, `"full_name":"ann/box"`)
	agent.ok("write_file", at("path", "a dir/größe.txt", "message", "add", "content", "eins\n"), `"path":"a dir/größe.txt"`)
	agent.ok("read_file", at("path", "a dir/größe.txt"), "eins\n")
	agent.ok("list_files", at(), "README.md")
	agent.ok("list_commits", at("path", "README.md"), `"sha"`)
	agent.ok("create_issue", at("title", "Jam", "labels", []string{"bug"}), `"number":1`)
	agent.ok("add_comment", at("number", 1, "body", "seen"), `"body":"seen"`)
	agent.ok("update_issue", at("number", 1, "state", "closed"), `"state":"closed"`)
	agent.ok("search_issues", map[string]any{"q": "repo:ann/box jam"}, `"total_count":1`)
	text, refused := agent.call("list_events", at("type", []string{"issue.opened"}))
	if refused || !strings.Contains(text, `"issue.opened"`) || strings.Contains(text, "git.push") {
		t.Errorf("events: %s", text)
	}
	text, _ = agent.call("get_repository", at())
	if strings.Contains(text, "keys_url") || !strings.Contains(text, "clone_url") {
		t.Errorf("not slim: %s", text)
	}
	// What is wrong is said in words.
	agent.refused("create_issue", at(), `"title" is missing`)
	agent.refused("create_issue", at("title", strings.Repeat("x", 300)), "256")
	agent.refused("get_issue", at("number", "one"), `"number" is of the wrong type`)
	agent.refused("get_issue", at("number", 1, "colour", "red"), `no argument "colour"`)
	agent.refused("get_issue", at("number", 99), "404")
	agent.refused("read_file", at("path", "../../../user"), "404")

	// A repository is found under the name that it had, and an answer is bounded.
	ann.API(http.MethodPut, "/repos/ann/box/contents/big.txt", map[string]any{"message": "add", "content": bytes.Repeat([]byte("x"), 5<<20)}).Want(http.StatusCreated)
	agent.refused("read_file", at("path", "big.txt"), "larger than 4 MB")
	ann.API(http.MethodPatch, "/repos/ann/box", map[string]any{"name": "crate"}).OK()
	agent.ok("get_issue", at("number", 1), `"title":"Jam"`)

	// The same permissions as everywhere.
	other := connect(t, s, bob.Token)
	other.refused("get_repository", at(), "404: Not Found")
	other.refused("create_issue", at("title", "x"), "404")
}

// Who has no token learns where to get one.
func TestSignIn(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	res := s.Anon().Do(http.MethodPost, "/mcp", strings.NewReader("{}"), "Content-Type", "application/json")
	res.Want(http.StatusUnauthorized)
	if to := res.Header.Get("WWW-Authenticate"); !strings.Contains(to, `resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource/mcp"`) {
		t.Errorf("challenge %q", to)
	}
	res = s.Anon().Do(http.MethodPost, "/mcp", strings.NewReader("{}"), "Content-Type", "application/json", "Authorization", "Bearer g1t_pat_wrong")
	if to := res.Want(http.StatusUnauthorized).Header.Get("WWW-Authenticate"); !strings.HasPrefix(to, "Bearer ") || !strings.Contains(to, `error="invalid_token"`) {
		t.Errorf("challenge to a wrong token %q", to)
	}
	s.Anon().Get("/.well-known/oauth-protected-resource/mcp").OK().Has(`"authorization_servers":["` + s.URL + `"]`)
	// A cookie alone is what another site's page could bring.
	ann.Do(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), "Content-Type", "application/json",
		"Accept", "application/json, text/event-stream").Want(http.StatusUnauthorized)
}
