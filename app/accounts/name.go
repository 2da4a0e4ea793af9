package accounts

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxName is the longest name of an account, in characters.
const MaxName = 39

// reserved are the names that are pages, files or words of the system at the
// top level of the address space.
const reserved = `
about abuse account accounts action actions activity admin administrator agents announcements anonymous api
api-docs apps assets atom auth authorize avatar avatars badges billing ci config contact contributing
dashboard developer developers discussions docker docs download downloads enterprise events explore export
favicon features feed g1t gh ghost gists git git-receive-pack git-upload-pack gitfor github groups healthz
help home hooks images import inbox integrations invitations invites issues jobs join legal live localhost
login logout logs mail maintenance marketplace mcp me members metrics moderator new news newsletter noreply
notification notifications notify null oauth openapi opensearch operators org organization organizations orgs
owners packages passkey passkey-link passkeys password payments people plans policies pricing privacy project
projects pull-requests pulls readyz registry releases render reports repos repositories repository reset
restore restricted robots root rss runners scratch scripts search security self service services session
sessions set-up setting settings setup showcases sign-in sign-out sign-up signin signout signup site sitemap
sites ssh staff stafftools star stars static statistics stats status styleguide styles subscribe subscriptions
sudo superuser support suspended sysadmin system tags team teams templates terms token tokens topics
two-factor undefined unsubscribe upload uploads user username users verify version waitlist webhook webhooks
webmaster workflow workflows www
`

// endings look like files and protocol addresses when they follow a name.
var endings = [...]string{".git", ".wiki", ".atom", ".rss", ".json", ".xml", ".txt", ".keys", ".gpg", ".png", ".svg", ".html", ".zip", ".tar.gz", ".diff", ".patch"}

// CheckName says in a sentence why nobody may have this name, "" when one
// may.
func CheckName(name string) string {
	switch {
	case name == "":
		return "Choose a name."
	case strings.ContainsRune(name, 0):
		return "A name may not hold a NUL byte."
	case !utf8.ValidString(name):
		return "A name has ASCII letters, digits and single hyphens; this is not even valid text."
	case utf8.RuneCountInString(name) > MaxName:
		return "That is too long: a name has at most 39 characters."
	case strings.TrimSpace(name) != name:
		return "A name may not begin or end with a space."
	case strings.Contains(name, "/"), strings.Contains(name, `\`):
		return "A name may not hold a slash: it is one part of an address."
	case strings.Contains(name, ".."), name == ".":
		return "A name may not be or hold dots that mean a folder."
	}
	lower := strings.ToLower(name)
	for _, end := range endings {
		if strings.HasSuffix(lower, end) {
			return "A name may not end with " + end + ": addresses use that ending."
		}
	}
	if strings.HasSuffix(name, ".") {
		return "A name may not end with a dot."
	}
	if reason := checkCharacters(name); reason != "" {
		return reason
	}
	if slices.Contains(strings.Fields(reserved), lower) {
		return "That name is reserved for the site itself. Choose another."
	}
	return ""
}

func checkCharacters(name string) string {
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-':
		case r == '.' || r == '_':
			return "A name may not hold “" + string(r) + "”: use a hyphen."
		case r < 0x80 && r > ' ' && r != 0x7f:
			return "A name may not hold “" + string(r) + "”: use letters, digits and hyphens."
		case r <= ' ', r == 0x7f:
			return "A name may not hold spaces or control characters."
		default:
			return "A name may hold only the letters a to z, digits and hyphens: other scripts have letters that look alike" +
				" (U+" + hex4(r) + " here)."
		}
	}
	switch {
	case strings.HasPrefix(name, "-"), strings.HasSuffix(name, "-"):
		return "A name may not begin or end with a hyphen."
	case strings.Contains(name, "--"):
		return "A name may not hold two hyphens in a row."
	}
	return ""
}

func hex4(r rune) string {
	const digits = "0123456789ABCDEF"
	var b []byte
	for shift := 20; shift >= 0; shift -= 4 {
		d := r >> shift & 15
		if d == 0 && len(b) == 0 && shift > 12 {
			continue
		}
		b = append(b, digits[d])
	}
	return string(b)
}
