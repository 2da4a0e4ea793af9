package app_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gitfor/gitfor/app/apptest"
)

// TestOctokit drives the API with GitHub's own client for JavaScript.
func TestOctokit(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is missing: scripts/setup.sh test installs it")
	}
	s := apptest.NewWorking(t)
	ann := s.User(t, "ann")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, node, "testdata/octokit.mjs", s.URL, ann.Token).CombinedOutput()
	if strings.Contains(string(out), "ERR_MODULE_NOT_FOUND") {
		t.Fatal("the packages of package.json are missing: npm ci")
	}
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "all fine") {
		t.Fatalf("%v\n%s", err, out)
	}
}
