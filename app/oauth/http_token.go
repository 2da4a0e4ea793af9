package oauth

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db"
)

// form reads what a program sent: a form, or a JSON object of texts as
// GitHub takes it too.
func form(c *web.Ctx) (url.Values, error) {
	c.R.Body = http.MaxBytesReader(c.W, c.R.Body, 64<<10)
	if kind, _, _ := mime.ParseMediaType(c.R.Header.Get("Content-Type")); kind == "application/json" {
		var in map[string]any
		if err := json.NewDecoder(c.R.Body).Decode(&in); err != nil {
			return nil, &flowError{"invalid_request", "The body is no JSON object."}
		}
		out := url.Values{}
		for k, v := range in {
			if text, ok := v.(string); ok {
				out.Set(k, text)
			}
		}
		return out, nil
	}
	if err := c.R.ParseForm(); err != nil {
		return nil, &flowError{"invalid_request", "The body cannot be read."}
	}
	return c.R.PostForm, nil // what stands in the address would be logged
}

// client is the app that asks, and whether it proved itself with a secret.
func (s *Service) client(c *web.Ctx, in url.Values) (app *App, proved bool, err error) {
	id, secret := in.Get("client_id"), in.Get("client_secret")
	if user, password, ok := c.R.BasicAuth(); ok {
		if id, err = url.QueryUnescape(user); err != nil {
			id = user
		}
		if secret, err = url.QueryUnescape(password); err != nil {
			secret = password
		}
	}
	app, err = s.Find(c.Context(), id)
	if errors.Is(err, db.ErrNotFound) {
		return nil, false, &flowError{"incorrect_client_credentials", "The client_id or client_secret is wrong."}
	}
	if err != nil {
		return nil, false, err
	}
	proved = app.confidential() && secret != "" && app.proves(secret)
	if app.confidential() && secret != "" && !proved {
		return nil, false, &flowError{"incorrect_client_credentials", "The client_id or client_secret is wrong."}
	}
	return app, proved, nil
}

// say answers a program: as a form, or as JSON where it asks for that.
// GitHub tells errors with the status 200, and programs made for it count on
// that.
func say(c *web.Ctx, out any, err error) error {
	c.W.Header().Set("Cache-Control", "no-store")
	var bad *flowError
	if errors.As(err, &bad) {
		out = map[string]string{"error": bad.Code, "error_description": bad.About, "error_uri": c.URL("/api/v3")}
	} else if err != nil {
		return err
	}
	if c.Wants("json") {
		return c.JSON(http.StatusOK, out)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	q := url.Values{}
	for k, v := range fields {
		switch v := v.(type) {
		case string:
			q.Set(k, v)
		case float64:
			q.Set(k, strconv.FormatInt(int64(v), 10))
		}
	}
	c.W.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	_, err = c.W.Write([]byte(q.Encode()))
	return err
}

func (s *Service) token(c *web.Ctx) error {
	in, err := form(c)
	if err != nil {
		return say(c, nil, err)
	}
	out, err := s.grant(c, in)
	return say(c, out, err)
}

func (s *Service) grant(c *web.Ctx, in url.Values) (*Answer, error) {
	app, proved, err := s.client(c, in)
	if err != nil {
		return nil, err
	}
	kind := in.Get("grant_type")
	if kind == "" && in.Get("code") != "" {
		kind = "authorization_code" // GitHub asks for none here
	}
	if kind != "urn:ietf:params:oauth:grant-type:device_code" && app.confidential() && !proved {
		return nil, &flowError{"incorrect_client_credentials", "The client_secret is missing."}
	}
	switch kind {
	case "authorization_code":
		return s.exchange(c.Context(), app, in.Get("code"), in.Get("redirect_uri"), in.Get("code_verifier"), proved)
	case "refresh_token":
		var narrow []string
		if in.Get("scope") != "" {
			narrow = scopesOf(in.Get("scope"))
		}
		return s.refresh(c.Context(), app, in.Get("refresh_token"), narrow)
	case "urn:ietf:params:oauth:grant-type:device_code":
		if !app.Device {
			return nil, &flowError{"device_flow_disabled", "The app does not use device codes."}
		}
		return s.poll(c.Context(), app, in.Get("device_code"))
	}
	return nil, &flowError{"unsupported_grant_type", "The grant_type is authorization_code, refresh_token or that of device codes."}
}

// deviceAnswer is what a device gets (RFC 8628, 3.2).
type deviceAnswer struct {
	DeviceCode string `json:"device_code"`
	UserCode   string `json:"user_code"`
	URL        string `json:"verification_uri"`
	Complete   string `json:"verification_uri_complete"`
	Expires    int    `json:"expires_in"`
	Interval   int    `json:"interval"`
}

func (s *Service) deviceCode(c *web.Ctx) error {
	in, err := form(c)
	if err != nil {
		return say(c, nil, err)
	}
	if err := s.tries.Take("device " + c.Remote); err != nil {
		return err
	}
	app, _, err := s.client(c, in)
	if err == nil && !app.Device {
		err = &flowError{"device_flow_disabled", "The app does not use device codes."}
	}
	if err != nil {
		return say(c, nil, err)
	}
	deviceCode, user, err := s.newDevice(c.Context(), app, scopesOf(in.Get("scope")), c.Remote)
	if err != nil {
		return err
	}
	at := c.URL("/login/device")
	return say(c, deviceAnswer{DeviceCode: deviceCode, UserCode: user, URL: at, Complete: at + "?user_code=" + user,
		Expires: int(deviceTime / time.Second), Interval: int(pollEvery / time.Second)}, nil)
}

func (s *Service) revokeToken(c *web.Ctx) error {
	in, err := form(c)
	if err != nil {
		return say(c, nil, err)
	}
	app, proved, err := s.client(c, in)
	if err == nil && app.confidential() && !proved {
		err = &flowError{"incorrect_client_credentials", "The client_secret is missing."}
	}
	if err == nil {
		err = s.RevokeToken(c.Context(), app, in.Get("token"))
	}
	return say(c, struct{}{}, err)
}

// metadata describes the server to programs (RFC 8414).
func (s *Service) metadata(c *web.Ctx) error {
	return c.JSON(http.StatusOK, map[string]any{
		"issuer":                                         c.Kit().Config().URL,
		"authorization_endpoint":                         c.URL("/login/oauth/authorize"),
		"token_endpoint":                                 c.URL("/login/oauth/access_token"),
		"device_authorization_endpoint":                  c.URL("/login/device/code"),
		"revocation_endpoint":                            c.URL("/login/oauth/revoke"),
		"response_types_supported":                       []string{"code"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_post", "client_secret_basic"},
		"authorization_response_iss_parameter_supported": true,
		"service_documentation":                          strings.TrimSuffix(c.URL("/api/v3"), "/"),
	})
}
