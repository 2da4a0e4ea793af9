package reviews

import "strings"

// suggested takes the change that a comment proposes out of its text: the
// first block of code in the language "suggestion", as on GitHub
// (https://docs.github.com/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/commenting-on-a-pull-request).
// after are the lines that it proposes, nil where it proposes none.
func suggested(body string) (text string, after []string) {
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		fence, ok := fenceOf(l)
		if !ok {
			continue
		}
		for k := i + 1; k < len(lines); k++ {
			end := strings.TrimSpace(lines[k])
			if len(end) >= len(fence) && strings.Trim(end, fence[:1]) == "" {
				after = append([]string{}, lines[i+1:k]...)
				rest := append(append([]string{}, lines[:i]...), lines[k+1:]...)
				return strings.TrimSpace(strings.Join(rest, "\n")), after
			}
		}
	}
	return body, nil
}

// fenceOf is the fence that opens a suggestion.
func fenceOf(line string) (string, bool) {
	t := strings.TrimSpace(line)
	n := 0
	for n < len(t) && t[n] == t[0] && (t[0] == '`' || t[0] == '~') {
		n++
	}
	if n < 3 || strings.TrimSpace(t[n:]) != "suggestion" {
		return "", false
	}
	return t[:n], true
}
