package accounts

import (
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	good := []string{"a", "ada", "Ada-Lovelace", "42", "x-1", strings.Repeat("a", 39), "gitforge", "administrat0r"}
	for _, name := range good {
		if why := CheckName(name); why != "" {
			t.Errorf("%q is refused: %s", name, why)
		}
	}
	bad := map[string]string{
		"":                      "Choose",
		strings.Repeat("a", 40): "39",
		"admin":                 "reserved", "API": "reserved", "new": "reserved", "Settings": "reserved", "about": "reserved", "www": "reserved",
		".well-known": ".", "-": "hyphen", "a/b": "slash", `a\b`: "slash", "..": "folder", ".": "folder", "a..b": "folder",
		"a\x00b": "NUL", "ada.": "dot", "ada.git": ".git", "ada.wiki": ".wiki", "ada.ATOM": ".atom", "favicon.ico": "“.”",
		"-ada": "begin", "ada-": "end", "a--b": "two hyphens", "a b": "spaces", " ada": "space", "ada\n": "space", "a_b": "“_”",
		"аda":           "U+0430", // Cyrillic a
		"ad\u200da":     "U+200D", // zero-width joiner
		"Ｃ":             "U+FF23", // full width
		"ada😀":          "U+1F600",
		"a\u202eb":      "U+202E",
		"a\xffb":        "valid text",
		"ada@home":      "“@”",
		"ada%2e":        "“%”",
		"a\x7f":         "control",
		"\u0441omputer": "U+0441",
	}
	for name, want := range bad {
		if why := CheckName(name); !strings.Contains(why, want) {
			t.Errorf("%q: %q, want something about %q", name, why, want)
		}
	}
}

func TestCheckEmail(t *testing.T) {
	t.Parallel()
	for _, email := range []string{"a@b", "ada@example.com", "ada+tag@example.co.uk", "ü@example.com", "a.b@sub.example.org"} {
		if why := CheckEmail(email); why != "" {
			t.Errorf("%q is refused: %s", email, why)
		}
	}
	for _, email := range []string{"", "ada", "@example.com", "ada@", "a b@example.com", "Ada <ada@example.com>", "a@b@c", "a@b\r\nBcc: x@y",
		"ada@.com", "ada@example.", strings.Repeat("a", 252) + "@b.c", "a@b,c@d"} {
		if CheckEmail(email) == "" {
			t.Errorf("%q is accepted", email)
		}
	}
}
