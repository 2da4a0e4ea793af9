package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func rootCommand() *cobra.Command {
	c := new(config)
	root := &cobra.Command{
		Use: "gitfor", Short: "gitfor, a self-hosted git forge",
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.fill(cmd) },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.bind(root.PersistentFlags(), false)
	root.AddCommand(serveCommand(c), adminCommand(c), backupCommand(c), restoreCommand(c), doctorCommand(c), versionCommand())
	return asUsage(root)
}

// asUsage makes wrong arguments a usage error in every command.
func asUsage(cmd *cobra.Command) *cobra.Command {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError{fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())}
			}
			return nil
		}
	}
	if cmd.Run == nil && cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q: see %s --help", args[0], cmd.CommandPath())}
			}
			return cmd.Help()
		}
		cmd.Args = cobra.ArbitraryArgs
	}
	for _, sub := range cmd.Commands() {
		asUsage(sub)
	}
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			fmt.Printf("gitfor %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
