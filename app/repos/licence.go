package repos

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed templates
var templates embed.FS

// Licence is one that a new repository can start with.
type Licence struct {
	// Key is GitHub's key, SPDX the identifier (https://spdx.org/licenses/).
	Key, SPDX, Name string
}

// Licences are the licences that /new offers, the most used first.
var Licences = []Licence{
	{"mit", "MIT", "MIT License"},
	{"apache-2.0", "Apache-2.0", "Apache License 2.0"},
	{"gpl-3.0", "GPL-3.0", "GNU General Public License v3.0"},
	{"agpl-3.0", "AGPL-3.0", "GNU Affero General Public License v3.0"},
	{"lgpl-3.0", "LGPL-3.0", "GNU Lesser General Public License v3.0"},
	{"gpl-2.0", "GPL-2.0", "GNU General Public License v2.0"},
	{"mpl-2.0", "MPL-2.0", "Mozilla Public License 2.0"},
	{"bsd-2-clause", "BSD-2-Clause", "BSD 2-Clause License"},
	{"bsd-3-clause", "BSD-3-Clause", "BSD 3-Clause License"},
	{"isc", "ISC", "ISC License"},
	{"bsl-1.0", "BSL-1.0", "Boost Software License 1.0"},
	{"unlicense", "Unlicense", "The Unlicense"},
	{"cc0-1.0", "CC0-1.0", "Creative Commons Zero v1.0"},
}

// FindLicence returns the licence with this key.
func FindLicence(key string) (Licence, bool) {
	for _, l := range Licences {
		if l.Key == key {
			return l, true
		}
	}
	return Licence{}, false
}

// Text is the licence's text for a holder and year.
func (l Licence) Text(holder string, year int) (string, error) {
	b, err := templates.ReadFile("templates/licence/" + l.Key + ".txt")
	if err != nil {
		return "", fmt.Errorf("licence %q: %w", l.Key, err)
	}
	return strings.NewReplacer("{{year}}", fmt.Sprint(year), "{{holder}}", holder).Replace(string(b)), nil
}

// Gitignores are the names of the .gitignore files that /new offers.
func Gitignores() []string {
	entries, err := templates.ReadDir("templates/gitignore")
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".txt"))
	}
	return names
}

func gitignore(name string) (string, bool) {
	for _, known := range Gitignores() {
		if strings.EqualFold(known, name) {
			b, err := templates.ReadFile("templates/gitignore/" + known + ".txt")
			return string(b), err == nil
		}
	}
	return "", false
}
