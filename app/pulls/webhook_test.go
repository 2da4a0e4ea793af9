package pulls_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/gitfor/gitfor/db/webhookdb"
)

// TestGitHubWebhook is what receivers made for GitHub are told of a pull
// request; the receiver need not exist to see what would be sent.
func TestGitHubWebhook(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	hook := b.ada.API(http.MethodPost, "/repos/ada/engine/hooks", map[string]any{"events": []string{"pull_request"},
		"config": map[string]any{"format": "github", "url": "http://receiver.invalid/"}}).Want(http.StatusCreated).JSON()
	id, _ := hook["id"].(float64)
	b.commit("fast", "make it fast", "b.txt", "new\n")
	b.push("fast")
	b.ada.API(http.MethodPost, "/repos/ada/engine/pulls", map[string]any{"title": "Fast", "head": "fast", "base": "main"}).Want(http.StatusCreated)
	b.merge(1, nil).OK()
	told := map[string]map[string]any{}
	for end := time.Now().Add(20 * time.Second); told["opened"] == nil || told["closed"] == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("told only %v", told)
		}
		list, err := webhookdb.Deliveries(t.Context(), b.App.DB, webhookdb.OfRepo(1), int64(id), 0, "", 50)
		check(t, err)
		for _, dl := range list {
			var doc map[string]any
			check(t, json.Unmarshal([]byte(dl.Request.Body), &doc))
			if dl.Event == "pull_request" {
				told[dl.Action] = doc
			}
		}
	}
	for action, merged := range map[string]bool{"opened": false, "closed": true} {
		doc := told[action]
		pull, _ := doc["pull_request"].(map[string]any)
		for _, key := range []string{"url", "id", "node_id", "html_url", "diff_url", "number", "state", "title", "user", "body", "head",
			"base", "draft", "merged", "merged_by", "merge_commit_sha", "commits", "additions", "deletions", "changed_files"} {
			if _, ok := pull[key]; !ok {
				t.Errorf("%s: pull_request has no %s", action, key)
			}
		}
		head, _ := pull["head"].(map[string]any)
		if doc["number"] != 1.0 || doc["action"] != action || head["ref"] != "fast" || head["repo"] == nil || doc["sender"] == nil {
			t.Errorf("%s: %v", action, doc)
		}
		// What is told is how things stand when it is told.
		if merged && pull["merged"] != true {
			t.Errorf("%s: merged is %v", action, pull["merged"])
		}
	}
}
