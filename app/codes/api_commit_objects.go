package codes

import (
	"net/http"
	"strings"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/web"
)

// GitCommit is GitHub's commit object as git has it
// (https://docs.github.com/rest/git/commits#get-a-commit-object).
type GitCommit struct {
	SHA          string       `json:"sha"`
	NodeID       string       `json:"node_id"`
	URL          string       `json:"url"`
	HTMLURL      string       `json:"html_url"`
	Author       Person       `json:"author"`
	Committer    Person       `json:"committer"`
	Tree         Pointer      `json:"tree"`
	Message      string       `json:"message"`
	Parents      []Pointer    `json:"parents"`
	Verification Verification `json:"verification"`
}

func (s *Service) gitCommit(c *web.Ctx, g *git.Repository, commit *git.Commit) (GitCommit, error) {
	sha := commit.OID.String()
	known, err := s.Signatures.Of(c.Context(), g, c.Repo.ID, commit)
	if err != nil {
		return GitCommit{}, err
	}
	v, err := verification(c.Context(), g, commit, known)
	return GitCommit{SHA: sha, NodeID: api.NodeID("Commit:"+sha, c.Repo.ID), URL: apiURL(c, "/git/commits/"+sha),
		HTMLURL: commitPage(c, commit.OID), Author: author(commit), Committer: committer(commit),
		Tree:    Pointer{SHA: commit.Tree.String(), URL: apiURL(c, "/git/trees/"+commit.Tree.String())},
		Message: strings.TrimRight(commit.Text(), "\n"), Parents: pointers(c, commit.Parents, "/git/commits/"), Verification: v}, err
}

func (s *Service) apiGitCommit(c *web.Ctx) error {
	oid, err := oidParam(c, "sha")
	if err != nil {
		return err
	}
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	commit, err := g.Commit(c.Context(), oid)
	if err != nil {
		return lost(err)
	}
	w, err := s.gitCommit(c, g, commit)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, w)
}

type commitInput struct {
	Message   *string      `json:"message"`
	Tree      string       `json:"tree"`
	Parents   []string     `json:"parents"`
	Author    *personInput `json:"author"`
	Committer *personInput `json:"committer"`
	Signature string       `json:"signature"`
}

// apiCreateCommit writes a commit object; no branch moves.
func (s *Service) apiCreateCommit(c *web.Ctx) error {
	var in commitInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	spec, err := s.commitSpec(c, g, &in)
	if err != nil {
		return err
	}
	oid, err := g.CommitTree(c.Context(), spec)
	if err != nil {
		return err
	}
	commit, err := g.Commit(c.Context(), oid)
	if err != nil {
		return err
	}
	w, err := s.gitCommit(c, g, commit)
	if err != nil {
		return err
	}
	c.W.Header().Set("Location", w.URL)
	return c.JSON(http.StatusCreated, w)
}

func (s *Service) commitSpec(c *web.Ctx, g *git.Repository, in *commitInput) (git.CommitSpec, error) {
	spec := git.CommitSpec{Sign: s.Sign}
	if in.Message == nil {
		return spec, fault.Field("message", "message wasn't supplied")
	}
	spec.Message = *in.Message
	tree, ok := git.ParseOID(in.Tree)
	if info, err := g.Info(c.Context(), tree); !ok || err != nil || info.Type != git.TypeTree {
		return spec, fault.New(fault.Invalid, "Tree SHA does not exist")
	}
	spec.Tree = tree
	for _, p := range in.Parents {
		parent, ok := git.ParseOID(p)
		if info, err := g.Info(c.Context(), parent); !ok || err != nil || info.Type != git.TypeCommit {
			return spec, fault.New(fault.Invalid, "Parent SHA does not exist or is not a commit object")
		}
		spec.Parents = append(spec.Parents, parent)
	}
	author, err := in.Author.person("author")
	if err != nil {
		return spec, err
	}
	committer, err := in.Committer.person("committer")
	if err != nil {
		return spec, err
	}
	spec.Author = s.or(c.Viewer, author)
	spec.Committer = spec.Author
	if committer != nil {
		spec.Committer = *committer
	}
	if committer != nil || author != nil {
		spec.Sign = nil
	}
	if in.Signature != "" {
		spec.Sign = func([]byte) (string, error) { return in.Signature, nil }
	}
	return spec, nil
}

// GitTag is GitHub's annotated tag (https://docs.github.com/rest/git/tags#get-a-tag).
type GitTag struct {
	NodeID       string       `json:"node_id"`
	Tag          string       `json:"tag"`
	SHA          string       `json:"sha"`
	URL          string       `json:"url"`
	Message      string       `json:"message"`
	Tagger       Person       `json:"tagger"`
	Object       RefObject    `json:"object"`
	Verification Verification `json:"verification"`
}

func (s *Service) gitTag(c *web.Ctx, t *git.Tag) (GitTag, error) {
	sha, kind := t.OID.String(), t.Type.String()
	w := GitTag{NodeID: api.NodeID("Tag:"+sha, c.Repo.ID), Tag: git.Display(t.Name), SHA: sha, URL: apiURL(c, "/git/tags/"+sha),
		Message: strings.TrimRight(t.Text(), "\n"), Tagger: person(t.Tagger),
		Object:       RefObject{Type: kind, SHA: t.Object.String(), URL: apiURL(c, "/git/"+kind+"s/"+t.Object.String())},
		Verification: Verification{Reason: "unsigned"}}
	if t.Signature == "" {
		return w, nil
	}
	found, err := s.Signatures.OfTag(c.Context(), c.Repo.ID, t)
	signature, payload := git.DecodeText(t.Signature), git.DecodeText(t.Payload)
	w.Verification = verified(found, signature, payload)
	return w, err
}

func (s *Service) apiGitTag(c *web.Ctx) error {
	oid, err := oidParam(c, "sha")
	if err != nil {
		return err
	}
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	tag, err := g.Tag(c.Context(), oid)
	if err != nil {
		return lost(err)
	}
	w, err := s.gitTag(c, tag)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, w)
}

type tagInput struct {
	Tag     string       `json:"tag"`
	Message string       `json:"message"`
	Object  string       `json:"object"`
	Type    string       `json:"type"`
	Tagger  *personInput `json:"tagger"`
}

// apiCreateTag writes a tag object; a ref to it is made apart.
func (s *Service) apiCreateTag(c *web.Ctx) error {
	var in tagInput
	if err := c.Decode(&in); err != nil {
		return err
	}
	if !git.ValidTagName(in.Tag) {
		return fault.Field("tag", "That cannot be the name of a tag.")
	}
	g, err := s.apiGit(c)
	if err != nil {
		return err
	}
	object, ok := git.ParseOID(in.Object)
	info, err := g.Info(c.Context(), object)
	if !ok || err != nil {
		return fault.Field("object", "Object does not exist")
	}
	if in.Type != "" && in.Type != info.Type.String() {
		return fault.Field("type", "The object is a "+info.Type.String()+".")
	}
	tagger, err := in.Tagger.person("tagger")
	if err != nil {
		return err
	}
	oid, err := g.WriteTag(c.Context(), git.TagSpec{Name: in.Tag, Object: object, Tagger: s.or(c.Viewer, tagger), Message: in.Message, Sign: s.signFor(tagger)})
	if err != nil {
		return err
	}
	tag, err := g.Tag(c.Context(), oid)
	if err != nil {
		return err
	}
	w, err := s.gitTag(c, tag)
	if err != nil {
		return err
	}
	c.W.Header().Set("Location", w.URL)
	return c.JSON(http.StatusCreated, w)
}
