package odb

import (
	"errors"
	"fmt"
)

// Type is the kind of an object, by its number in packs.
type Type uint8

// The types. The two delta types occur in packs only, never in answers.
const (
	Commit   Type = 1
	Tree     Type = 2
	Blob     Type = 3
	Tag      Type = 4
	ofsDelta Type = 6
	refDelta Type = 7
)

func (t Type) String() string {
	switch t {
	case Commit:
		return "commit"
	case Tree:
		return "tree"
	case Blob:
		return "blob"
	case Tag:
		return "tag"
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// ParseType is the type with this name, or 0.
func ParseType(name string) Type {
	switch name {
	case "commit":
		return Commit
	case "tree":
		return Tree
	case "blob":
		return Blob
	case "tag":
		return Tag
	}
	return 0
}

// Errors that callers tell apart.
var (
	// ErrNotFound: no object has this id.
	ErrNotFound = errors.New("object not found")
	// ErrTooLarge: the object is larger than the caller allowed.
	ErrTooLarge = errors.New("object is too large")
	// ErrAmbiguous: more than one object begins with these digits.
	ErrAmbiguous = errors.New("short object id is ambiguous")
	// ErrCorrupt: the stored bytes are not what git would write.
	ErrCorrupt = errors.New("object data is corrupt")
)

// errVanished: a file that held an object is gone; look for it again.
var errVanished = errors.New("pack vanished")

// Info is what an object's header says.
type Info struct {
	Type Type
	// Size is in bytes, inflated.
	Size int64
}
