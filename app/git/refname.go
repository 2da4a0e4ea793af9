package git

import "strings"

// maxRefName is the longest ref name accepted, in bytes: each part becomes a
// file name, and refs are keys in places that bound them.
const maxRefName = 1000

// ValidRefName reports whether name may be a full ref name such as
// "refs/heads/main" (git-check-ref-format(1)).
func ValidRefName(name string) bool {
	if !strings.HasPrefix(name, "refs/") || len(name) > maxRefName {
		return false
	}
	parts := strings.Split(name, "/")
	if len(parts) < 2 {
		return false
	}
	for _, part := range parts {
		if !validRefPart(part) {
			return false
		}
	}
	return !strings.HasSuffix(name, ".")
}

// ValidBranchName reports whether name may be a branch. On top of the rules
// for refs it may not be HEAD or begin with a dash, as git itself demands.
func ValidBranchName(name string) bool {
	return name != "HEAD" && !strings.HasPrefix(name, "-") && ValidRefName("refs/heads/"+name)
}

// ValidTagName reports whether name may be a tag.
func ValidTagName(name string) bool {
	return name != "HEAD" && !strings.HasPrefix(name, "-") && ValidRefName("refs/tags/"+name)
}

// maxFileName is the longest name of a file, in bytes, less git's ".lock".
const maxFileName = 255 - len(".lock")

func validRefPart(part string) bool {
	if part == "" || part[0] == '.' || len(part) > maxFileName || strings.HasSuffix(part, ".lock") {
		return false
	}
	for i := range len(part) {
		switch c := part[i]; {
		case c < 0x20 || c == 0x7f:
			return false
		case strings.IndexByte(" ~^:?*[\\", c) >= 0:
			return false
		case c == '.' && i+1 < len(part) && part[i+1] == '.':
			return false
		case c == '@' && i+1 < len(part) && part[i+1] == '{':
			return false
		}
	}
	return true
}
