package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/jobs"
	"github.com/spf13/cobra"
)

// drainTime bounds how long a stop waits for requests and jobs under way; with
// the database's own stop it stays under 15 seconds.
const drainTime = 8 * time.Second

func serveCommand(c *config) *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the server", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), c) },
	}
	c.bind(cmd.Flags(), true)
	return cmd
}

func serve(ctx context.Context, c *config) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	cfg, err := c.app()
	if err != nil {
		return err
	}
	cfg.Spares = true
	if c.databaseURL == "" && !(c.role("web") && c.role("jobs")) {
		return usageError{errors.New("--roles: splitting needs a database of its own: set --database-url")}
	}
	// The port first: a taken one should not cost a database start.
	ln, err := net.Listen("tcp", c.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w (another program uses it? choose --listen)", c.listen, err)
	}
	defer ln.Close() //nolint:errcheck // closed by the server before
	base, err := openDatabase(ctx, c, log, c.databaseURL == "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, base.close()) }()
	d, err := db.Open(ctx, base.url, db.Options{Logger: log})
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Migrate(ctx); err != nil {
		return err
	}
	a, err := app.New(ctx, cfg, d, log)
	if err != nil {
		return err
	}
	if c.role("jobs") {
		if err := jobs.Attach(a, cfg.DataDir, log); err != nil {
			return err
		}
	}
	if err := a.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	defer func() {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		a.Stop(stopCtx)
	}()
	return serveHTTP(ctx, a, ln, base, cfg, log)
}

func serveHTTP(ctx context.Context, a *app.App, ln net.Listener, base *database, cfg app.Config, log *slog.Logger) error {
	reqCtx, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	server := &http.Server{
		Handler: a.Handler(), ReadHeaderTimeout: 20 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, BaseContext: func(net.Listener) context.Context { return reqCtx },
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	code, err := a.SetupCode(ctx)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ln) }()
	greet(cfg, code)
	go base.keep(ctx)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	log.Info("stopping: finishing requests")
	a.Drain()
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := server.Shutdown(stopCtx); err != nil {
		endRequests()
		return server.Close()
	}
	return nil
}

func greet(cfg app.Config, code string) {
	fmt.Printf("gitfor is at %s\n", cfg.URL)
	if cfg.SSHPort != 0 {
		fmt.Printf("git over SSH is at port %d\n", cfg.SSHPort)
	}
	fmt.Printf("Next: open %s/signup and make the first account; it becomes the administrator.\n", cfg.URL)
	if code != "" {
		fmt.Printf("The first account needs the set-up code %s\n", code)
	}
}
