package drafts_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestDrafts(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ada, bob := s.User(t, "ada"), s.User(t, "bob")
	const key = "/ada/engine/issues/1/reply"
	at := "/-/drafts?key=" + key
	ada.Get(at).Want(http.StatusNoContent)
	ada.JSON("/-/drafts", map[string]any{"key": key, "values": map[string]string{"body": "half a"}}).Want(http.StatusNoContent)
	ada.JSON("/-/drafts", map[string]any{"key": key, "values": map[string]string{"body": "half a thought"}}).Want(http.StatusNoContent)
	got := ada.Get(at).OK().JSON()
	if values, _ := got["values"].(map[string]any); values["body"] != "half a thought" || got["at"].(float64) < 1e12 {
		t.Errorf("kept %v", got)
	}
	bob.Get(at).Want(http.StatusNoContent)
	s.Anon().Get(at).Want(http.StatusSeeOther)
	ada.JSON("/-/drafts", map[string]any{"key": key, "values": map[string]string{"body": " \n"}}).Want(http.StatusNoContent)
	ada.Get(at).Want(http.StatusNoContent)
	ada.JSON("/-/drafts", map[string]any{"key": "", "values": map[string]string{"body": "x"}}).Want(http.StatusUnprocessableEntity)
	ada.JSON("/-/drafts", map[string]any{"key": key, "values": map[string]string{"body": strings.Repeat("x", 700_000)}}).Want(http.StatusRequestEntityTooLarge)
	for n := range 205 {
		ada.JSON("/-/drafts", map[string]any{"key": fmt.Sprint("k", n), "values": map[string]string{"body": "x"}}).Want(http.StatusNoContent)
	}
	ada.Get("/-/drafts?key=k0").Want(http.StatusNoContent)
	ada.Get("/-/drafts?key=k204").OK()
}

func TestSavedReplies(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ada, bob := s.User(t, "ada"), s.User(t, "bob")
	ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "engine"}).Want(http.StatusCreated)
	ada.API(http.MethodPost, "/repos/ada/engine/issues", map[string]any{"title": "One"}).Want(http.StatusCreated)
	const at = "/settings/replies"
	ada.Get(at).OK().Has("You have no saved replies yet")
	ada.Post(at, "title", "", "body", "Typed text").Want(http.StatusUnprocessableEntity).Has("Typed text").Has("A title is needed")
	ada.Post(at, "title", "Thanks", "body", "Thank you <b>all</b>!").Want(http.StatusSeeOther)
	edit, _ := ada.Get(at).OK().Find(`form[action^="/settings/replies/"]`).First().Attr("action")
	ada.Post(edit, "title", "Many thanks", "body", "Thank you!").Want(http.StatusSeeOther)
	bob.Post(edit, "title", "Mine", "body", "x").Want(http.StatusNotFound)
	menu, _ := ada.Get("/ada/engine/issues/1").OK().Find("[hx-get='/-/replies']").First().Attr("hx-get")
	page := ada.Get(menu).OK().Has("Many thanks")
	if text, _ := page.Find("[data-insert]").First().Attr("data-insert"); text != "Thank you!" {
		t.Errorf("the menu puts %q in", text)
	}
	if n := bob.Get(menu).OK().Find("[data-insert]").Length(); n != 0 {
		t.Errorf("bob has %d of ada's replies", n)
	}
	ada.Post(edit + "/delete").Want(http.StatusSeeOther)
	ada.Get(at).OK().Has("You have no saved replies yet")
}
