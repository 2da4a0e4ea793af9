package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// event is an entry of the log, as the API shows it.
type event struct {
	ID     string          `json:"id"`
	Seq    int64           `json:"seq"`
	Type   string          `json:"type"`
	Time   time.Time       `json:"time"`
	RepoID *int64          `json:"repoId"`
	Actor  *eventActor     `json:"actor"`
	Data   json.RawMessage `json:"data"`
}

type eventActor struct {
	Username string `json:"username"`
}

func (t *tool) workCommand() *cobra.Command {
	c := &cobra.Command{Use: "work", Short: "Follow what happens"}
	c.AddCommand(t.eventsCommand())
	return c
}

// following is what g1t work events reads.
type following struct {
	follow        bool
	types         []string
	after, cursor string
	limit         int
	instance      bool
	account       string

	path string
	c    *client
}

func (t *tool) eventsCommand() *cobra.Command {
	f := &following{}
	c := &cobra.Command{Use: "events", Short: "Show the log of events, or follow it", Args: cobra.NoArgs,
		Long: `Show the newest events, oldest first, or with --follow those to come.

Following misses nothing: after a broken connection, or a restart of the server,
it goes on behind the last event that it wrote. With --cursor FILE it does so
after g1t itself was stopped too. Without --repo, outside of a clone, the events
are those of your own account; --account names another one that you own.`,
		Example: "  g1t work events --follow --repo ann/box\n  g1t work events --follow --type issue.opened --type pull.* --json\n" +
			"  g1t work events --follow --cursor ~/.cache/box.cursor --json | ./handle",
		RunE: func(cmd *cobra.Command, _ []string) error { return t.events(cmd.Context(), f) }}
	fl := c.Flags()
	fl.BoolVarP(&f.follow, "follow", "f", false, "wait for more, until you stop it")
	fl.StringSliceVar(&f.types, "type", nil, "only events of this `TYPE`, such as issue.opened or issue.*; may be given again")
	fl.StringVar(&f.after, "after", "", "begin behind the event with this `ID`")
	fl.StringVar(&f.cursor, "cursor", "", "keep the id of the last event in this `FILE`, and begin behind it")
	fl.IntVarP(&f.limit, "limit", "L", 30, "how many at most, without --follow")
	fl.StringVar(&f.account, "account", "", "the events of this account that you own")
	fl.BoolVar(&f.instance, "instance", false, "the events of the whole server, for its administrators")
	t.repoFlags(c)
	t.jsonFlag(c)
	return c
}

func (t *tool) events(ctx context.Context, f *following) error {
	var err error
	if f.c, err = t.client(); err != nil {
		return err
	}
	if f.path, err = t.logPath(f); err != nil {
		return err
	}
	if f.cursor != "" && f.after == "" {
		b, err := os.ReadFile(f.cursor)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		f.after = strings.TrimSpace(string(b))
	}
	if f.follow {
		return t.follow(ctx, f)
	}
	q := url.Values{}
	if f.after != "" {
		q.Set("after", f.after)
	}
	list, err := f.read(ctx, q, f.limit)
	if err != nil {
		return err
	}
	if f.after == "" {
		slices.Reverse(list)
	}
	return t.show(f, list)
}

func (t *tool) logPath(f *following) (string, error) {
	switch {
	case f.instance:
		return "/event-log", nil
	case f.account != "":
		return "/users/" + url.PathEscape(f.account) + "/event-log", nil
	}
	full, err := t.repo(f.c)
	if err == nil {
		return repoPath(full, "/event-log"), nil
	}
	if t.repoFlag == "" && f.c.user != "" {
		return "/users/" + url.PathEscape(f.c.user) + "/event-log", nil
	}
	return "", err
}

// read reads one page of the log.
func (f *following) read(ctx context.Context, q url.Values, limit int) ([]json.RawMessage, error) {
	if len(f.types) > 0 && !q.Has("type") {
		q["type"] = f.types
	}
	q.Set("per_page", strconv.Itoa(min(max(limit, 1), 200)))
	var list []json.RawMessage
	_, err := f.c.get(ctx, f.path+"?"+q.Encode(), &list)
	return list, err
}

// start is the id of the newest event of any kind, from where following
// begins; "" while the log is empty.
func (f *following) start(ctx context.Context) (string, error) {
	list, err := f.read(ctx, url.Values{"type": {"*"}}, 1)
	if err != nil || len(list) == 0 {
		return "", err
	}
	var e event
	return e.ID, json.Unmarshal(list[0], &e)
}

const (
	waitSeconds = 25
	longestRest = 30 * time.Second
)

// follow writes events as they come. What fails for a while is tried again
// from the last event that was written; what the server refuses ends it.
func (t *tool) follow(ctx context.Context, f *following) error {
	rest := time.Duration(0)
	for ctx.Err() == nil {
		err := t.followOnce(ctx, f)
		if err == nil {
			rest = 0
			continue
		}
		if ctx.Err() != nil {
			break
		}
		var refused *statusError
		if errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests {
			if refused.Status != http.StatusGone {
				return err
			}
			t.note("g1t: the log no longer holds %s; going on behind the oldest event that it has", f.after)
			if err := t.oldest(ctx, f); err != nil {
				return err
			}
			continue
		}
		var gone *writeError
		if errors.As(err, &gone) {
			return gone.error
		}
		rest = min(max(2*rest, 500*time.Millisecond), longestRest)
		t.note("g1t: %s; trying again in %s", cell(err.Error()), rest)
		select {
		case <-ctx.Done():
		case <-time.After(rest):
		}
	}
	return nil
}

// followOnce waits for the next events and writes them.
func (t *tool) followOnce(ctx context.Context, f *following) error {
	if f.after == "" {
		id, err := f.start(ctx)
		if err != nil {
			return err
		}
		if id == "" { // an empty log: look again a little later
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			list, err := f.read(ctx, url.Values{}, 200)
			if err != nil || len(list) == 0 {
				return err
			}
			slices.Reverse(list)
			return t.show(f, list)
		}
		f.after = id
	}
	list, err := f.read(ctx, url.Values{"after": {f.after}, "wait": {strconv.Itoa(waitSeconds)}}, 200)
	if err != nil {
		return err
	}
	return t.show(f, list)
}

// oldest begins anew behind the oldest event of the log.
func (t *tool) oldest(ctx context.Context, f *following) error {
	res, err := f.c.send(ctx, http.MethodGet, f.path+"?after="+url.QueryEscape(f.after), nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // nothing more to read
	var gone struct {
		Oldest *string `json:"oldest"`
	}
	if err := json.NewDecoder(res.Body).Decode(&gone); err != nil {
		return err
	}
	f.after = ""
	if gone.Oldest != nil {
		f.after = *gone.Oldest
	}
	return nil
}

// writeError says that nobody takes the output any more.
type writeError struct{ error }

// show writes events, and notes the last one.
func (t *tool) show(f *following, list []json.RawMessage) error {
	for _, raw := range list {
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		var err error
		switch {
		case t.json == "*":
			_, err = fmt.Fprintf(t.out, "%s\n", raw)
		case t.json != "":
			var picked any
			if picked, err = pick(raw, strings.Split(t.json, ",")); err == nil {
				err = json.NewEncoder(t.out).Encode(picked)
			}
		default:
			_, err = fmt.Fprintln(t.out, t.eventLine(&e))
		}
		if err != nil {
			return &writeError{err}
		}
		f.after = e.ID
	}
	if f.cursor == "" || len(list) == 0 {
		return nil
	}
	tmp := f.cursor + ".new"
	if err := os.WriteFile(tmp, []byte(f.after+"\n"), 0o600); err != nil {
		return &writeError{err}
	}
	if err := os.Rename(tmp, f.cursor); err != nil {
		return &writeError{err}
	}
	return nil
}

func (t *tool) eventLine(e *event) string {
	who, about := "", summary(e.Data)
	if e.Actor != nil {
		who = cell(e.Actor.Username)
	}
	if !t.tty {
		repo := ""
		if e.RepoID != nil {
			repo = strconv.FormatInt(*e.RepoID, 10)
		}
		return strings.Join([]string{e.ID, e.Time.UTC().Format(time.RFC3339), cell(e.Type), repo, who, about}, "\t")
	}
	return fmt.Sprintf("%s  %s  %s  %s", t.muted(e.Time.Local().Format("02 Jan 15:04:05")), t.bold(fmt.Sprintf("%-20s", cell(e.Type))), who, about)
}

// summary is what an event's data says in short.
func summary(data json.RawMessage) string {
	var d struct {
		Number   int64  `json:"number"`
		Title    string `json:"title"`
		FullName string `json:"full_name"`
		Ref      string `json:"ref"`
		Name     string `json:"name"`
	}
	// Types differ in what they have; what does not fit is left out.
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return ""
	}
	for name, dst := range map[string]any{"number": &d.Number, "title": &d.Title, "full_name": &d.FullName, "ref": &d.Ref, "name": &d.Name} {
		_ = json.Unmarshal(fields[name], dst)
	}
	var words []string
	if d.Number != 0 {
		words = append(words, "#"+strconv.FormatInt(d.Number, 10))
	}
	for _, s := range []string{d.Title, d.FullName, d.Ref} {
		if s = cell(s); s != "" {
			words = append(words, shorten(s, 70))
		}
	}
	if len(words) == 0 {
		return shorten(cell(d.Name), 70)
	}
	return strings.Join(words, " ")
}
