package repos

import (
	"strings"

	"github.com/gitfor/gitfor/db/model"
)

// Limits of a repository's texts, in characters.
const (
	MaxName        = 100
	MaxDescription = 350
	MaxTopics      = 20
)

// reservedNames are addresses below an account that are not repositories.
var reservedNames = map[string]bool{"settings": true, "followers": true, "following": true, "stars": true,
	"projects": true, "packages": true, "teams": true, "people": true, "repositories": true}

// CheckName says what is wrong with a repository's name, or "".
func CheckName(name string) string {
	key := model.Key(name)
	switch {
	case name == "":
		return "Give the repository a name."
	case len(name) > MaxName:
		return "The name is longer than 100 characters."
	case name == "." || name == "..":
		return "That name means a folder, not a repository."
	case strings.HasSuffix(key, ".git"), strings.HasSuffix(key, ".wiki"), strings.HasSuffix(key, ".atom"), strings.HasSuffix(key, ".rss"):
		return "A name may not end with " + name[strings.LastIndexByte(name, '.'):] + ", which addresses use."
	case strings.HasSuffix(name, "."):
		return "A name may not end with a dot."
	case reservedNames[key]:
		return "“" + name + "” is an address of gitfor itself. Choose another name."
	}
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.') {
			return "Use only the letters A to Z, digits, “-”, “_” and “.”."
		}
	}
	return ""
}

// checkTopic says whether a topic is one: lower case letters, digits, hyphens.
func checkTopic(topic string) bool {
	if topic == "" || len(topic) > 50 {
		return false
	}
	for _, r := range topic {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') {
			return false
		}
	}
	return topic[0] != '-'
}
