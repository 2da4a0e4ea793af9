package git

import (
	"context"
	"errors"
	"strings"
)

// Submodule is an entry of .gitmodules (gitmodules(5)).
type Submodule struct {
	Name string
	Path string
	// URL is as written: it may be relative to the repository's own address.
	URL    string
	Branch string
}

// maxModules is the largest .gitmodules file that is read, in bytes.
const maxModules = 1 << 20

// Submodules is what .gitmodules in the root of rev says, by path. A missing
// file is none.
func (r *Repository) Submodules(ctx context.Context, rev OID) (map[string]Submodule, error) {
	data, _, err := r.BlobAt(ctx, rev, ".gitmodules", maxModules)
	switch {
	case errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrWrongType):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return parseModules(string(data)), nil
}

// parseModules reads git's configuration format as far as .gitmodules uses it;
// what it does not understand it leaves out.
func parseModules(text string) map[string]Submodule {
	modules := make(map[string]Submodule)
	var current *Submodule
	keep := func() {
		if current != nil && current.Path != "" {
			modules[current.Path] = *current
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			keep()
			current = nil
			if rest, ok := strings.CutPrefix(line, "[submodule \""); ok {
				if name, _, ok := configQuoted(rest); ok {
					current = &Submodule{Name: name}
				}
			}
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if current == nil {
			continue
		}
		value = configValue(strings.TrimSpace(value))
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "path":
			current.Path = strings.Trim(value, "/")
		case "url":
			current.URL = value
		case "branch":
			current.Branch = value
		}
	}
	keep()
	return modules
}

// configQuoted reads up to the closing quote.
func configQuoted(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			i++
			if i == len(s) {
				return "", "", false
			}
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

// configValue takes quotes and a trailing comment off a value.
func configValue(s string) string {
	var b strings.Builder
	for s != "" {
		switch s[0] {
		case '"':
			value, rest, ok := configQuoted(s[1:])
			if !ok {
				return b.String()
			}
			b.WriteString(value)
			s = rest
		case '#', ';':
			// inside an address a sign is no comment unless a space precedes it
			if t := b.String(); t == "" || strings.HasSuffix(t, " ") || strings.HasSuffix(t, "\t") {
				return strings.TrimRight(t, " \t")
			}
			b.WriteByte(s[0])
			s = s[1:]
		default:
			b.WriteByte(s[0])
			s = s[1:]
		}
	}
	return strings.TrimRight(b.String(), " \t")
}
