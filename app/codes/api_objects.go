package codes

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/link"
)

// Tree is GitHub's tree (https://docs.github.com/rest/git/trees#get-a-tree).
type Tree struct {
	SHA       string      `json:"sha"`
	URL       string      `json:"url"`
	Tree      []TreeEntry `json:"tree"`
	Truncated bool        `json:"truncated"`
}

// TreeEntry is one entry of a tree.
type TreeEntry struct {
	Path string  `json:"path"`
	Mode string  `json:"mode"`
	Type string  `json:"type"`
	SHA  string  `json:"sha"`
	Size *int64  `json:"size,omitempty"`
	URL  *string `json:"url,omitempty"`
}

// maxTree is how many entries a recursive tree lists, as on GitHub.
const maxTree = 100_000

func (s *Service) apiTree(c *web.Ctx) error {
	defer c.Time("git")()
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	name := c.Param("*")
	oid, ok := git.ParseOID(name)
	if !ok {
		rev, err := g.ResolveRef(c.Context(), name)
		if err != nil {
			return lost(err)
		}
		oid = rev.OID
	}
	tree, err := g.TreeOf(c.Context(), oid)
	if err != nil {
		return lost(err)
	}
	w := Tree{SHA: tree.String(), URL: apiURL(c, "/git/trees/"+tree.String()), Tree: []TreeEntry{}}
	add := func(path string, e git.TreeEntry) error {
		if len(w.Tree) == maxTree {
			w.Truncated = true
			return git.ErrStop
		}
		entry, err := wireEntry(c, g, path, e)
		w.Tree = append(w.Tree, entry)
		return err
	}
	// As on GitHub, recursive is on with any value, 0 and false among them.
	if _, deep := c.R.URL.Query()["recursive"]; deep {
		if err := g.WalkTree(c.Context(), tree, add); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, w)
	}
	entries, err := g.Tree(c.Context(), tree)
	if err != nil {
		return lost(err)
	}
	for _, e := range entries {
		if err := add(e.Name, e); errors.Is(err, git.ErrStop) {
			break
		} else if err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, w)
}

func wireEntry(c *web.Ctx, g *git.Repository, path string, e git.TreeEntry) (TreeEntry, error) {
	w := TreeEntry{Path: git.Display(path), Mode: e.Mode.String(), SHA: e.OID.String(), Type: "blob"}
	address := apiURL(c, "/git/blobs/"+w.SHA)
	switch {
	case e.IsTree():
		w.Type, address = "tree", apiURL(c, "/git/trees/"+w.SHA)
	case e.IsSubmodule():
		w.Type = "commit"
		return w, nil
	default:
		info, err := g.Info(c.Context(), e.OID)
		if err != nil {
			return w, err
		}
		w.Size = &info.Size
	}
	w.URL = &address
	return w, nil
}

type treeInput struct {
	Base string `json:"base_tree"`
	Tree []struct {
		Path    string  `json:"path"`
		Mode    string  `json:"mode"`
		Type    string  `json:"type"`
		SHA     *string `json:"sha"`
		Content *string `json:"content"`
	} `json:"tree"`
}

// apiCreateTree writes a tree: the entries on top of another tree, or alone.
func (s *Service) apiCreateTree(c *web.Ctx) error {
	var in treeInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	base := g.EmptyTree()
	if in.Base != "" {
		oid, ok := git.ParseOID(in.Base)
		if !ok {
			return fault.Field("base_tree", "base_tree is not a valid tree oid")
		}
		if base, err = g.TreeOf(c.Context(), oid); err != nil {
			return fault.Wrap(fault.Invalid, "base_tree is not a valid tree oid", err)
		}
	}
	if len(in.Tree) == 0 {
		return fault.Field("tree", "Invalid tree info")
	}
	changes, err := in.changes(c, g)
	if err != nil {
		return err
	}
	tree, err := g.EditTree(c.Context(), base, changes)
	switch {
	case errors.Is(err, git.ErrNotFound):
		return fault.Wrap(fault.Invalid, "GitRPC::BadObjectState: a path to be deleted is not there", err)
	case errors.Is(err, git.ErrPathConflict):
		return fault.Field("tree", "A path is both a file and a folder.")
	case err != nil:
		return err
	}
	w := Tree{SHA: tree.String(), URL: apiURL(c, "/git/trees/"+tree.String()), Tree: []TreeEntry{}}
	entries, err := g.Tree(c.Context(), tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		entry, err := wireEntry(c, g, e.Name, e)
		if err != nil {
			return err
		}
		w.Tree = append(w.Tree, entry)
	}
	c.W.Header().Set("Location", w.URL)
	return c.JSON(http.StatusCreated, w)
}

// changes are the entries as changes of the base.
func (in *treeInput) changes(c *web.Ctx, g *git.Repository) ([]git.Change, error) {
	out := make([]git.Change, 0, len(in.Tree))
	for _, e := range in.Tree {
		if problem := CheckPath(e.Path); problem != "" {
			return nil, fault.Field("tree.path", problem)
		}
		change := git.Change{Path: e.Path}
		mode, ok := git.ParseMode(e.Mode)
		if !ok && e.Mode != "" {
			return nil, fault.Field("tree.mode", "Modes are 100644, 100755, 040000, 160000 and 120000.")
		}
		change.Mode = mode
		switch {
		case e.Content != nil:
			oid, err := g.WriteBlob(c.Context(), strings.NewReader(*e.Content))
			if err != nil {
				return nil, err
			}
			change.OID = oid
		case e.SHA == nil:
			change.Delete = true
		default:
			oid, ok := git.ParseOID(*e.SHA)
			if !ok {
				return nil, fault.Field("tree.sha", "tree.sha "+*e.SHA+" is not a valid blob")
			}
			if err := entryFits(c, g, oid, mode); err != nil {
				return nil, err
			}
			change.OID = oid
		}
		out = append(out, change)
	}
	return out, nil
}

// entryFits says whether the object is what its mode says.
func entryFits(c *web.Ctx, g *git.Repository, oid git.OID, mode git.Mode) error {
	want := git.TypeBlob
	switch mode.Kind() {
	case git.KindSubmodule:
		return nil
	case git.KindTree:
		want = git.TypeTree
	default:
	}
	info, err := g.Info(c.Context(), oid)
	if errors.Is(err, git.ErrNotFound) || err == nil && info.Type != want {
		return fault.Field("tree.sha", "tree.sha "+oid.String()+" is not a valid "+want.String())
	}
	return err
}

// Blob is GitHub's blob (https://docs.github.com/rest/git/blobs#get-a-blob).
type Blob struct {
	shortBlob

	NodeID   string `json:"node_id"`
	Size     int64  `json:"size"`
	Content  string `json:"content"`
	Encoding string `json:"encoding"`
}

type shortBlob struct {
	SHA string `json:"sha"`
	URL string `json:"url"`
}

func (s *Service) apiBlob(c *web.Ctx) error {
	oid, err := oidParam(c, "sha")
	if err != nil {
		return err
	}
	if media(c) == "raw" {
		return s.apiRaw(c, oid)
	}
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	data, err := g.Blob(c.Context(), oid, maxRaw)
	if errors.Is(err, git.ErrTooLarge) {
		return fault.Wrap(fault.Forbidden, "This API returns blobs up to 100 MB in size. Use git.", err)
	}
	if err != nil {
		return lost(err)
	}
	sha := oid.String()
	return c.JSON(http.StatusOK, Blob{shortBlob{sha, apiURL(c, "/git/blobs/"+sha)}, api.NodeID("Blob:"+sha, c.Repo.ID),
		int64(len(data)), wrapped(data), "base64"})
}

type blobInput struct {
	Content  *string `json:"content"`
	Encoding string  `json:"encoding"`
}

func (s *Service) apiCreateBlob(c *web.Ctx) error {
	var in blobInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if in.Content == nil {
		return fault.Field("content", "content wasn't supplied")
	}
	data := []byte(*in.Content)
	switch in.Encoding {
	case "", "utf-8", "utf8":
	case "base64":
		var err error
		if data, err = decode64(*in.Content); err != nil {
			return err
		}
	default:
		return fault.Field("encoding", "encoding is utf-8 or base64")
	}
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	oid, err := g.WriteBlob(c.Context(), bytes.NewReader(data))
	if err != nil {
		return err
	}
	w := shortBlob{oid.String(), apiURL(c, "/git/blobs/"+oid.String())}
	c.W.Header().Set("Location", w.URL)
	return c.JSON(http.StatusCreated, w)
}

// commitPage is the page of a commit, absolute.
func commitPage(c *web.Ctx, oid git.OID) string {
	return c.URL(link.Commit(c.Repo.Owner.Name, c.Repo.Name, oid.String()))
}
