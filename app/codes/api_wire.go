package codes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/signatures"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// Verification says whether a signature was found to be somebody's.
type Verification struct {
	Verified   bool    `json:"verified"`
	Reason     string  `json:"reason"`
	Signature  *string `json:"signature"`
	Payload    *string `json:"payload"`
	VerifiedAt *string `json:"verified_at"`
}

// Person is an author, committer or tagger as git has them.
type Person struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Date  string `json:"date"`
}

// Pointer names an object.
type Pointer struct {
	SHA     string `json:"sha"`
	URL     string `json:"url"`
	HTMLURL string `json:"html_url,omitempty"`
}

// CommitDetail is what git itself holds of a commit.
type CommitDetail struct {
	Author       Person       `json:"author"`
	Committer    Person       `json:"committer"`
	Message      string       `json:"message"`
	Tree         Pointer      `json:"tree"`
	URL          string       `json:"url"`
	CommentCount int          `json:"comment_count"`
	Verification Verification `json:"verification"`
}

// Commit is GitHub's commit object
// (https://docs.github.com/rest/commits/commits#get-a-commit).
type Commit struct {
	SHA         string        `json:"sha"`
	NodeID      string        `json:"node_id"`
	Commit      CommitDetail  `json:"commit"`
	URL         string        `json:"url"`
	HTMLURL     string        `json:"html_url"`
	CommentsURL string        `json:"comments_url"`
	Author      *api.User     `json:"author"`
	Committer   *api.User     `json:"committer"`
	Parents     []Pointer     `json:"parents"`
	Stats       *CommitStats  `json:"stats,omitempty"`
	Files       []ChangedFile `json:"files,omitempty"`
}

// CommitStats counts lines.
type CommitStats struct {
	Total     int `json:"total"`
	Additions int `json:"additions"`
	Deletions int `json:"deletions"`
}

// ChangedFile is GitHub's diff entry.
type ChangedFile struct {
	SHA         *string `json:"sha"`
	Filename    string  `json:"filename"`
	Status      string  `json:"status"`
	Additions   int     `json:"additions"`
	Deletions   int     `json:"deletions"`
	Changes     int     `json:"changes"`
	BlobURL     string  `json:"blob_url"`
	RawURL      string  `json:"raw_url"`
	ContentsURL string  `json:"contents_url"`
	Patch       *string `json:"patch,omitempty"`
	Previous    string  `json:"previous_filename,omitempty"`
}

func person(p git.Person) Person {
	return Person{git.DecodeText(p.Name), git.DecodeText(p.Email), api.Time(p.When)}
}

// emails are the addresses in commits, for finding accounts.
func emails(commits []*git.Commit) []string {
	out := make([]string, 0, 2*len(commits))
	for _, c := range commits {
		out = append(out, git.DecodeText(c.Author.Email))
		if c.Committer.Email != c.Author.Email {
			out = append(out, git.DecodeText(c.Committer.Email))
		}
	}
	return out
}

// WireCommits are commits of c's repository as the API shows them; it costs
// one query.
func (s *Service) WireCommits(c *web.Ctx, g *git.Repository, commits []*git.Commit) ([]Commit, error) {
	people, err := s.accounts(c.Context(), emails(commits))
	if err != nil {
		return nil, err
	}
	known, err := s.Signatures.Of(c.Context(), g, c.Repo.ID, commits...)
	if err != nil {
		return nil, err
	}
	out := make([]Commit, len(commits))
	for i, commit := range commits {
		if out[i], err = s.wireCommit(c, g, commit, people, known); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Service) wireCommit(c *web.Ctx, g *git.Repository, commit *git.Commit, people map[string]*model.Account, known map[git.OID]signatures.Result) (Commit, error) {
	o, n, sha := c.Repo.Owner.Name, c.Repo.Name, commit.OID.String()
	v, err := verification(c.Context(), g, commit, known)
	if err != nil {
		return Commit{}, err
	}
	return Commit{SHA: sha, NodeID: api.NodeID("Commit:"+sha, c.Repo.ID),
		Commit: CommitDetail{Author: author(commit), Committer: committer(commit), Message: strings.TrimRight(commit.Text(), "\n"),
			Tree: Pointer{SHA: commit.Tree.String(), URL: apiURL(c, "/git/trees/"+commit.Tree.String())},
			URL:  apiURL(c, "/git/commits/"+sha), Verification: v},
		URL: apiURL(c, "/commits/"+sha), HTMLURL: c.URL(link.Commit(o, n, sha)), CommentsURL: apiURL(c, "/commits/"+sha+"/comments"),
		Author:    api.UserRef(c, people[model.Key(git.DecodeText(commit.Author.Email))]),
		Committer: api.UserRef(c, people[model.Key(git.DecodeText(commit.Committer.Email))]),
		Parents:   pointers(c, commit.Parents, "/commits/")}, nil
}

// author and committer have their names in the commit's own encoding.
func author(c *git.Commit) Person {
	p := person(c.Author)
	p.Name = c.AuthorName()
	return p
}

func committer(c *git.Commit) Person {
	p := person(c.Committer)
	p.Name = c.CommitterName()
	return p
}

func pointers(c *web.Ctx, oids []git.OID, base string) []Pointer {
	out := make([]Pointer, len(oids))
	for i, p := range oids {
		out[i] = Pointer{p.String(), apiURL(c, base+p.String()), c.URL(link.Commit(c.Repo.Owner.Name, c.Repo.Name, p.String()))}
	}
	return out
}

// verification tells of a commit's signature.
func verification(ctx context.Context, g *git.Repository, commit *git.Commit, known map[git.OID]signatures.Result) (Verification, error) {
	if commit.Signature == "" {
		return Verification{Reason: "unsigned"}, nil
	}
	payload, signature, err := g.SignedCommit(ctx, commit.OID)
	payload = git.DecodeText(payload)
	return verified(known[commit.OID], signature, payload), err
}

func verified(r signatures.Result, signature, payload string) Verification {
	v := Verification{Verified: r.Verified, Reason: r.Reason, Signature: &signature, Payload: &payload}
	if r.Verified {
		at := api.Time(r.At)
		v.VerifiedAt = &at
	}
	return v
}

// changedFile is one file of a diff; rev is the revision by which its contents
// are addressed.
func changedFile(c *web.Ctx, f *git.DiffFile, rev git.OID) ChangedFile {
	o, n := c.Repo.Owner.Name, c.Repo.Name
	w := ChangedFile{Filename: git.Display(f.Name()), Status: f.Status.String(), Additions: f.Additions, Deletions: f.Deletions,
		Changes: f.Additions + f.Deletions}
	if f.Status == git.StatusTypeChanged {
		w.Status = "changed"
	}
	oid := f.NewOID
	if f.Status == git.StatusDeleted {
		oid = f.OldOID
	}
	if !oid.IsZero() {
		sha := oid.String()
		w.SHA = &sha
	}
	if f.OldName != f.NewName {
		w.Previous = git.Display(f.OldName)
	}
	w.BlobURL, w.RawURL = c.URL(link.Blob(o, n, rev.String(), f.Name())), c.URL(link.Raw(o, n, rev.String(), f.Name()))
	w.ContentsURL = apiURL(c, "/contents/"+link.Path(f.Name())+"?ref="+rev.String())
	if len(f.Hunks) > 0 && !f.Truncated {
		patch := patchOf(f)
		w.Patch = &patch
	}
	return w
}

// patchOf is the hunks of a file as git writes them, without the file's head.
func patchOf(f *git.DiffFile) string {
	var b strings.Builder
	for i := range f.Hunks {
		h := &f.Hunks[i]
		b.WriteString("@@ -" + span(h.OldStart, h.OldLines) + " +" + span(h.NewStart, h.NewLines) + " @@")
		if h.Section != "" {
			b.WriteString(" " + git.DecodeText(h.Section))
		}
		b.WriteByte('\n')
		for j := range h.Lines {
			l := &h.Lines[j]
			b.WriteByte(byte(l.Kind))
			b.WriteString(git.DecodeText(l.Text))
			b.WriteByte('\n')
			if l.NoNewline {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func span(start, lines int) string {
	if lines == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

// timeParam reads a time in a query (RFC 3339, or a day); zero when it is
// absent or none.
func timeParam(c *web.Ctx, name string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02"} {
		if t, err := time.Parse(layout, strings.ReplaceAll(c.Query(name), " ", "+")); err == nil {
			return t
		}
	}
	return time.Time{}
}
