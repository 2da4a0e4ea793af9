package codes

import (
	"net/url"
	"path"
	"strings"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// submodulePage is the page of a submodule at its commit, "" where it has
// none. Relative addresses are below the address of the repository itself
// (gitsubmodules(7)), never below that of a page.
func (s *Service) submodulePage(repo *model.Repo, address string, commit git.OID) string {
	own := s.Repos.URL
	if strings.HasPrefix(address, "./") || strings.HasPrefix(address, "../") {
		return localPage(path.Join("/"+repo.Owner.Name+"/"+repo.Name, address), commit)
	}
	if rest, ok := strings.CutPrefix(address, own+"/"); ok && own != "" {
		return localPage("/"+rest, commit)
	}
	// scp-like: git@host:owner/repo.git
	if host, rest, ok := strings.Cut(address, ":"); ok && !strings.Contains(host, "/") && !strings.HasPrefix(rest, "//") {
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			host = host[i+1:]
		}
		address = "https://" + host + "/" + strings.TrimPrefix(rest, "/")
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	if base, err := url.Parse(own); err == nil && base.Hostname() == u.Hostname() && (u.Scheme == "ssh" || u.Host == base.Host) {
		return localPage(u.Path, commit)
	}
	switch u.Scheme {
	case "https", "http":
	case "ssh", "git":
		u.Scheme, u.Host = "https", u.Hostname()
	default:
		return ""
	}
	u.User, u.Path, u.RawPath = nil, strings.TrimSuffix(u.Path, ".git"), ""
	return u.String()
}

// localPage is the page of a repository here, at one commit.
func localPage(p string, commit git.OID) string {
	owner, name, ok := strings.Cut(strings.Trim(strings.TrimSuffix(path.Clean(p), ".git"), "/"), "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return ""
	}
	return link.Tree(owner, name, commit.String(), "")
}
