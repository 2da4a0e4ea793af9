package protection_test

import (
	"net/http"
	"testing"

	"github.com/gitfor/gitfor/app/apptest"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestMatchBranch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, branch string
		want            bool
	}{
		{"main", "main", true}, {"main", "mains", false}, {"release/*", "release/1", true}, {"release/*", "release/1/2", false},
		{"release/**", "release/1/2", true}, {"**", "a/b", true}, {"**/fix", "fix", true}, {"**/fix", "a/b/fix", true}, {"*", "a/b", false},
		{"v[0-9]", "v1", true}, {"v[0-9", "v1", false}, {"release/**", "release", false},
	} {
		if got := model.MatchBranch(c.pattern, c.branch); got != c.want {
			t.Errorf("%q names %q: %v", c.pattern, c.branch, got)
		}
	}
}

func TestRulePages(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	ada := s.User(t, "ada")
	bob := s.User(t, "bob")
	ada.API(http.MethodPost, "/user/repos", map[string]any{"name": "engine", "auto_init": true}).Want(http.StatusCreated)
	const at = "/ada/engine/settings/branches"
	ada.Get(at).OK().Has("No branch is protected")
	ada.Get(at + "/new?pattern=main").OK().Has(`value="main"`)
	ada.Post(at, "pattern", "", "reviews", "2", "pushers", "bob").Want(http.StatusUnprocessableEntity).Has(`value="2"`).Has(`value="bob"`)
	ada.Post(at, "pattern", "main", "reviews", "1", "restricted", "true", "pushers", "nobody9").Want(http.StatusUnprocessableEntity).Has("nobody9")
	ada.Post(at, "pattern", "main", "reviews", "2", "more_checks", "build\ntest", "linear", "true").Want(http.StatusSeeOther)
	ada.Post(at, "pattern", "main", "reviews", "1").Want(http.StatusUnprocessableEntity).Has("already")
	list := ada.Get(at).OK().Has("2 approvals").Has("the check build")
	edit, _ := list.Find(`a.font-mono[href^="` + at + `/"]`).Attr("href")
	ada.Get(edit).OK().Has("test")
	ada.Post(edit, "pattern", "main", "reviews", "1", "restricted", "true", "pushers", "bob").Want(http.StatusSeeOther)
	ada.Get(at + "/explain?branch=main&person=bob").OK().Has("has no write access")
	ada.Get(at + "/explain?branch=main&person=ada").OK().Has("Administrators are not held to the rules")
	ada.Get(at + "/explain?branch=other&person=ada").OK().Has("No rule is about this branch")
	ada.Get(at + "/explain?branch=main&person=ghost9").Want(http.StatusUnprocessableEntity)
	bob.Get(at).Want(http.StatusForbidden)
	bob.Get(at + "/explain?person=ada").OK().Has("What bob may do")
	ada.Post(edit + "/delete").Want(http.StatusSeeOther)
	ada.Get(at).OK().Has("No branch is protected")
}
