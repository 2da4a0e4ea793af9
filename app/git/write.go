package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WriteBlob stores what r holds as a file's content and is its id. No ref is
// touched: what nothing comes to refer to is pruned by Maintain, days later.
func (r *Repository) WriteBlob(ctx context.Context, content io.Reader) (OID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	size := int64(-1)
	if sized, ok := content.(interface{ Len() int }); ok {
		size = int64(sized.Len())
	}
	if size < 0 {
		// An object begins with its size, so it must be known first.
		spool, err := os.CreateTemp(filepath.Join(r.Path, "objects"), "tmp_obj_")
		if err != nil {
			return "", fmt.Errorf("write blob: %w", err)
		}
		defer os.Remove(spool.Name())
		defer spool.Close()
		if size, err = io.Copy(spool, content); err != nil {
			return "", fmt.Errorf("write blob: %w", err)
		}
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return "", fmt.Errorf("write blob: %w", err)
		}
		content = spool
	}
	return r.writeObject(TypeBlob, size, content)
}

func (r *Repository) writeObject(typ Type, size int64, content io.Reader) (OID, error) {
	raw, err := r.objects.Write(typ, size, content)
	if err != nil {
		return "", err
	}
	return oidFromRaw(raw), nil
}

// WriteTree stores a tree of these entries, in any order, and is its id.
func (r *Repository) WriteTree(ctx context.Context, entries []TreeEntry) (OID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b TreeEntry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	var b bytes.Buffer
	for i, e := range sorted {
		if err := checkEntry(e); err != nil {
			return "", fmt.Errorf("write tree: %w", err)
		}
		if i > 0 && sorted[i-1].Name == e.Name {
			return "", fmt.Errorf("write tree: %q is there twice", e.Name)
		}
		raw := e.OID.raw()
		if len(raw) != r.shared.format.rawLen() {
			return "", fmt.Errorf("write tree: %q has no object id", e.Name)
		}
		fmt.Fprintf(&b, "%o %s\x00%s", uint32(e.Mode), e.Name, raw)
	}
	return r.writeObject(TypeTree, int64(b.Len()), &b)
}

// sortKey is what git orders the entries of a tree by.
func sortKey(e TreeEntry) string {
	if e.IsTree() {
		return e.Name + "/"
	}
	return e.Name
}

func checkEntry(e TreeEntry) error {
	switch e.Mode {
	case ModeFile, ModeExecutable, ModeSymlink, ModeTree, ModeSubmodule:
	default:
		return fmt.Errorf("%q: mode %s", e.Name, e.Mode)
	}
	if !validEntryName(e.Name) {
		return fmt.Errorf("%q cannot be a file name", e.Name)
	}
	return nil
}

// validEntryName leaves out what git's fsck refuses, ".git" in the spellings
// that file systems of other machines take for it among it.
func validEntryName(name string) bool {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return false
	}
	lower := strings.ToLower(strings.TrimRight(name, ". "))
	if base, _, ok := strings.Cut(lower, ":"); ok {
		lower = strings.TrimRight(base, ". ")
	}
	if lower == ".git" || lower == "git~1" {
		return false
	}
	// HFS+ ignores these characters in names
	bare := strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, lower)
	return bare != ".git"
}

// CommitSpec is a commit to be written.
type CommitSpec struct {
	Tree      OID
	Parents   []OID
	Author    Person // UTF-8
	Committer Person
	// Message is UTF-8; it gets a line end when it has none.
	Message string
	// Sign, when set, makes the armoured signature over the commit's bytes.
	Sign func(payload []byte) (string, error)
}

// CommitTree stores a commit and is its id. No ref is touched.
func (r *Repository) CommitTree(ctx context.Context, spec CommitSpec) (OID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if !spec.Tree.Valid() || strings.IndexByte(spec.Message, 0) >= 0 {
		return "", errors.New("write commit: no tree, or a zero byte in the message")
	}
	var head strings.Builder
	head.WriteString("tree " + string(spec.Tree) + "\n")
	for _, p := range spec.Parents {
		if !p.Valid() {
			return "", fmt.Errorf("write commit: parent %q is no id", p)
		}
		head.WriteString("parent " + string(p) + "\n")
	}
	head.WriteString("author " + spec.Author.format() + "\ncommitter " + spec.Committer.format() + "\n")
	body := "\n" + withLineEnd(spec.Message)
	signature := ""
	if spec.Sign != nil {
		var err error
		if signature, err = spec.Sign([]byte(head.String() + body)); err != nil {
			return "", fmt.Errorf("sign commit: %w", err)
		}
		key := "gpgsig"
		if r.shared.format == SHA256 {
			key = "gpgsig-sha256"
		}
		signature = key + " " + strings.ReplaceAll(strings.TrimRight(signature, "\n"), "\n", "\n ") + "\n"
	}
	text := head.String() + signature + body
	return r.writeObject(TypeCommit, int64(len(text)), strings.NewReader(text))
}

func withLineEnd(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return s
}

// TagSpec is an annotated tag to be written.
type TagSpec struct {
	Name    string
	Object  OID
	Tagger  Person
	Message string
	// Sign, when set, makes the armoured signature over the tag's bytes.
	Sign func(payload []byte) (string, error)
}

// WriteTag stores an annotated tag and is its id. No ref is touched.
func (r *Repository) WriteTag(ctx context.Context, spec TagSpec) (OID, error) {
	if !ValidTagName(spec.Name) || strings.IndexByte(spec.Message, 0) >= 0 {
		return "", fmt.Errorf("write tag: name %q, or a zero byte in the message", spec.Name)
	}
	info, err := r.Info(ctx, spec.Object)
	if err != nil {
		return "", fmt.Errorf("write tag: %w", err)
	}
	text := fmt.Sprintf("object %s\ntype %s\ntag %s\ntagger %s\n\n%s",
		spec.Object, info.Type, spec.Name, spec.Tagger.format(), withLineEnd(spec.Message))
	if spec.Sign != nil {
		signature, err := spec.Sign([]byte(text))
		if err != nil {
			return "", fmt.Errorf("sign tag: %w", err)
		}
		text += withLineEnd(signature)
	}
	return r.writeObject(TypeTag, int64(len(text)), strings.NewReader(text))
}
