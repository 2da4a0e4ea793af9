package accounts

import (
	"net/mail"
	"strings"
	"unicode"
)

// maxEmail is the longest address in bytes (RFC 5321, 4.5.3.1.3, less the
// angle brackets).
const maxEmail = 254

// CheckEmail says in a sentence why this is no address, "" when it may be
// one.
func CheckEmail(email string) string {
	if email == "" {
		return "Give an email address."
	}
	if len(email) > maxEmail {
		return "That is too long for an email address."
	}
	for _, r := range email {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return "An email address may not hold spaces or control characters."
		}
	}
	local, domain, ok := strings.Cut(email, "@")
	addr, err := mail.ParseAddress(email)
	if !ok || err != nil || addr.Address != email || addr.Name != "" || local == "" || domain == "" ||
		strings.ContainsAny(domain, "@[]\"") || strings.HasPrefix(domain, ".") || strings.HasSuffix(domain, ".") {
		return "This does not look like an email address, such as ada@example.com."
	}
	return ""
}
