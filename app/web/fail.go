package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/views/link"
)

// lfsType is the media type of git-lfs
// (https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md#response-errors).
const lfsType = "application/vnd.git-lfs+json"

// apiError is GitHub's error document
// (https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api).
type apiError struct {
	Message string     `json:"message"`
	Errors  []apiField `json:"errors,omitempty"`
	DocURL  string     `json:"documentation_url"`
	Status  string     `json:"status"`
}

type apiField struct {
	Resource string `json:"resource"`
	Field    string `json:"field"`
	Code     string `json:"code"`
	Message  string `json:"message"`
}

// fail turns an error into the answer of the request's door. It is the only
// place that does.
func (c *Ctx) fail(err error) {
	f := fault.From(err)
	if f.Kind == fault.Internal && c.R.Context().Err() == nil {
		c.kit.log.ErrorContext(c.Context(), "request failed", "id", c.RequestID,
			"method", c.R.Method, "path", c.R.URL.Path, "err", err)
	}
	h := c.W.Header()
	for _, name := range []string{"ETag", "Cache-Control", "Content-Length", "Content-Encoding", "Server-Timing"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	switch c.Door {
	case APIDoor:
		c.failAPI(f)
	case GitDoor, RawDoor:
		c.failText(f)
	case AgentDoor:
		c.failAgent(f)
	default:
		c.failPage(f)
	}
}

func (c *Ctx) failAPI(f *fault.Fault) {
	status := f.Kind.Status()
	doc := apiError{Message: f.Message, DocURL: c.URL("/api/v3/openapi.json"), Status: strconv.Itoa(status)}
	switch {
	case f.Kind == fault.NotFound:
		doc.Message = "Not Found"
	case f.Kind == fault.Invalid && len(f.Fields) > 0:
		doc.Message = "Validation Failed"
	}
	for name, message := range f.Fields {
		doc.Errors = append(doc.Errors, apiField{Resource: f.Resource, Field: name, Code: "invalid", Message: message})
	}
	if err := c.JSON(status, doc); err != nil {
		c.kit.log.DebugContext(c.Context(), "answer not sent", "err", err)
	}
}

// failText answers git: its client shows a text body as remote: lines.
func (c *Ctx) failText(f *fault.Fault) {
	if f.Kind == fault.Unauthorized && c.Door != AgentDoor {
		c.W.Header().Set("WWW-Authenticate", `Basic realm="gitfor", charset="UTF-8"`)
	}
	message := f.Message
	for _, m := range f.Fields {
		message += " " + m
	}
	if f.Kind == fault.Internal {
		message += " Request " + c.RequestID + "."
	}
	if c.Wants(lfsType) {
		// LFS clients show a message in their own form only.
		c.W.Header().Set("Content-Type", lfsType)
		_ = c.JSON(f.Kind.Status(), map[string]string{"message": message, "request_id": c.RequestID})
		return
	}
	c.W.Header().Set("Content-Type", "text/plain; charset=utf-8")
	c.W.WriteHeader(f.Kind.Status())
	_, _ = c.W.Write([]byte(message + "\n"))
}

// failAgent tells an agent without a good token where it gets one (RFC 9728,
// 5.1).
func (c *Ctx) failAgent(f *fault.Fault) {
	if f.Kind == fault.Unauthorized {
		where := `Bearer resource_metadata="` + c.URL(AgentMetadata+AgentPath) + `"`
		if c.R.Header.Get("Authorization") != "" {
			where += `, error="invalid_token"`
		}
		c.W.Header().Set("WWW-Authenticate", where)
	}
	c.failText(f)
}

func (c *Ctx) failPage(f *fault.Fault) {
	if f.Kind == fault.Unauthorized && !c.Viewer.SignedIn() {
		to := link.Login("")
		if c.R.Method == http.MethodGet {
			to = link.Login(c.R.URL.RequestURI())
		}
		_ = c.Redirect(to)
		return
	}
	if err := c.errorPage(f); err != nil && !errors.Is(err, c.Context().Err()) {
		c.kit.log.ErrorContext(c.Context(), "error page failed", "id", c.RequestID, "err", err)
	}
}
