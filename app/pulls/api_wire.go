package pulls

import (
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/db/model"
)

// PullRequest is GitHub's pull request object as lists have it
// (https://docs.github.com/rest/pulls/pulls#list-pull-requests).
type PullRequest struct {
	URL               string            `json:"url"`
	ID                int64             `json:"id"`
	NodeID            string            `json:"node_id"`
	HTMLURL           string            `json:"html_url"`
	DiffURL           string            `json:"diff_url"`
	PatchURL          string            `json:"patch_url"`
	IssueURL          string            `json:"issue_url"`
	CommitsURL        string            `json:"commits_url"`
	ReviewCommentsURL string            `json:"review_comments_url"`
	ReviewCommentURL  string            `json:"review_comment_url"`
	CommentsURL       string            `json:"comments_url"`
	StatusesURL       string            `json:"statuses_url"`
	Number            int64             `json:"number"`
	State             string            `json:"state"`
	Locked            bool              `json:"locked"`
	Title             string            `json:"title"`
	User              api.User          `json:"user"`
	Body              *string           `json:"body"`
	Labels            []issues.Label    `json:"labels"`
	Milestone         *issues.Milestone `json:"milestone"`
	ActiveLockReason  *string           `json:"active_lock_reason"`
	CreatedAt         string            `json:"created_at"`
	UpdatedAt         string            `json:"updated_at"`
	ClosedAt          *string           `json:"closed_at"`
	MergedAt          *string           `json:"merged_at"`
	MergeCommitSHA    *string           `json:"merge_commit_sha"`
	Assignee          *api.User         `json:"assignee"`
	Assignees         []api.User        `json:"assignees"`
	Reviewers         []api.User        `json:"requested_reviewers"`
	Teams             []Team            `json:"requested_teams"`
	Head              Branch            `json:"head"`
	Base              Branch            `json:"base"`
	Links             Links             `json:"_links"`
	AuthorAssociation string            `json:"author_association"`
	AutoMerge         *AutoMerge        `json:"auto_merge"`
	Draft             bool              `json:"draft"`
}

// FullPullRequest is GitHub's pull request object by itself
// (https://docs.github.com/rest/pulls/pulls#get-a-pull-request).
type FullPullRequest struct {
	PullRequest
	Merged              bool      `json:"merged"`
	Mergeable           *bool     `json:"mergeable"`
	Rebaseable          *bool     `json:"rebaseable"`
	MergeableState      string    `json:"mergeable_state"`
	MergedBy            *api.User `json:"merged_by"`
	Comments            int       `json:"comments"`
	ReviewComments      int       `json:"review_comments"`
	MaintainerCanModify bool      `json:"maintainer_can_modify"`
	Commits             int       `json:"commits"`
	Additions           int       `json:"additions"`
	Deletions           int       `json:"deletions"`
	ChangedFiles        int       `json:"changed_files"`
}

// Branch is a side of a pull request. Repo and User are null when they are
// gone.
type Branch struct {
	Label string            `json:"label"`
	Ref   string            `json:"ref"`
	SHA   string            `json:"sha"`
	User  *api.User         `json:"user"`
	Repo  *repos.Repository `json:"repo"`
}

// Links are the addresses of a pull request's parts.
type Links struct {
	Self           Href `json:"self"`
	HTML           Href `json:"html"`
	Issue          Href `json:"issue"`
	Comments       Href `json:"comments"`
	ReviewComments Href `json:"review_comments"`
	ReviewComment  Href `json:"review_comment"`
	Commits        Href `json:"commits"`
	Statuses       Href `json:"statuses"`
}

// Href is an address.
type Href struct {
	Href string `json:"href"`
}

// Team is a team that was asked for a review.
type Team struct {
	ID           int64     `json:"id"`
	NodeID       string    `json:"node_id"`
	URL          string    `json:"url"`
	HTMLURL      string    `json:"html_url"`
	Name         string    `json:"name"`
	Slug         string    `json:"slug"`
	Description  *string   `json:"description"`
	Privacy      string    `json:"privacy"`
	Notification string    `json:"notification_setting"`
	Permission   string    `json:"permission"`
	MembersURL   string    `json:"members_url"`
	ReposURL     string    `json:"repositories_url"`
	Parent       *struct{} `json:"parent"`
}

// AutoMerge is a merge that waits.
type AutoMerge struct {
	EnabledBy     api.User `json:"enabled_by"`
	MergeMethod   string   `json:"merge_method"`
	CommitTitle   *string  `json:"commit_title"`
	CommitMessage *string  `json:"commit_message"`
}

// File is GitHub's changed file
// (https://docs.github.com/rest/pulls/pulls#list-pull-requests-files).
type File struct {
	SHA              *string `json:"sha"`
	Filename         string  `json:"filename"`
	Status           string  `json:"status"`
	Additions        int     `json:"additions"`
	Deletions        int     `json:"deletions"`
	Changes          int     `json:"changes"`
	BlobURL          string  `json:"blob_url"`
	RawURL           string  `json:"raw_url"`
	ContentsURL      string  `json:"contents_url"`
	Patch            string  `json:"patch,omitempty"`
	PreviousFilename string  `json:"previous_filename,omitempty"`
}

// Commit is GitHub's commit object
// (https://docs.github.com/rest/commits/commits).
type Commit struct {
	URL         string       `json:"url"`
	SHA         string       `json:"sha"`
	NodeID      string       `json:"node_id"`
	HTMLURL     string       `json:"html_url"`
	CommentsURL string       `json:"comments_url"`
	Commit      CommitDetail `json:"commit"`
	Author      *api.User    `json:"author"`
	Committer   *api.User    `json:"committer"`
	Parents     []CommitRef  `json:"parents"`
}

// CommitDetail is what the commit itself holds.
type CommitDetail struct {
	URL          string       `json:"url"`
	Author       CommitPerson `json:"author"`
	Committer    CommitPerson `json:"committer"`
	Message      string       `json:"message"`
	Tree         CommitRef    `json:"tree"`
	CommentCount int          `json:"comment_count"`
	Verification Verification `json:"verification"`
}

// CommitPerson is who is named in a commit.
type CommitPerson struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Date  string `json:"date"`
}

// CommitRef names a commit or tree.
type CommitRef struct {
	URL     string `json:"url"`
	SHA     string `json:"sha"`
	HTMLURL string `json:"html_url,omitempty"`
}

// Verification is what is known of a commit's signature.
type Verification struct {
	Verified   bool    `json:"verified"`
	Reason     string  `json:"reason"`
	Signature  *string `json:"signature"`
	Payload    *string `json:"payload"`
	VerifiedAt *string `json:"verified_at"`
}

// Merged is the answer to a merge
// (https://docs.github.com/rest/pulls/pulls#merge-a-pull-request).
type Merged struct {
	SHA     string `json:"sha"`
	Merged  bool   `json:"merged"`
	Message string `json:"message"`
}

// Updated is the answer to bringing a branch up to date.
type Updated struct {
	Message string `json:"message"`
	URL     string `json:"url"`
}

// Rollup counts reactions, as those of issues.
type Rollup = issues.Rollup

// Reaction is one person's reaction, as those of issues.
type Reaction = issues.Reaction

// RollupOf counts the reactions to what has this address.
func RollupOf(url string, list []model.Reaction) Rollup { return issues.RollupOf(url, list) }
