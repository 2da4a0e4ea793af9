package git

import (
	"context"
	"fmt"
	"strings"
)

// Tag is an annotated tag. Its texts are raw bytes, mostly UTF-8.
type Tag struct {
	OID    OID
	Object OID
	// Type is that of Object.
	Type   Type
	Name   string
	Tagger Person
	// Message ends before the signature.
	Message string
	// Signature is what stands at the message's end, empty when there is none.
	Signature string
	// Payload is the bytes that Signature is made over.
	Payload string
}

// Tag is the annotated tag of this id, or ErrNotFound, or ErrWrongType.
func (r *Repository) Tag(ctx context.Context, oid OID) (*Tag, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.tagAt(oid)
}

func (r *Repository) tagAt(oid OID) (*Tag, error) {
	typ, data, err := r.objects.Get(oid.raw(), maxCommitSize)
	if err != nil {
		return nil, notFound(err)
	}
	if typ != TypeTag {
		return nil, fmt.Errorf("%s is a %s, not a tag: %w", oid, typ, ErrWrongType)
	}
	return parseTag(oid, string(data))
}

func parseTag(oid OID, text string) (*Tag, error) {
	t := &Tag{OID: oid, Payload: text}
	headers, message := cutHeaders(text)
	eachHeader(headers, func(key, value string) {
		switch key {
		case "object":
			t.Object, _ = ParseOID(value)
		case "type":
			switch value {
			case "commit":
				t.Type = TypeCommit
			case "tree":
				t.Type = TypeTree
			case "blob":
				t.Type = TypeBlob
			case "tag":
				t.Type = TypeTag
			}
		case "tag":
			t.Name = value
		case "tagger":
			t.Tagger = parsePerson(value)
		}
	})
	if t.Object == "" {
		return nil, fmt.Errorf("tag %s names no object", oid)
	}
	t.Message = message
	for _, begin := range []string{"-----BEGIN PGP SIGNATURE-----", "-----BEGIN PGP MESSAGE-----",
		"-----BEGIN SSH SIGNATURE-----", "-----BEGIN SIGNED MESSAGE-----"} {
		i := strings.LastIndex(message, begin)
		if i < 0 || (i > 0 && message[i-1] != '\n') {
			continue
		}
		t.Message, t.Signature = message[:i], message[i:]
		t.Payload = text[:len(text)-len(t.Signature)]
		break
	}
	return t, nil
}

// Text is the message in UTF-8.
func (t *Tag) Text() string { return decodeText(t.Message, "") }

// Title is the message's first paragraph, in UTF-8.
func (t *Tag) Title() string {
	title, _ := splitMessage(t.Text())
	return title
}
