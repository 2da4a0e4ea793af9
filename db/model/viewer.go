package model

import "slices"

// Viewer is who a request acts for. A nil *Viewer is a stranger; its methods
// then answer for one.
type Viewer struct {
	Account *Account
	User    *User
	// Token says that a token was used instead of a session; Scopes are what
	// it was given, All meaning everything its owner may do.
	Token   bool
	TokenID int64
	Scopes  []string
	All     bool
	// Repos, when not nil, are the only repositories the token reaches.
	Repos []int64
	// DeployRepo is set for a deploy token or key: the one repository that it
	// reaches, and Write whether it may push there. Account is its maker's.
	DeployRepo int64
	Write      bool
	// Job says that a CI job's own token was used: events carry causedByJob.
	Job bool
	// SessionHash names the session that was used.
	SessionHash []byte
	// Weak says that the session began without a passkey.
	Weak bool
	// Sudo says that the session was confirmed with a passkey minutes ago.
	Sudo bool
}

// ID is the account's id, 0 for a stranger.
func (v *Viewer) ID() int64 {
	if v == nil || v.Account == nil {
		return 0
	}
	return v.Account.ID
}

// Name is the account's name, "" for a stranger.
func (v *Viewer) Name() string {
	if v == nil || v.Account == nil {
		return ""
	}
	return v.Account.Name
}

// SignedIn says that the viewer is somebody.
func (v *Viewer) SignedIn() bool { return v.ID() != 0 }

// Admin says that the viewer runs the instance and the credential covers it.
func (v *Viewer) Admin() bool {
	return v != nil && v.User != nil && v.User.Admin && v.Has("site_admin")
}

// Has says that the credential covers scope; a session covers all.
func (v *Viewer) Has(scope string) bool {
	if v == nil {
		return false
	}
	return v.DeployRepo == 0 && (!v.Token || v.All || slices.Contains(v.Scopes, scope))
}

// Reaches says that the credential covers reading, or writing, a repository;
// whether the account may is another question.
func (v *Viewer) Reaches(repoID int64, private, write bool) bool {
	switch {
	case v == nil:
		return !private && !write
	case v.DeployRepo != 0:
		return v.DeployRepo == repoID && (!write || v.Write)
	case v.Repos != nil && !slices.Contains(v.Repos, repoID):
		return !private && !write
	case !private && !write:
		return true
	case private:
		return v.Has("repo")
	}
	return v.Has("repo") || v.Has("public_repo")
}
