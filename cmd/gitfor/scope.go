package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/repodb"
	"github.com/spf13/cobra"
)

func scopeCommand(c *config) *cobra.Command {
	scope := &cobra.Command{Use: "scope", Short: "The world of state of a repository or an account"}
	var asJSON bool
	add := func(use, short string, fn func(ctx context.Context, a *app.App, s db.Scope) error) {
		cmd := &cobra.Command{
			Use: use + " repo:OWNER/NAME|account:NAME", Short: short, Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return withApp(cmd.Context(), c, func(ctx context.Context, a *app.App) error {
					s, err := findScope(ctx, a, args[0])
					if err != nil {
						return err
					}
					if fn != nil {
						if err := fn(ctx, a, s); err != nil && !errors.Is(err, db.ErrNotFound) {
							return err
						}
					}
					info, err := a.DB.Inspect(ctx, s)
					if err != nil {
						return err
					}
					return printScope(args[0], info, asJSON)
				})
			},
		}
		cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
		scope.AddCommand(cmd)
	}
	add("show", "Show its state, domains, relations and size", nil)
	add("sleep", "Export its tables into one blob and drop them", func(ctx context.Context, a *app.App, s db.Scope) error {
		return a.DB.Sleep(ctx, s)
	})
	add("wake", "Bring its tables back", func(ctx context.Context, a *app.App, s db.Scope) error { return a.DB.Wake(ctx, s) })
	return scope
}

// findScope reads repo:OWNER/NAME, account:NAME, or a schema's name.
func findScope(ctx context.Context, a *app.App, text string) (db.Scope, error) {
	kind, name, _ := strings.Cut(text, ":")
	dir := a.DB.Directory()
	switch kind {
	case "account":
		account, err := accountdb.ByName(ctx, dir, name)
		if errors.Is(err, db.ErrNotFound) {
			return db.Scope{}, fmt.Errorf("there is no account %q", name)
		}
		if err != nil {
			return db.Scope{}, err
		}
		return db.AccountScope(account.ID), nil
	case "repo":
		owner, repoName, _ := strings.Cut(name, "/")
		repo, err := repodb.ByName(ctx, dir, owner, repoName)
		if errors.Is(err, db.ErrNotFound) {
			return db.Scope{}, fmt.Errorf("there is no repository %q", name)
		}
		if err != nil {
			return db.Scope{}, err
		}
		return db.RepoScope(repo.ID), nil
	}
	s, err := db.ParseScope(text)
	if err != nil {
		return s, usageError{fmt.Errorf("%q: want repo:OWNER/NAME or account:NAME", text)}
	}
	return s, nil
}

func printScope(name string, info *db.ScopeInfo, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(info)
	}
	domains := make([]string, 0, len(info.Domains))
	for _, domain := range slices.Sorted(maps.Keys(info.Domains)) {
		text := domain + " " + strconv.Itoa(info.Domains[domain])
		if newest := info.Newest[domain]; newest > info.Domains[domain] {
			text += fmt.Sprintf(" (newest %d)", newest)
		}
		domains = append(domains, text)
	}
	at := func(t *time.Time) string {
		if t == nil {
			return "-"
		}
		return t.UTC().Format(time.RFC3339)
	}
	none := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	fmt.Printf("scope      %s (%s)\nstate      %s\ndomains    %s\nrelations  %d\nbytes      %d\ntouched    %s\nalarm      %s\n",
		name, info.Scope, info.State, none(strings.Join(domains, ", ")), info.Relations, info.Bytes, at(info.TouchedAt), at(info.AlarmAt))
	return nil
}
