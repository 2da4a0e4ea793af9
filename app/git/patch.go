package git

import (
	"context"
	"fmt"
	"io"
)

// PatchFormat is a form in which changes are handed out as text.
type PatchFormat int

// The formats: a plain diff, and one mail per commit as git am takes it.
const (
	PatchDiff PatchFormat = iota
	PatchMail
)

// Patch writes the changes as text. For PatchMail the commits are those of
// Head that Base lacks; a Base that is Head's first parent, or the empty tree,
// gives the one commit. Context, Whitespace, Paths and MergeBase hold for
// PatchDiff only, limits for none.
func (r *Repository) Patch(ctx context.Context, format PatchFormat, opts DiffOptions, w io.Writer) error {
	if format == PatchMail {
		return r.patchMail(ctx, opts, w)
	}
	base, err := r.diffBase(ctx, opts)
	if err != nil {
		return fmt.Errorf("diff: %w", err)
	}
	options := append([]string{"-r", contextFlag(opts), "--no-commit-id", "--no-color", "--no-ext-diff", "--no-textconv",
		"--full-index", "--binary", "--src-prefix=a/", "--dst-prefix=b/"}, diffFlags(opts)...)
	cmd := r.Command(ctx, "diff-tree", options...).Revs(string(base), string(opts.Head))
	if len(opts.Paths) > 0 {
		cmd.Paths(opts.Paths...)
	}
	return cmd.Stdout(w).Run()
}

func (r *Repository) patchMail(ctx context.Context, opts DiffOptions, w io.Writer) error {
	options := []string{"--stdout", "--no-signature", "--no-color", "--full-index", "--find-renames", "--root",
		"--no-ext-diff", "--no-textconv", "--no-cover-letter"}
	if opts.Base.IsZero() || opts.Base == r.EmptyTree() {
		options = append(options, "-1")
		return r.Command(ctx, "format-patch", options...).Revs(string(opts.Head)).Stdout(w).Run()
	}
	return r.Command(ctx, "format-patch", options...).
		Revs(string(opts.Base) + ".." + string(opts.Head)).Stdout(w).Run()
}
