package git

import (
	"bytes"
	"errors"
	"strings"
)

// findEntry looks one name up in a tree's bytes without parsing all of it.
func findEntry(data []byte, hashLen int, name string) (e rawEntry, ok bool, err error) {
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		if space <= 0 {
			return rawEntry{}, false, errors.New("tree is broken")
		}
		zero := space + 1 + bytes.IndexByte(data[space+1:], 0)
		if zero <= space || len(data) < zero+1+hashLen {
			return rawEntry{}, false, errors.New("tree is broken")
		}
		if string(data[space+1:zero]) == name {
			mode, ok := ParseMode(string(data[:space]))
			if !ok {
				return rawEntry{}, false, errors.New("tree is broken")
			}
			return rawEntry{mode: mode, name: name, hash: string(data[zero+1 : zero+1+hashLen])}, true, nil
		}
		data = data[zero+1+hashLen:]
	}
	return rawEntry{}, false, nil
}

// cutPath is the first part of a path and what follows it.
func cutPath(path string) (first, rest string) {
	first, rest, _ = strings.Cut(path, "/")
	return first, rest
}
