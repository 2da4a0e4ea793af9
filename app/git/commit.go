package git

import (
	"context"
	"fmt"
	"strings"
)

// Commit is a parsed commit. Its texts are raw bytes in Encoding; the methods
// that return texts for people decode them to UTF-8.
type Commit struct {
	OID       OID
	Tree      OID
	Parents   []OID
	Author    Person
	Committer Person
	// Encoding is the header of that name; empty is UTF-8.
	Encoding string
	// Signature is the gpgsig header's value (OpenPGP, SSH or X.509), unfolded.
	Signature string
	// Message is all after the headers.
	Message string
}

// Commit is the commit of this id, or ErrNotFound, or ErrWrongType.
func (r *Repository) Commit(ctx context.Context, oid OID) (*Commit, error) {
	data, err := r.typed(ctx, oid, TypeCommit, maxCommitSize)
	if err != nil {
		return nil, err
	}
	return parseCommit(oid, string(data))
}

// SignedCommit is the bytes that a commit's signature is made over, and the
// signature, which is empty when there is none.
func (r *Repository) SignedCommit(ctx context.Context, oid OID) (payload, signature string, err error) {
	data, err := r.typed(ctx, oid, TypeCommit, maxCommitSize)
	if err != nil {
		return "", "", err
	}
	payload, signature = cutSignature(string(data))
	return payload, signature, nil
}

func parseCommit(oid OID, text string) (*Commit, error) {
	c := &Commit{OID: oid}
	headers, message := cutHeaders(text)
	c.Message = message
	eachHeader(headers, func(key, value string) {
		switch key {
		case "tree":
			c.Tree, _ = ParseOID(value)
		case "parent":
			if p, ok := ParseOID(value); ok {
				c.Parents = append(c.Parents, p)
			}
		case "author":
			c.Author = parsePerson(value)
		case "committer":
			c.Committer = parsePerson(value)
		case "encoding":
			c.Encoding = value
		case "gpgsig", "gpgsig-sha256":
			if c.Signature == "" {
				c.Signature = value
			}
		}
	})
	if c.Tree == "" {
		return nil, fmt.Errorf("commit %s names no tree", oid)
	}
	return c, nil
}

// cutHeaders splits an object's text at the first empty line.
func cutHeaders(text string) (headers, body string) {
	if strings.HasPrefix(text, "\n") {
		return "", text[1:]
	}
	if i := strings.Index(text, "\n\n"); i >= 0 {
		return text[:i+1], text[i+2:]
	}
	return text, ""
}

// eachHeader calls visit with each header, folded lines joined again.
func eachHeader(headers string, visit func(key, value string)) {
	for headers != "" {
		line, rest, _ := strings.Cut(headers, "\n")
		key, value, _ := strings.Cut(line, " ")
		if strings.HasPrefix(rest, " ") {
			var b strings.Builder
			b.WriteString(value)
			for strings.HasPrefix(rest, " ") {
				line, rest, _ = strings.Cut(rest[1:], "\n")
				b.WriteByte('\n')
				b.WriteString(line)
			}
			value = b.String()
		}
		visit(key, value)
		headers = rest
	}
}

// cutSignature takes the gpgsig headers out of a commit.
func cutSignature(text string) (payload, signature string) {
	var out, sig strings.Builder
	headers, _ := cutHeaders(text)
	body := text[len(headers):]
	inSignature, first := false, false
	for line := range strings.Lines(headers) {
		switch {
		case inSignature && strings.HasPrefix(line, " "):
			if first {
				sig.WriteString(line[1:])
			}
			continue
		case strings.HasPrefix(line, "gpgsig ") || strings.HasPrefix(line, "gpgsig-sha256 "):
			first = sig.Len() == 0
			inSignature = true
			if first {
				_, value, _ := strings.Cut(line, " ")
				sig.WriteString(value)
			}
			continue
		}
		inSignature = false
		out.WriteString(line)
	}
	return out.String() + body, strings.TrimSuffix(sig.String(), "\n")
}

// Text is the message in UTF-8.
func (c *Commit) Text() string { return decodeText(c.Message, c.Encoding) }

// Title is the first paragraph's lines joined, in UTF-8, as git shows it.
func (c *Commit) Title() string {
	title, _ := splitMessage(c.Text())
	return title
}

// Body is what follows the title, in UTF-8.
func (c *Commit) Body() string {
	_, body := splitMessage(c.Text())
	return body
}

// AuthorName is the author's name in UTF-8.
func (c *Commit) AuthorName() string { return decodeText(c.Author.Name, c.Encoding) }

// CommitterName is the committer's name in UTF-8.
func (c *Commit) CommitterName() string { return decodeText(c.Committer.Name, c.Encoding) }

// IsMerge reports whether the commit has more than one parent.
func (c *Commit) IsMerge() bool { return len(c.Parents) > 1 }

func splitMessage(text string) (title, body string) {
	text = strings.TrimLeft(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	title, body, _ = strings.Cut(text, "\n\n")
	return strings.TrimSpace(strings.ReplaceAll(title, "\n", " ")), strings.TrimSpace(body)
}

// Trailer is one "Key: value" line at the end of a message.
type Trailer struct {
	Key   string
	Value string
}

// Trailers are the lines of the last paragraph when it is made of trailers
// (git-interpret-trailers(1)), in UTF-8.
func (c *Commit) Trailers() []Trailer {
	_, body := splitMessage(c.Text())
	if i := strings.LastIndex(body, "\n\n"); i >= 0 {
		body = strings.TrimLeft(body[i:], "\n")
	}
	var trailers []Trailer
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\n")
		if len(trailers) > 0 && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")) {
			trailers[len(trailers)-1].Value += " " + strings.TrimSpace(line)
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || !isTrailerKey(key) {
			if strings.HasPrefix(line, "(cherry picked from commit ") {
				continue
			}
			return nil
		}
		trailers = append(trailers, Trailer{key, strings.TrimSpace(value)})
	}
	return trailers
}

func isTrailerKey(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// CoAuthors are the people named by Co-authored-by trailers.
func (c *Commit) CoAuthors() []Person {
	var people []Person
	for _, t := range c.Trailers() {
		if !strings.EqualFold(t.Key, "Co-authored-by") {
			continue
		}
		if p := parsePerson(t.Value); p.Email != "" {
			people = append(people, Person{Name: p.Name, Email: p.Email})
		}
	}
	return people
}
