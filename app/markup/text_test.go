package markup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTitle(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":                        "plain",
		"a `b <c>` d":                  "a <code>b &lt;c&gt;</code> d",
		"``a ` b`` `c":                 "<code>a ` b</code> `c",
		"`` ` ``":                      "<code>`</code>",
		"<script>alert(1)</script>":    "&lt;script&gt;alert(1)&lt;/script&gt;",
		"*not* [a](b) #1":              "*not* [a](b) #1",
		":tada: 10:30 a:bx:c `:tada:`": "🎉 10:30 a:bx:c <code>:tada:</code>",
		"a\n\tb\x00":                   "a b\uFFFD",
		`"q" & 'r'`:                    "&#34;q&#34; &amp; &#39;r&#39;",
		"`":                            "`",
	} {
		if got := string(Title(in)); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	in := "# Hi :tada:\n\nSome *text* with `code`, [a link](https://e.com) and ![alt](x.png).\n\n- [ ] one\n- two\n\n<!-- hidden -->\n\n```go\nx := 1\n```\n\n| a | b |\n|---|---|\n| c | d |\n"
	want := "Hi 🎉 Some text with code, a link and alt. one two x := 1 a b c d"
	if got := PlainText(in, 0); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := PlainText(in, 20); got != "Hi 🎉 Some text…" {
		t.Errorf("shortened to %q", got)
	}
	long := PlainText(strings.Repeat("ü", 1_000_000), 100)
	if utf8.RuneCountInString(long) != 100 || !utf8.ValidString(long) {
		t.Errorf("a long word is %d characters", utf8.RuneCountInString(long))
	}
}

func TestExtract(t *testing.T) {
	t.Parallel()
	in := "@Ann @ann @acme/core `@no` #1 a/b#2 <!-- @hidden #9 --> [@linked](x)\n\n> @quoted\n\n```\n@code #8\n```\nmail@example.com abc1234\n"
	if got, want := Mentions(in), []string{"ann", "acme/core", "quoted"}; !slices.Equal(got, want) {
		t.Errorf("mentions %q, want %q", got, want)
	}
	if got, want := References(in), []Ref{{"", "", 1}, {"a", "b", 2}}; !slices.Equal(got, want) {
		t.Errorf("references %v, want %v", got, want)
	}
	found := New(Config{}).Extract(in, Options{Mode: Comment, Owner: "O", Repo: "R"})
	if !slices.Equal(found.Threads, []Ref{{"o", "r", 1}, {"a", "b", 2}}) || !slices.Equal(found.Commits, []Commit{{"o", "r", "abc1234"}}) {
		t.Errorf("found %+v", found)
	}
}

func TestClosingReferences(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved", "Fixes", "CLOSES", "fix:", "Resolves:"} {
		if got := ClosingReferences("This " + word + " #7."); !slices.Equal(got, []Ref{{"", "", 7}}) {
			t.Errorf("%q closes %v", word, got)
		}
	}
	for in, want := range map[string]string{
		"fixes #1, #2 and closes a/b#3":        "[{  1} {a b 3}]",
		"fixes\n#1":                            "[]",
		"fixes GH-4":                           "[{  4}]",
		"prefix #1 unfixed #2 fixing #3":       "[]",
		"fixes `#1` and `fixes #2`":            "[]",
		"fixes: the bug #1":                    "[]",
		"hot-fix #1":                           "[]",
		"fixes#1":                              "[]",
		"fixes http://forge.test/o/r/issues/5": "[{o r 5}]",
		"<!-- fixes #1 -->":                    "[]",
	} {
		r := New(Config{SiteURL: "http://forge.test"})
		got := r.Extract(in, Options{Mode: Comment}).Closes
		if got == nil {
			got = []Ref{}
		}
		if s := fmt.Sprint(got); s != want {
			t.Errorf("%q closes %s, want %s", in, s, want)
		}
	}
}

const tasks = "- [ ] one\r\n- [x] two `c`\r\n\r\n  text\r\n  1. [X] th*re*e\r\n> * [ ] quoted :tada:\r\n\r\n```\r\n- [ ] code\r\n```\r\n\t- [ ] indented code\r\n\n-\t[ ] tab\n"

func TestTaskList(t *testing.T) {
	t.Parallel()
	want := []string{"0 false one", "1 true two c", "2 true three", "3 false quoted 🎉", "4 false tab"}
	var got []string
	for _, k := range TaskList(tasks) {
		got = append(got, fmt.Sprintf("%d %t %s", k.Index, k.Checked, k.Text))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestToggle(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		index    int
		checked  bool
		expected string
		old, new string
	}{
		{0, true, "one", "[ ] one", "[x] one"},
		{0, true, "", "[ ] one", "[x] one"},
		{1, false, "two c", "[x] two", "[ ] two"},
		{1, false, "two `c`", "[x] two", "[ ] two"},
		{2, false, "three", "[X] th", "[ ] th"},
		{0, true, "quoted 🎉", "[ ] quoted", "[x] quoted"}, // moved
		{4, true, "tab", "[ ] tab", "[x] tab"},
		{0, false, "one", "[ ] one", "[ ] one"},
	} {
		got, err := Toggle(tasks, tc.index, tc.checked, tc.expected)
		if want := strings.Replace(tasks, tc.old, tc.new, 1); err != nil || got != want {
			t.Errorf("%+v: %v\n got %q\nwant %q", tc, err, got, want)
		}
	}
	for _, bad := range []struct {
		index    int
		expected string
	}{{-1, ""}, {5, ""}, {0, "gone"}, {0, "code"}} {
		if got, err := Toggle(tasks, bad.index, true, bad.expected); !errors.Is(err, ErrTask) || got != "" {
			t.Errorf("%+v: %q, %v", bad, got, err)
		}
	}
	if _, err := Toggle("- [ ] a\n- [ ] a\n- [ ] b\n", 2, true, "a"); !errors.Is(err, ErrTask) {
		t.Errorf("one of two equal items was chosen: %v", err)
	}
}

func FuzzToggle(f *testing.F) {
	for _, s := range []string{tasks, "", "- [ ] a", "* [x] \xff\n+ [ ] b", "1. - [ ] x\n\n   [x] y", ">- [ ] q\n> - [ ] r", "- [ ]\ta", "-   [ ] a\n\n\t\t[ ] b", "[^1]: - [ ] a\n\nx[^1]\n- [ ] b"} {
		f.Add(s, 0, true)
		f.Add(s, 1, false)
	}
	f.Fuzz(func(t *testing.T, text string, index int, checked bool) {
		before := TaskList(text)
		got, err := Toggle(text, index, checked, "")
		if err != nil {
			if index >= 0 && index < len(before) {
				t.Errorf("item %d of %d in %q: %v", index, len(before), text, err)
			}
			return
		}
		if len(got) != len(text) {
			t.Fatalf("length changed from %d to %d", len(text), len(got))
		}
		diff := 0
		for i := range text {
			if text[i] != got[i] {
				diff++
			}
		}
		after := TaskList(got)
		if diff > 1 || len(after) != len(before) {
			t.Fatalf("%d bytes changed, %d items became %d: %q", diff, len(before), len(after), text)
		}
		for i := range after {
			want := before[i].Checked
			if i == index {
				want = checked
			}
			if after[i].Checked != want {
				t.Errorf("item %d is %t in %q", i, after[i].Checked, got)
			}
		}
	})
}
