package events

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/gitfor/gitfor/app/live"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
	"github.com/gitfor/gitfor/db/model"
)

// TestLivePages shows that an open page hears of what happens, within the
// budget by far, and no longer of what it may not see.
func TestLivePages(t *testing.T) {
	t.Parallel()
	p := newProcess(t, dbtest.NewURL(t))
	defer p.kill(t.Context())
	l := NewLive(p.Service)
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer l.Stop(t.Context()) //nolint:errcheck // the test is over
	ann, bob := dbtest.User(t, p.d, "ann"), dbtest.User(t, p.d, "bob")
	open := dbtest.Repo(t, p.d, ann, "open", dbtest.RepoOpts{})
	closed := dbtest.Repo(t, p.d, ann, "closed", dbtest.RepoOpts{Private: true})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.Hub.Serve(w, r, &model.Viewer{Account: bob})
	}))
	defer srv.Close()
	ws, _, err := websocket.Dial(t.Context(), srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow() //nolint:errcheck // the test is over
	topic := func(kind string, ids ...int64) string {
		s := kind
		for _, id := range ids {
			s += fmt.Sprintf(":%d", id)
		}
		return s
	}
	mine := []string{topic("repo", open.ID), topic("thread", open.ID, 7), topic("user", bob.ID)}
	others := []string{topic("repo", closed.ID), topic("thread", closed.ID, 7), topic("user", ann.ID), topic("repo", 99), "repo:x", "x"}
	send := func(v any) {
		t.Helper()
		text, err := json.Marshal(v)
		if err == nil {
			err = ws.Write(t.Context(), websocket.MessageText, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	send(map[string]any{"subscribe": append(append([]string{}, others...), mine...)})
	for !l.Hub.Followed(mine[2]) {
		time.Sleep(time.Millisecond)
	}
	for _, name := range others {
		if l.Hub.Followed(name) {
			t.Errorf("follows %s", name)
		}
	}
	next := func() (m live.Message) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		_, text, err := ws.Read(ctx)
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if err := publish(t.Context(), p.d, open, tested{"issue.opened", 7, 0}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for range 2 {
		m := next()
		got[m.Topic] = m.Kind
	}
	if got[mine[0]] != "issue.opened" || got[mine[1]] != "issue.opened" {
		t.Errorf("heard %v", got)
	}
	p.Poke(t.Context(), bob.ID, "inbox")
	if m := next(); m.Topic != mine[2] || m.Kind != "inbox" {
		t.Errorf("poke: %+v", m)
	}
	// A page made before what happened hears of it when it connects.
	send(map[string]any{"unsubscribe": mine[:2]})
	send(map[string]any{"subscribe": mine[1:2], "age": 600_000})
	if m := next(); m.Topic != mine[1] || m.Seq != 1 {
		t.Errorf("missed: %+v", m)
	}
	send(map[string]any{"unsubscribe": mine[1:2]})
	send(map[string]any{"subscribe": mine[:1], "since": 1})
	for !l.Hub.Followed(mine[0]) {
		time.Sleep(time.Millisecond)
	}
	// The repository becomes private: bob's page hears nothing more.
	dbtest.Exec(t, p.d, "UPDATE directory.repos SET visibility = 'private' WHERE id = ?", open.ID)
	err = p.d.InDirectory(t.Context(), func(ctx context.Context, tx db.DirectoryTx) error {
		return Emit(ctx, tx, About{Repo: open}, tested{Kind: "repo.visibility_changed"})
	})
	if err != nil {
		t.Fatal(err)
	}
	for l.Hub.Followed(mine[0]) {
		time.Sleep(time.Millisecond)
	}
}
