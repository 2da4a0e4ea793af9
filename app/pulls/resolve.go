package pulls

import (
	"context"
	"strings"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/model"
)

// Ways to resolve a file in conflict.
const (
	ResolveText   = "text"   // by a text that somebody put together
	ResolveOurs   = "ours"   // as it is on the head's branch
	ResolveTheirs = "theirs" // as it is on the base
	ResolveDelete = "delete"
)

// Clash is a file that both branches changed.
type Clash struct {
	Path string
	// Text is the merged file with marks around what both changed, Ours and
	// Theirs what it is on the head's branch and on the base. Editable is
	// false for what is no text, or too large.
	Text, Ours, Theirs string
	Editable           bool
	// HasOurs and HasTheirs say on which sides the file exists.
	HasOurs, HasTheirs bool
}

// Clashes are the conflicts of a pull request with its base.
type Clashes struct {
	Head, Base string
	Files      []Clash
	merged     *git.MergeResult
}

// maxClash is how large a file may be, in bytes, to be resolved in the
// browser.
const maxClash = 512 << 10

// Clashes finds the files of a pull request that conflict with its base.
func (s *Service) Clashes(ctx context.Context, p Place, number int64) (*Clashes, error) {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return nil, err
	}
	if !pull.Issue.Open() {
		return nil, conflict("The pull request is closed.")
	}
	if _, _, err := s.headPlace(ctx, p, pull); err != nil {
		return nil, err
	}
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return nil, err
	}
	base, err := s.baseTip(ctx, g, pull)
	if err != nil {
		return nil, err
	}
	if base == "" {
		return nil, conflict("The base branch does not exist any more.")
	}
	return s.clashes(ctx, g, git.OID(pull.HeadSHA), base)
}

func (s *Service) clashes(ctx context.Context, g *git.Repository, head, base git.OID) (*Clashes, error) {
	res, err := g.MergeTree(ctx, head, base, git.MergeOptions{})
	if err != nil {
		return nil, err
	}
	out := &Clashes{Head: head.String(), Base: base.String(), merged: res}
	for _, c := range res.Conflicts {
		f := Clash{Path: c.Path, HasOurs: c.Ours.OID != "", HasTheirs: c.Theirs.OID != ""}
		var okOurs, okTheirs bool
		f.Ours, okOurs = textOf(ctx, g, c.Ours)
		f.Theirs, okTheirs = textOf(ctx, g, c.Theirs)
		data, entry, err := g.BlobAt(ctx, res.Tree, c.Path, maxClash)
		if err == nil && okOurs && okTheirs && entry.Kind() == git.KindFile {
			f.Text, f.Editable = git.EditableText(string(data))
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

// textOf is a side of a conflict as text; a side without the file is an empty
// one.
func textOf(ctx context.Context, g *git.Repository, e git.TreeEntry) (string, bool) {
	if e.OID == "" {
		return "", true
	}
	if e.Kind() != git.KindFile {
		return "", false
	}
	data, err := g.Blob(ctx, e.OID, maxClash)
	if err != nil {
		return "", false
	}
	return git.EditableText(string(data))
}

// Resolution is how somebody resolves a file.
type Resolution struct {
	Path, How, Text string
}

// ResolveInput is how the conflicts of a pull request are resolved.
type ResolveInput struct {
	// Head and Base are what the conflicts were between.
	Head, Base string
	Files      []Resolution
	Message    string
}

// Resolve merges the base into the head's branch with the conflicts resolved.
func (s *Service) Resolve(ctx context.Context, p Place, number int64, in ResolveInput) (string, error) {
	pull, err := s.Find(ctx, p, number)
	if err != nil {
		return "", err
	}
	g, err := s.open(ctx, p.Repo)
	if err != nil {
		return "", err
	}
	base, err := s.baseTip(ctx, g, pull)
	if err != nil {
		return "", err
	}
	if base != git.OID(in.Base) || pull.HeadSHA != in.Head {
		return "", conflict("The branches have moved since. Look at the conflicts again; what you put together is below.")
	}
	message := strings.TrimSpace(in.Message)
	if message == "" {
		message = "Merge branch '" + pull.BaseRef + "' into " + pull.HeadRef
	}
	return s.CommitToHead(ctx, p, number, HeadCommit{Head: in.Head, Message: message + "\n", Parents: []git.OID{base},
		Tree: func(ctx context.Context, g *git.Repository, head git.OID) (git.OID, error) {
			return s.resolved(ctx, g, head, base, in.Files)
		}})
}

func (s *Service) resolved(ctx context.Context, g *git.Repository, head, base git.OID, files []Resolution) (git.OID, error) {
	c, err := s.clashes(ctx, g, head, base)
	if err != nil {
		return "", err
	}
	how := map[string]Resolution{}
	for _, f := range files {
		how[f.Path] = f
	}
	fields := fault.Fields{}
	var changes []git.Change
	for i := range c.merged.Conflicts {
		k := &c.merged.Conflicts[i]
		r, ok := how[k.Path]
		if !ok {
			fields.Add(k.Path, "Say how this file is resolved.")
			continue
		}
		ch, problem, err := resolution(ctx, g, k, r)
		if err != nil {
			return "", err
		}
		if problem != "" {
			fields.Add(k.Path, problem)
			continue
		}
		changes = append(changes, ch)
	}
	if err := fields.Err(); err != nil {
		return "", err
	}
	return g.EditTree(ctx, c.merged.Tree, changes)
}

// resolution is the change that resolves a file, or what is wrong with it.
func resolution(ctx context.Context, g *git.Repository, k *git.Conflict, r Resolution) (git.Change, string, error) {
	side := func(e git.TreeEntry) (git.Change, string, error) {
		if e.OID == "" {
			return git.Change{Path: k.Path, Delete: true}, "", nil
		}
		return git.Change{Path: k.Path, OID: e.OID, Mode: e.Mode}, "", nil
	}
	switch r.How {
	case ResolveOurs:
		return side(k.Ours)
	case ResolveTheirs:
		return side(k.Theirs)
	case ResolveDelete:
		return git.Change{Path: k.Path, Delete: true}, "", nil
	case ResolveText:
	default:
		return git.Change{}, "Say how this file is resolved.", nil
	}
	if marked(r.Text) {
		return git.Change{}, "There are still marks of the conflict (<<<<<<<, =======, >>>>>>>) in the text.", nil
	}
	from := k.Ours
	if from.OID == "" {
		from = k.Theirs
	}
	old := ""
	if from.OID != "" {
		data, err := g.Blob(ctx, from.OID, maxClash)
		if err != nil {
			return git.Change{}, "", err
		}
		old = string(data)
	}
	text, err := git.EditText(old, r.Text)
	if err != nil {
		return git.Change{}, "The text holds characters that the file’s encoding lacks.", nil //nolint:nilerr // said to the person
	}
	oid, err := g.WriteBlob(ctx, strings.NewReader(text))
	return git.Change{Path: k.Path, OID: oid, Mode: from.Mode}, "", err
}

// marked says that a text holds the marks that git puts around conflicts.
func marked(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") {
			return true
		}
	}
	return false
}

// conflicted says that a pull request's conflicts can be resolved by the
// viewer.
func conflicted(p Place, pull *model.Pull) bool {
	return pull.Mergeable == model.MergeConflict && MayPush(p, pull)
}
