package git

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// ArchiveFormat is how an archive is packed.
type ArchiveFormat string

// The formats.
const (
	ArchiveZip   ArchiveFormat = "zip"
	ArchiveTarGz ArchiveFormat = "tar.gz"
	ArchiveTar   ArchiveFormat = "tar"
)

// Archive writes the files of a commit to w while it packs them, below the
// folder prefix. The bytes depend on the commit, prefix and format only: files
// are as old as the commit. export-ignore and export-subst in .gitattributes
// hold (gitattributes(5)).
func (r *Repository) Archive(ctx context.Context, commit OID, format ArchiveFormat, prefix string, w io.Writer) error {
	switch format {
	case ArchiveZip, ArchiveTarGz, ArchiveTar:
	default:
		return fmt.Errorf("archive: format %q is not known", format)
	}
	// A tree has no time of its own, so its archive would differ each time.
	if _, err := r.Commit(ctx, commit); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	prefix = strings.Trim(prefix, "/")
	if prefix, ok := CleanPath(prefix); !ok {
		return fmt.Errorf("archive: folder %q is not valid", prefix)
	}
	options := []string{"--format=" + string(format)}
	if prefix != "" {
		options = append(options, "--prefix="+prefix+"/")
	}
	return r.Command(ctx, "archive", options...).Revs(string(commit)).Stdout(w).Run()
}
