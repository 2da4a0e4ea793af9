package model

import (
	"time"

	"github.com/uptrace/bun"
)

// Visibility of a repository.
const (
	Public  = "public"
	Private = "private"
)

// Repo is a repository as the directory knows it.
type Repo struct {
	bun.BaseModel `bun:"table:directory.repos,alias:r"`

	ID            int64            `bun:"id,pk,autoincrement"`
	OwnerID       int64            `bun:"owner_id"`
	Name          string           `bun:"name"`
	NameKey       string           `bun:"name_key"`
	Description   string           `bun:"description"`
	Website       string           `bun:"website"`
	Topics        []string         `bun:"topics,array"`
	Visibility    string           `bun:"visibility"`
	DefaultBranch string           `bun:"default_branch"`
	ForkOf        int64            `bun:"fork_of,nullzero"`
	RootID        int64            `bun:"root_id,nullzero"`
	Template      bool             `bun:"template"`
	Mirror        bool             `bun:"mirror"`
	Settings      RepoSettings     `bun:"settings,type:jsonb"`
	Languages     map[string]int64 `bun:"languages,type:jsonb"`
	Licence       string           `bun:"licence"`
	Stars         int              `bun:"stars"`
	Watchers      int              `bun:"watchers"`
	Forks         int              `bun:"forks"`
	SizeKB        int64            `bun:"size_kb"`
	ArchivedAt    *time.Time       `bun:"archived_at"`
	DeletedAt     *time.Time       `bun:"deleted_at"`
	PushedAt      *time.Time       `bun:"pushed_at"`
	CreatedAt     time.Time        `bun:"created_at"`
	UpdatedAt     time.Time        `bun:"updated_at"`

	Owner *Account `bun:"rel:belongs-to,join:owner_id=id"`
}

// RepoSettings are a repository's switches that no query filters by. The zero
// value is what a new repository has.
type RepoSettings struct {
	NoIssues        bool  `json:"no_issues,omitempty"`
	NoPulls         bool  `json:"no_pulls,omitempty"`
	NoDiscussions   bool  `json:"no_discussions,omitempty"`
	NoMerge         bool  `json:"no_merge,omitempty"`
	NoSquash        bool  `json:"no_squash,omitempty"`
	NoRebase        bool  `json:"no_rebase,omitempty"`
	FastForward     bool  `json:"fast_forward,omitempty"`
	AutoMerge       bool  `json:"auto_merge,omitempty"`
	DeleteOnMerge   bool  `json:"delete_on_merge,omitempty"`
	AllowUnrelated  bool  `json:"allow_unrelated,omitempty"`
	MaxFileBytes    int64 `json:"max_file_bytes,omitempty"`
	SecretPushAllow bool  `json:"secret_push_allow,omitempty"`
	// ImmutableReleases keeps the tag and files of releases for good once they
	// are published.
	ImmutableReleases bool   `json:"immutable_releases,omitempty"`
	ArchivedReason    string `json:"archived_reason,omitempty"`
	// ForbiddenPaths are patterns of files that may not come in.
	ForbiddenPaths []string `json:"forbidden_paths,omitempty"`
	// SecretsAllowed are what the rules about secrets found and people let in.
	SecretsAllowed []SecretAllowed `json:"secrets_allowed,omitempty"`
}

// SecretAllowed is a secret that may be pushed, with who says so and why.
type SecretAllowed struct {
	// Code stands for the secret: a hash of it.
	Code   string    `json:"code"`
	Rule   string    `json:"rule"`
	File   string    `json:"file"`
	Reason string    `json:"reason"`
	By     int64     `json:"by"`
	At     time.Time `json:"at"`
}

// FullName is owner/name; Owner must be loaded.
func (r *Repo) FullName() string { return r.Owner.Name + "/" + r.Name }

// IsPrivate says that only people with access see the repository.
func (r *Repo) IsPrivate() bool { return r.Visibility == Private }

// Archived says that the repository is read-only.
func (r *Repo) Archived() bool { return r.ArchivedAt != nil }
