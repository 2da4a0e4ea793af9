package app_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rules of the tree's order, see doc/layout.md: which package may import
// which, and what a file may import by its name.

const module = "github.com/gitfor/gitfor/"

// ranks is the arrow cmd → jobs → app → views → db: a package imports only
// what has a lower rank, or its own tree. static holds embedded files.
var ranks = map[string]int{"scripts": 6, "cmd": 5, "jobs": 4, "app": 3, "views": 2, "static": 1, "db": 1}

// The levels inside app. A feature imports only lower floors; kit and ground
// may also import their own floor (Go forbids the cycles).
const (
	kit = iota
	ground
	work
	across
	root
	unknown
)

var floors = [...]string{
	kit:    "fault web api mcp git blob mail markup highlight diffs secret outbound live",
	ground: "signatures accounts limits audit auth oauth perms repos events threads alarms statuses protection instance",
	work: "drafts attachments activities transport upkeep intake lfs deploykeys mirrors issues pulls reviews codes ci runners releases packages discussions docs sites chat " +
		"projects settings statuses protection access orgs",
	across: "activity involvement mergequeue agents search explore state notifications replies webhooks security billing admin",
	root:   "apptest",
}

func floorOf(feature string) int {
	for floor, names := range floors {
		if slices.Contains(strings.Fields(names), feature) {
			return floor
		}
	}
	return unknown
}

// edges are the imports that are allowed inside the floors work and across.
var edges = []string{"discussions→issues", "issues→attachments", "orgs→access", "pulls→issues", "reviews→pulls", "runners→ci", "transport→lfs", "involvement→state", "admin→state"}

// sourceFile is one hand-written Go file.
type sourceFile struct {
	name    string // from the module's root, with slashes
	dir     string
	pkg     string
	test    bool
	imports []*ast.ImportSpec
	ast     *ast.File
	fset    *token.FileSet
}

func (f *sourceFile) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.name, f.fset.Position(n.Pos()).Line)
}

func (f *sourceFile) paths() []string {
	var list []string
	for _, spec := range f.imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// walk calls fn with every file of the project, by its name from the root.
func walk(t *testing.T, fn func(name string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			base := d.Name()
			if name != ".." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "testdata" || base == "vendor" || base == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			fn(strings.TrimPrefix(name, "../"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func generated(name string) bool {
	return strings.HasSuffix(name, "_templ.go") || strings.HasSuffix(name, ".built.css")
}

func sources(t *testing.T) []*sourceFile {
	t.Helper()
	var files []*sourceFile
	walk(t, func(name string) {
		if path.Ext(name) != ".go" {
			return
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, filepath.Join("..", name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, &sourceFile{
			name: name, dir: path.Dir(name), pkg: parsed.Name.Name,
			test:    strings.HasSuffix(name, "_test.go") || testOnly(path.Dir(name)),
			imports: parsed.Imports, ast: parsed, fset: fset,
		})
	})
	if len(files) < 20 {
		t.Fatalf("found only %d files", len(files))
	}
	return files
}

// testOnly packages are imported by tests alone and may reach further.
func testOnly(dir string) bool {
	base := path.Base(dir)
	return dir == "app/apptest/browser" || base == "dbtest" || base == "gittest" || base == "apptest" || base == "webtest"
}

func TestArrow(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		for _, imported := range f.paths() {
			to, own := strings.CutPrefix(imported, module)
			if !own {
				continue
			}
			if !f.test && !testOnly(f.dir) && testOnly(to) {
				t.Errorf("%s imports %s, which is for tests", f.name, to)
			}
			if f.test {
				continue
			}
			if broken := arrow(f.dir, to); broken != "" {
				t.Errorf("%s imports %s: %s", f.name, to, broken)
			}
		}
	}
}

// arrow says what is wrong with an import, "" for nothing.
func arrow(from, to string) string {
	fromTop, fromRest := cut(from)
	toTop, toRest := cut(to)
	fromRank, ok := ranks[fromTop]
	if !ok {
		return fmt.Sprintf("%q has no place in the order, see ranks", fromTop)
	}
	toRank, ok := ranks[toTop]
	switch {
	case !ok:
		return fmt.Sprintf("%q has no place in the order, see ranks", toTop)
	case fromTop != toTop && fromRank <= toRank:
		return "the arrow is cmd → jobs → app → views → db"
	case fromTop == "views" && toTop == "db" && toRest != "model":
		return "views know records (db/model) only, not queries"
	case fromTop == "db" && toTop == "db" && queries(fromRest) && queries(toRest) && fromRest != toRest && toRest != "threaddb":
		return "query packages do not import one another (but threaddb, which several nouns build on)"
	case fromTop == "app" && toTop == "app":
		return floor(fromRest, toRest)
	case fromTop == "app" && toTop == "db" && fromRest != "":
		feature, _ := cut(fromRest)
		if floorOf(feature) == kit && toRest != "" && toRest != "model" {
			return "kit packages know no domain noun, so no queries"
		}
	}
	return ""
}

func cut(p string) (first, rest string) {
	first, rest, _ = strings.Cut(p, "/")
	return first, rest
}

// queries says whether a package below db is one of a feature's queries.
func queries(rest string) bool { return strings.HasSuffix(rest, "db") }

// floor checks an import inside app.
func floor(from, to string) string {
	fromFeature, _ := cut(from)
	toFeature, _ := cut(to)
	if fromFeature == "" || fromFeature == toFeature {
		return ""
	}
	if toFeature == "" {
		return "features do not know the root that wires them"
	}
	a, b := floorOf(fromFeature), floorOf(toFeature)
	switch {
	case a == unknown:
		return fmt.Sprintf("app/%s has no floor, see floors", fromFeature)
	case b == unknown:
		return fmt.Sprintf("app/%s has no floor, see floors", toFeature)
	case a > b, a == b && a <= ground:
		return ""
	case a == b && slices.Contains(edges, fromFeature+"→"+toFeature):
		return ""
	case a == b:
		return "both are on one floor: go down by a query or up by an event"
	}
	return "a feature imports only floors below its own"
}

// TestDoors keeps protocol and pages in the files that are named after them.
// Addresses (views/link) are wanted in mails and messages too.
func TestDoors(t *testing.T) {
	t.Parallel()
	door := regexp.MustCompile(`^(http|api|mcp|mail)[a-z0-9_]*\.go$`)
	for _, f := range sources(t) {
		feature, in := strings.CutPrefix(f.dir, "app/")
		feature, _ = cut(feature)
		if !in || f.test || floorOf(feature) == kit || door.MatchString(path.Base(f.name)) {
			continue
		}
		for _, p := range f.paths() {
			own := strings.TrimPrefix(p, module)
			switch {
			case p == "net/http", own == "app/web", own == "app/api", own == "app/mcp", strings.HasPrefix(own, "views/") && own != "views/link":
				t.Errorf("%s imports %s: only http*.go, api*.go, mcp*.go and mail*.go do", f.name, own)
			}
		}
	}
}

// TestStatementsInDB keeps SQL and the query builder below db.
func TestStatementsInDB(t *testing.T) {
	t.Parallel()
	statement := regexp.MustCompile(`(?is)^\s*(select\s.+\sfrom\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\()`)
	for _, f := range sources(t) {
		top, _ := cut(f.dir)
		if f.test || top == "db" {
			continue
		}
		for _, p := range f.paths() {
			if strings.HasPrefix(p, "github.com/uptrace/bun") {
				t.Errorf("%s imports %s: statements are made below db", f.name, p)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil && statement.MatchString(s) {
					t.Errorf("%s has an SQL statement: those are below db", f.at(lit))
				}
			}
			return true
		})
	}
}

// TestNames keeps package names telling and unlike each other, so that none
// needs an alias.
func TestNames(t *testing.T) {
	t.Parallel()
	forbidden := regexp.MustCompile(`^(utils?|common|helpers?|types|shared|managers?|base|misc|lib)$`)
	places := map[string]string{}
	for _, f := range sources(t) {
		for _, part := range append(strings.Split(f.dir, "/"), f.pkg) {
			if forbidden.MatchString(part) {
				t.Errorf("%s: %q says nothing about what is in it", f.name, part)
			}
		}
		name := strings.TrimSuffix(f.pkg, "_test")
		if name != "main" {
			if other, ok := places[name]; ok && other != f.dir {
				t.Errorf("%s: package %s is also in %s", f.dir, name, other)
			}
			places[name] = f.dir
		}
		for _, spec := range f.imports {
			if spec.Name != nil && spec.Name.Name != "_" && strings.HasPrefix(strings.Trim(spec.Path.Value, `"`), module) {
				t.Errorf("%s renames an import of our own", f.at(spec))
			}
		}
	}
}

// maxLines is the length at which a file wants to become two.
const maxLines = 600

func TestFileLength(t *testing.T) {
	t.Parallel()
	walk(t, func(name string) {
		switch path.Ext(name) {
		case ".go", ".templ", ".js", ".mjs", ".css", ".sql":
		default:
			return
		}
		if generated(name) {
			return
		}
		b, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
			return
		}
		if n := bytes.Count(b, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines, at most %d: split it by its nouns", name, n, maxLines)
		}
	})
}

// TestRules tries the rules themselves.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"cmd/gitfor", "app", true},
		{"app", "cmd/gitfor", false},
		{"jobs", "app/issues", true},
		{"app/issues", "jobs", false},
		{"app/issues", "views/issueview", true},
		{"views/issueview", "app/issues", false},
		{"views/issueview", "db/model", true},
		{"views/issueview", "db/issuedb", false},
		{"db/issuedb", "db/model", true},
		{"db/issuedb", "db/accountdb", false},
		{"db/issuedb", "db/threaddb", true},
		{"db", "static", false},
		{"app/web", "app/fault", true},
		{"app/web", "app/issues", false},
		{"app/web", "db/issuedb", false},
		{"app/issues", "app", false},
		{"app/pulls", "app/issues", true},
		{"app/issues", "app/pulls", false},
		{"app/webhooks", "app/issues", true},
		{"app/issues", "app/webhooks", false},
		{"app/webhooks", "app/search", false},
		{"app/perms", "app/accounts", true},
		{"app/git", "app/git/odb", true},
		{"app", "app/issues", true},
		{"app/nosuch", "app/fault", false},
		{"nosuch", "db", false},
	} {
		if got := arrow(c.from, c.to); (got == "") != c.ok {
			t.Errorf("%s → %s: %q", c.from, c.to, got)
		}
	}
}
