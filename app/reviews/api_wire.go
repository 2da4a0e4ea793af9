package reviews

import (
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/pulls"
)

// ReviewWire is GitHub's review
// (https://docs.github.com/rest/pulls/reviews#get-a-review-for-a-pull-request).
type ReviewWire struct {
	ID                int64       `json:"id"`
	NodeID            string      `json:"node_id"`
	User              api.User    `json:"user"`
	Body              string      `json:"body"`
	State             string      `json:"state"`
	HTMLURL           string      `json:"html_url"`
	PullRequestURL    string      `json:"pull_request_url"`
	Links             ReviewLinks `json:"_links"`
	SubmittedAt       *string     `json:"submitted_at,omitempty"`
	CommitID          string      `json:"commit_id"`
	AuthorAssociation string      `json:"author_association"`
}

// ReviewLinks are the addresses of what a review belongs to.
type ReviewLinks struct {
	HTML        pulls.Href  `json:"html"`
	PullRequest pulls.Href  `json:"pull_request"`
	Self        *pulls.Href `json:"self,omitempty"`
}

// CommentWire is GitHub's comment on a pull request's changes
// (https://docs.github.com/rest/pulls/comments).
type CommentWire struct {
	URL               string       `json:"url"`
	ReviewID          *int64       `json:"pull_request_review_id"`
	ID                int64        `json:"id"`
	NodeID            string       `json:"node_id"`
	DiffHunk          string       `json:"diff_hunk"`
	Path              string       `json:"path"`
	CommitID          string       `json:"commit_id"`
	OriginalCommitID  string       `json:"original_commit_id"`
	User              api.User     `json:"user"`
	Body              string       `json:"body"`
	CreatedAt         string       `json:"created_at"`
	UpdatedAt         string       `json:"updated_at"`
	HTMLURL           string       `json:"html_url"`
	PullRequestURL    string       `json:"pull_request_url"`
	AuthorAssociation string       `json:"author_association"`
	Links             ReviewLinks  `json:"_links"`
	Reactions         pulls.Rollup `json:"reactions"`
	StartLine         *int         `json:"start_line"`
	OriginalStartLine *int         `json:"original_start_line"`
	StartSide         *string      `json:"start_side"`
	Line              *int         `json:"line"`
	OriginalLine      *int         `json:"original_line"`
	Side              string       `json:"side"`
	InReplyTo         int64        `json:"in_reply_to_id,omitempty"`
	Position          *int         `json:"position"`
	OriginalPosition  *int         `json:"original_position"`
	SubjectType       string       `json:"subject_type"`
}
