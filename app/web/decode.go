package web

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/go-playground/form/v4"
)

const (
	maxForm = 25 << 20
	maxJSON = 10 << 20
)

// Decode reads the request's body into dst, a pointer to an operation's
// input: a form by its form tags, a JSON document by its json tags. An empty
// body leaves dst as it is.
func (c *Ctx) Decode(dst any) error {
	kind, _, _ := mime.ParseMediaType(c.R.Header.Get("Content-Type"))
	if c.Door == PageDoor && kind != "application/json" {
		return c.decodeForm(kind, dst)
	}
	return c.decodeJSON(dst)
}

func (c *Ctx) decodeForm(kind string, dst any) error {
	var err error
	if kind == "multipart/form-data" {
		c.R.Body = http.MaxBytesReader(c.W, c.R.Body, maxForm)
		err = c.R.ParseMultipartForm(1 << 20)
	} else if c.R.PostForm == nil {
		err = c.R.ParseForm()
	}
	if err != nil {
		return unreadable(err)
	}
	dec := form.NewDecoder()
	dec.SetMode(form.ModeExplicit)
	if err := dec.Decode(dst, c.R.PostForm); err != nil {
		var fields form.DecodeErrors
		if errors.As(err, &fields) {
			out := fault.Fields{}
			for name := range fields {
				out.Add(name, "This cannot be read.")
			}
			return out.Err()
		}
		return err
	}
	return nil
}

func (c *Ctx) decodeJSON(dst any) error {
	c.R.Body = http.MaxBytesReader(c.W, c.R.Body, maxJSON)
	dec := json.NewDecoder(c.R.Body)
	err := dec.Decode(dst)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fault.Field(wrong.Field, "Should be a "+wrong.Type.String()+", not a "+wrong.Value+".")
	}
	return unreadable(err)
}

func unreadable(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	if strings.Contains(err.Error(), "unexpected EOF") || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Wrap(fault.BadRequest, "The request ended before it was complete.", err)
	}
	return fault.Wrap(fault.BadRequest, "Problems parsing JSON", err)
}
