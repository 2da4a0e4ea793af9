package app_test

import (
	"net/http"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
)

// TestRest forgets what is only kept to be fast, and all works as before.
func TestRest(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ann := s.User(t, "ann")
	ann.API(http.MethodPost, "/user/repos", map[string]any{"name": "box", "auto_init": true}).Want(http.StatusCreated)
	ann.Get("/ann/box/blob/main/README.md").OK()
	s.App.Rest()
	ann.Get("/ann/box/blob/main/README.md").OK()
	ann.API(http.MethodPut, "/repos/ann/box/contents/a.txt", map[string]any{"message": "m", "content": "YQo="}).Want(http.StatusCreated)
}
