package git

// effect says what a git subcommand may change.
type effect int

const (
	readsOnly     effect = iota
	writesObjects        // objects, packs and the files derived from them
	writesRefs
	makesRepository
	usesNetwork // talks to another host; gets no protocol unless the caller allows one
)

// subcommand describes one git command that this program runs.
type subcommand struct {
	effect effect
	// endOfOptions says that the command takes --end-of-options before what
	// people typed. Operands of the others may not begin with a dash.
	endOfOptions bool
	// noRepository: the command runs without a --git-dir.
	noRepository bool
}

// subcommands lists every git command in use. Command refuses what is not here.
func subcommands(name string) (subcommand, bool) {
	switch name {
	case "archive", "blame", "cat-file", "check-attr", "count-objects",
		"for-each-ref", "format-patch", "fsck", "ls-tree", "merge-base", "patch-id", "range-diff",
		"rev-parse", "upload-pack", "verify-pack":
		return subcommand{effect: readsOnly}, true
	case "diff-tree", "log", "rev-list":
		return subcommand{effect: readsOnly, endOfOptions: true}, true
	case "bundle", "commit-graph", "index-pack", "merge-tree", "multi-pack-index",
		"pack-objects", "prune", "prune-packed", "repack", "unpack-objects":
		return subcommand{effect: writesObjects}, true
	case "pack-refs", "symbolic-ref", "update-ref":
		return subcommand{effect: writesRefs}, true
	case "receive-pack":
		return subcommand{effect: writesRefs}, true
	case "init":
		return subcommand{effect: makesRepository, noRepository: true}, true
	case "version":
		return subcommand{effect: readsOnly, noRepository: true}, true
	case "fetch", "push", "ls-remote":
		return subcommand{effect: usesNetwork}, true
	}
	return subcommand{}, false
}
