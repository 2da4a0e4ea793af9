package repos

import "strings"

// searchWords takes GitHub's qualifiers out of a search for repositories:
// user: and org: name the owner, in: and others say what is searched anyway.
func searchWords(q string) (words, owner string) {
	var rest []string
	for _, w := range strings.Fields(q) {
		key, value, ok := strings.Cut(w, ":")
		switch {
		case !ok:
			rest = append(rest, w)
		case key == "user" || key == "org":
			owner = value
		case key == "repo":
			rest = append(rest, value)
		}
	}
	return strings.Join(rest, " "), owner
}
