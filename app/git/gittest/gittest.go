// Package gittest makes real repositories for tests: fixed authors and times,
// so that ids are the same in every run.
package gittest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Repo is a bare repository that is filled with real git.
type Repo struct {
	tb   testing.TB
	Path string
	tick int64
}

// epoch is the time of the first commit, in seconds; each later one is a
// minute younger.
const epoch = 1_700_000_000

// New makes an empty bare repository in a folder of its own.
func New(tb testing.TB, initOptions ...string) *Repo {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "repo.git")
	r := &Repo{tb: tb, Path: path}
	cmd := exec.Command("git", append([]string{"init", "-q", "--bare", "--template=", "-b", "main"}, append(initOptions, path)...)...)
	cmd.Env = r.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("git init: %v: %s", err, out)
	}
	return r
}

// At is the repository that lies at path already.
func At(tb testing.TB, path string) *Repo { return &Repo{tb: tb, Path: path} }

func (r *Repo) env() []string {
	when := strconv.FormatInt(epoch+60*r.tick, 10) + " +0100"
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.Path, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=Ada Author", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=Carl Committer", "GIT_COMMITTER_EMAIL=carl@example.org", "GIT_COMMITTER_DATE=" + when,
	}
}

// Git runs git on the repository and is what it printed, without the last
// line end.
func (r *Repo) Git(args ...string) string {
	r.tb.Helper()
	return r.GitIn(nil, args...)
}

// GitIn is Git with an input.
func (r *Repo) GitIn(stdin []byte, args ...string) string {
	r.tb.Helper()
	cmd := exec.Command("git", append([]string{"--git-dir=" + r.Path}, args...)...)
	cmd.Env = r.env()
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		r.tb.Fatalf("git %q: %v: %s", args, err, errOut.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// File is one file of a commit. Mode is 0 for a plain file; Delete removes it.
type File struct {
	Path    string
	Content string
	Mode    string // octal; "120000" a link, "160000" a submodule (Content is the id)
	Delete  bool
}

// Commit describes one commit.
type Commit struct {
	Branch  string // "main" when empty; moved to the commit
	Parents []string
	Message string
	Files   []File // over those of the first parent
	Author  string // "Name <email>", when not the usual one
	// NoParent makes a root commit though the branch exists.
	NoParent bool
}

// Commit writes one commit and is its id. Without Parents it follows the branch.
func (r *Repo) Commit(c Commit) string {
	r.tb.Helper()
	return r.Commits(c)[0]
}

// Commits writes many commits with one run of git and is their ids.
func (r *Repo) Commits(commits ...Commit) []string {
	r.tb.Helper()
	var in bytes.Buffer
	known := map[string]bool{}
	for i, c := range commits {
		if c.Branch == "" {
			c.Branch = "main"
		}
		ref := "refs/heads/" + c.Branch
		parents := c.Parents
		if len(parents) == 0 && !c.NoParent && !known[ref] {
			if tip := r.tip(ref); tip != "" {
				parents = []string{tip}
			}
		}
		if c.NoParent {
			in.WriteString("reset " + ref + "\n\n")
		}
		r.write(&in, i+1, ref, c, parents)
		known[ref] = true
		r.tick++
	}
	marks := filepath.Join(r.tb.TempDir(), "marks")
	r.GitIn(in.Bytes(), "fast-import", "--quiet", "--force", "--date-format=raw", "--export-marks="+marks)
	text, err := os.ReadFile(marks)
	if err != nil {
		r.tb.Fatal(err)
	}
	ids := make([]string, len(commits))
	for line := range strings.Lines(string(text)) {
		mark, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(strings.TrimPrefix(mark, ":"))
		if err != nil {
			r.tb.Fatal(err)
		}
		ids[n-1] = id
	}
	return ids
}

func (r *Repo) tip(ref string) string {
	cmd := exec.Command("git", "--git-dir="+r.Path, "rev-parse", "-q", "--verify", ref)
	cmd.Env = r.env()
	out, _ := cmd.Output() // no such ref is no output
	return strings.TrimSpace(string(out))
}

// write adds one commit to a stream for fast-import.
func (r *Repo) write(in *bytes.Buffer, mark int, ref string, c Commit, parents []string) {
	when := strconv.FormatInt(epoch+60*r.tick, 10) + " +0100"
	author := c.Author
	if author == "" {
		author = "Ada Author <ada@example.org>"
	}
	message := c.Message
	if message == "" {
		message = "change " + strconv.FormatInt(r.tick, 10) + "\n"
	}
	in.WriteString("commit " + ref + "\nmark :" + strconv.Itoa(mark) + "\n")
	in.WriteString("author " + author + " " + when + "\ncommitter Carl Committer <carl@example.org> " + when + "\n")
	data(in, message)
	for i, p := range parents {
		if i == 0 {
			in.WriteString("from " + p + "\n")
		} else {
			in.WriteString("merge " + p + "\n")
		}
	}
	for _, f := range c.Files {
		switch {
		case f.Delete:
			in.WriteString("D " + quote(f.Path) + "\n")
		case f.Mode == "160000":
			in.WriteString("M 160000 " + f.Content + " " + quote(f.Path) + "\n")
		default:
			mode := f.Mode
			if mode == "" {
				mode = "100644"
			}
			in.WriteString("M " + mode + " inline " + quote(f.Path) + "\n")
			data(in, f.Content)
		}
	}
	in.WriteString("\n")
}

func data(in *bytes.Buffer, s string) {
	in.WriteString("data " + strconv.Itoa(len(s)) + "\n" + s + "\n")
}

// quote writes a path as fast-import reads it whatever its bytes.
func quote(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			b.WriteString(`\` + strconv.FormatUint(uint64(c)+0o1000, 8)[1:])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Text is a file with content.
func Text(path, content string) File { return File{Path: path, Content: content} }

// Link is a symbolic link to target.
func Link(path, target string) File { return File{Path: path, Content: target, Mode: "120000"} }

// Submodule is a commit of another repository at path.
func Submodule(path, id string) File { return File{Path: path, Content: id, Mode: "160000"} }

// Delete removes path.
func Delete(path string) File { return File{Path: path, Delete: true} }

// OddNames are file names that have broken forges before.
func OddNames() []string {
	return []string{
		"\rbroken", "hello%mother.txt", "non≈ascii.txt", "test - 副本.txt", "latin-\xff.txt",
		"trailing ", "-leading", "new\nline", `a"b`, `back\slash`, "tab\there",
		strings.Repeat("n", 255), "Readme.md", "README.md", "a?b#c&d=e", "e\u0301.txt", "é.txt", ":(glob)*", "*",
	}
}
