package webhooks_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/apptest"
)

// shape is what GitHub's example payloads have in one place: the types, how
// many objects there are and how many of them have each key, and what is below.
type shape struct {
	types   map[string]bool
	objects int
	have    map[string]int
	keys    map[string]*shape
	items   *shape
}

func newShape() *shape {
	return &shape{types: map[string]bool{}, have: map[string]int{}, keys: map[string]*shape{}}
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	}
	return "object"
}

func (s *shape) learn(v any) {
	s.types[kindOf(v)] = true
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if s.items == nil {
				s.items = newShape()
			}
			s.items.learn(one)
		}
	case map[string]any:
		s.objects++
		for key, one := range v {
			if s.keys[key] == nil {
				s.keys[key] = newShape()
			}
			s.have[key]++
			s.keys[key].learn(one)
		}
	}
}

// compare says where v differs: a key that each example has is missing, or a
// type is none of theirs. Where examples have null alone, anything may be; and
// null where they have something, as they are few.
func (s *shape) compare(at string, v any, say func(string)) {
	kind := kindOf(v)
	if kind != "null" && !s.types[kind] && !(len(s.types) == 1 && s.types["null"]) {
		say(fmt.Sprintf("%s is %s, not %v", at, kind, slices.Sorted(maps.Keys(s.types))))
		return
	}
	switch v := v.(type) {
	case []any:
		for i, one := range v {
			if s.items != nil {
				s.items.compare(fmt.Sprintf("%s[%d]", at, i), one, say)
			}
		}
	case map[string]any:
		for key, below := range s.keys {
			if one, ok := v[key]; ok {
				below.compare(at+"."+key, one, say)
			} else if s.have[key] == s.objects {
				say(at + "." + key + " is missing")
			}
		}
	}
}

// exempt are keys of all examples of an action that a payload need not have:
// those of apps and organizations, of pull requests among issues, what GitHub
// itself leaves out of other actions, and what a release was before it was
// edited, which is not kept.
func exempt(what string) bool {
	if strings.HasPrefix(what, "release.edited.changes.") {
		return true
	}
	for _, end := range []string{".installation is missing", ".organization is missing", ".issue.pull_request is missing",
		".head.repo.custom_properties is missing", ".base.repo.custom_properties is missing"} {
		if strings.HasSuffix(what, end) {
			return true
		}
	}
	return false
}

// examples are the shapes of GitHub's payloads by event and action.
func examples(t *testing.T) map[string]*shape {
	t.Helper()
	text, err := os.ReadFile("../../node_modules/@octokit/webhooks-examples/api.github.com/index.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Name     string
		Examples []map[string]any
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]*shape{}
	for _, e := range list {
		for _, example := range e.Examples {
			action, _ := example["action"].(string)
			key := e.Name + "." + action
			if out[key] == nil {
				out[key] = newShape()
			}
			out[key].learn(example)
		}
	}
	return out
}

// TestGitHubExamples holds what receivers made for GitHub are sent to GitHub's
// own examples: the same keys with the same types.
func TestGitHubExamples(t *testing.T) {
	t.Parallel()
	shapes := examples(t)
	var mu sync.Mutex
	got := map[string][]map[string]any{}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var doc map[string]any
		if err == nil {
			err = json.Unmarshal(body, &doc)
		}
		if err != nil {
			t.Errorf("%s: %v", r.Header.Get("X-GitHub-Event"), err)
		}
		action, _ := doc["action"].(string)
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("X-GitHub-Event") + "." + action
		got[key] = append(got[key], doc)
	}))
	t.Cleanup(receiver.Close)
	s := apptest.NewWorking(t, func(c *app.Config) { c.OutboundAllow = []string{"127.0.0.1"} })
	work(s, t, receiver.URL)

	want := strings.Fields("ping. push. create. delete. issues.opened issues.edited issues.labeled issues.unlabeled issues.assigned issues.unassigned " +
		"issues.milestoned issues.demilestoned issues.locked issues.unlocked issues.reopened issue_comment.created issue_comment.edited issue_comment.deleted " +
		"pull_request.opened pull_request.labeled pull_request.closed pull_request.reopened pull_request.review_requested pull_request_review.submitted " +
		"release.created release.published release.edited release.deleted star.created star.deleted")
	var missing []string
	told := func() bool {
		mu.Lock()
		defer mu.Unlock()
		missing = slices.DeleteFunc(slices.Clone(want), func(key string) bool { return len(got[key]) > 0 })
		return len(missing) == 0
	}
	for end := time.Now().Add(20 * time.Second); !told(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never told: %v", missing)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	said := map[string]bool{}
	for _, key := range want {
		if shapes[key] == nil {
			t.Errorf("GitHub has no example of %s", key)
			continue
		}
		for _, doc := range got[key] {
			shapes[key].compare(key, doc, func(what string) {
				if !said[what] && !exempt(what) {
					said[what] = true
					t.Error(what)
				}
			})
		}
	}
}

// work is what people do of which GitHub's webhooks tell.
func work(s *apptest.Server, t *testing.T, receiver string) {
	ann, bob := s.User(t, "ann"), s.User(t, "bob")
	do := func(c *apptest.Client, method, path string, in any) map[string]any {
		t.Helper()
		r := c.API(method, path, in)
		if r.Status > 299 {
			t.Fatalf("%s %s: %d %s", method, path, r.Status, r.Body)
		}
		out := map[string]any{}
		_ = json.Unmarshal([]byte(r.Body), &out)
		return out
	}
	do(ann, "POST", "/user/repos", map[string]any{"name": "box", "auto_init": true, "description": "A box"})
	do(ann, "PUT", "/repos/ann/box/collaborators/bob", map[string]any{"permission": "push"})
	for _, invitation := range invitations(bob) {
		do(bob, "PATCH", "/user/repository_invitations/"+invitation, nil)
	}
	do(ann, "POST", "/repos/ann/box/hooks", map[string]any{"events": []string{"*"}, "config": map[string]any{"format": "github", "url": receiver, "content_type": "json"}})
	at := "/repos/ann/box"
	head := do(ann, "GET", at+"/git/ref/heads/main", nil)["object"].(map[string]any)["sha"] //nolint:forcetypeassert // a test
	do(ann, "POST", at+"/git/refs", map[string]any{"ref": "refs/heads/fast", "sha": head})
	do(ann, "POST", at+"/git/refs", map[string]any{"ref": "refs/heads/gone", "sha": head})
	do(ann, "DELETE", at+"/git/refs/heads/gone", nil)
	do(ann, "PUT", at+"/contents/a.txt", map[string]any{"message": "add a", "content": "YQo=", "branch": "fast"})

	do(ann, "POST", at+"/labels", map[string]any{"name": "jam", "color": "ff0000"})
	do(ann, "POST", at+"/milestones", map[string]any{"title": "1.0"})
	do(ann, "POST", at+"/issues", map[string]any{"title": "One", "body": "text"})
	one := at + "/issues/1"
	for _, in := range []map[string]any{{"title": "First"}, {"labels": []string{"jam"}}, {"labels": []string{}}, {"assignees": []string{"bob"}},
		{"assignees": []string{}}, {"milestone": 1}, {"milestone": nil}, {"state": "closed"}, {"state": "open"}} {
		do(ann, "PATCH", one, in)
	}
	do(ann, "PUT", one+"/lock", map[string]any{"lock_reason": "spam"})
	do(ann, "DELETE", one+"/lock", nil)
	comment := fmt.Sprintf("%s/issues/comments/%.0f", at, do(ann, "POST", one+"/comments", map[string]any{"body": "So"})["id"])
	do(ann, "PATCH", comment, map[string]any{"body": "So?"})
	other := fmt.Sprintf("%s/issues/comments/%.0f", at, do(ann, "POST", one+"/comments", map[string]any{"body": "No"})["id"])
	do(ann, "DELETE", other, nil)

	pull := fmt.Sprintf("%s/pulls/%.0f", at, do(ann, "POST", at+"/pulls", map[string]any{"title": "Fast", "head": "fast", "base": "main", "body": "x"})["number"])
	do(ann, "POST", pull+"/requested_reviewers", map[string]any{"reviewers": []string{"bob"}})
	do(bob, "POST", pull+"/reviews", map[string]any{"event": "APPROVE", "body": "Good"})
	do(ann, "POST", strings.Replace(pull, "/pulls/", "/issues/", 1)+"/labels", map[string]any{"labels": []string{"jam"}})
	do(ann, "PATCH", pull, map[string]any{"state": "closed"})
	do(ann, "PATCH", pull, map[string]any{"state": "open"})

	release := fmt.Sprintf("%s/releases/%.0f", at, do(ann, "POST", at+"/releases", map[string]any{"tag_name": "v1", "name": "One"})["id"])
	do(ann, "PATCH", release, map[string]any{"name": "The first"})
	do(ann, "DELETE", release, nil)
	do(bob, "PUT", "/user/starred/ann/box", nil)
	do(bob, "DELETE", "/user/starred/ann/box", nil)
}

// invitations are the ids of those that wait for c.
func invitations(c *apptest.Client) []string {
	var list []struct{ ID int64 }
	c.API(http.MethodGet, "/user/repository_invitations", nil).OK().Into(&list)
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = fmt.Sprint(one.ID)
	}
	return out
}
