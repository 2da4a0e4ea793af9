package codes

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/repos"
)

// maxLicence is how much of a licence file is read, in bytes.
const maxLicence = 256 << 10

// findLicence finds the file in the root that holds the licence, "" for none,
// and which licence it is, "" where it is none of those known.
func (s *Service) findLicence(ctx context.Context, p *place) (name, spdx string, err error) {
	entries, _, err := p.git.TreeAt(ctx, p.rev.Commit, "")
	if err != nil {
		return "", "", lost(err)
	}
	best, rank := git.TreeEntry{}, 0
	for _, e := range entries {
		if e.IsTree() || e.IsSubmodule() || e.IsSymlink() {
			continue
		}
		if r := licenceRank(e.Name); r > rank {
			best, rank = e, r
		}
	}
	if rank == 0 {
		return "", "", nil
	}
	text, err := p.git.Blob(ctx, best.OID, maxLicence)
	if errors.Is(err, git.ErrTooLarge) {
		return best.Name, "", nil
	}
	return best.Name, repos.WhichLicence(git.DecodeText(string(text))), err
}

// licenceRank says how likely a file is the licence of its folder, 0 for not
// at all.
func licenceRank(name string) int {
	lower := strings.ToLower(name)
	stem, ext := strings.TrimSuffix(lower, path.Ext(lower)), path.Ext(lower)
	plain := ext == "" || ext == ".txt" || ext == ".md" || ext == ".rst"
	switch {
	case lower == "license" || lower == "licence":
		return 4
	case (stem == "license" || stem == "licence") && plain:
		return 3
	case (stem == "copying" || stem == "unlicense") && plain:
		return 2
	case strings.HasPrefix(lower, "license-") || strings.HasPrefix(lower, "licence-"):
		return 1
	}
	return 0
}
