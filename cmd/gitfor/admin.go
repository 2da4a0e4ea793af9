package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/auth"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/accountdb"
	"github.com/gitfor/gitfor/db/model"
	"github.com/spf13/cobra"
)

func adminCommand(c *config) *cobra.Command {
	admin := &cobra.Command{Use: "admin", Short: "Administer the instance, beside a running server or without one"}
	user := &cobra.Command{Use: "user", Short: "Accounts of people"}
	user.AddCommand(userCreateCommand(c))
	token := &cobra.Command{Use: "token", Short: "Access tokens"}
	token.AddCommand(tokenCreateCommand(c))
	admin.AddCommand(user, token, passkeyLinkCommand(c), scopeCommand(c), databaseURLCommand(c))
	return admin
}

func userCreateCommand(c *config) *cobra.Command {
	in := accounts.CreateInput{}
	cmd := &cobra.Command{
		Use: "create NAME --email E", Short: "Create an account; make a way to sign in with passkey-link", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.Email == "" {
				return usageError{errors.New("--email is missing")}
			}
			in.Name = args[0]
			return withApp(cmd.Context(), c, func(ctx context.Context, a *app.App) error {
				u, err := a.Accounts.CreateUser(ctx, in)
				if err != nil {
					return err
				}
				fmt.Printf("created %s (id %d)\n", u.Account.Name, u.AccountID)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&in.Email, "email", "", "address of the account")
	cmd.Flags().BoolVar(&in.Admin, "admin", false, "make it an administrator of the instance")
	return cmd
}

func tokenCreateCommand(c *config) *cobra.Command {
	var scopes string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create an access token of the account NAME and print it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd.Context(), c, func(ctx context.Context, a *app.App) error {
				account, err := findUser(ctx, a, args[0])
				if err != nil {
					return err
				}
				list, err := auth.ParseScopes(scopes)
				if err != nil {
					return usageError{err}
				}
				text, err := a.Auth.NewToken(ctx, account.ID, auth.TokenInput{Name: "made by gitfor admin", Scopes: list})
				if err != nil {
					return err
				}
				fmt.Println(text)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&scopes, "scopes", "", "comma-separated scopes, such as repo,user; default: all")
	return cmd
}

func passkeyLinkCommand(c *config) *cobra.Command {
	return &cobra.Command{
		Use: "passkey-link NAME", Short: "Print a one-time address where NAME can add a passkey", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withApp(cmd.Context(), c, func(ctx context.Context, a *app.App) error {
				account, err := findUser(ctx, a, args[0])
				if err != nil {
					return err
				}
				address, err := a.Auth.PublicURL(ctx)
				if err != nil {
					return err
				}
				path, err := a.Auth.NewPasskeyLink(ctx, account.ID)
				if err != nil {
					return err
				}
				fmt.Println(address + path)
				return nil
			})
		},
	}
}

func findUser(ctx context.Context, a *app.App, name string) (*model.Account, error) {
	account, err := accountdb.ByName(ctx, a.DB.Directory(), name)
	if errors.Is(err, db.ErrNotFound) {
		return nil, fmt.Errorf("there is no account %q", name)
	}
	if err == nil && !account.IsUser() {
		return nil, fmt.Errorf("%s is an organisation, not a person", account.Name)
	}
	return account, err
}

func databaseURLCommand(c *config) *cobra.Command {
	return &cobra.Command{
		Use: "database-url", Short: "Print the address of the database in use, for psql", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			base, err := openDatabase(cmd.Context(), c, slog.New(slog.DiscardHandler), false)
			if err != nil {
				return err
			}
			if base.server != nil {
				_ = base.close()
				return errors.New("no server runs on this data folder: start gitfor serve first, then psql can connect")
			}
			fmt.Println(base.url)
			return base.close()
		},
	}
}
