package issues

import (
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/db/model"
)

// Issue is GitHub's issue object
// (https://docs.github.com/rest/issues/issues#get-an-issue).
type Issue struct {
	URL               string       `json:"url"`
	RepositoryURL     string       `json:"repository_url"`
	LabelsURL         string       `json:"labels_url"`
	CommentsURL       string       `json:"comments_url"`
	EventsURL         string       `json:"events_url"`
	HTMLURL           string       `json:"html_url"`
	ID                int64        `json:"id"`
	NodeID            string       `json:"node_id"`
	Number            int64        `json:"number"`
	Title             string       `json:"title"`
	User              api.User     `json:"user"`
	Labels            []Label      `json:"labels"`
	State             string       `json:"state"`
	Locked            bool         `json:"locked"`
	Assignee          *api.User    `json:"assignee"`
	Assignees         []api.User   `json:"assignees"`
	Milestone         *Milestone   `json:"milestone"`
	Comments          int          `json:"comments"`
	CreatedAt         string       `json:"created_at"`
	UpdatedAt         string       `json:"updated_at"`
	ClosedAt          *string      `json:"closed_at"`
	AuthorAssociation string       `json:"author_association"`
	Type              *Type        `json:"type"`
	ActiveLockReason  *string      `json:"active_lock_reason"`
	Draft             *bool        `json:"draft,omitempty"`
	PullRequest       *PullLinks   `json:"pull_request,omitempty"`
	SubIssues         Summary      `json:"sub_issues_summary"`
	Dependencies      Dependencies `json:"issue_dependencies_summary"`
	Body              *string      `json:"body"`
	ClosedBy          *api.User    `json:"closed_by"`
	Reactions         Rollup       `json:"reactions"`
	TimelineURL       string       `json:"timeline_url"`
	App               *struct{}    `json:"performed_via_github_app"`
	StateReason       *string      `json:"state_reason"`
	// Confidential is gitfor's own.
	Confidential bool     `json:"confidential"`
	Score        *float64 `json:"score,omitempty"`
}

// Type is an issue's type.
type Type struct {
	ID          int64   `json:"id"`
	NodeID      string  `json:"node_id"`
	Name        string  `json:"name"`
	Description *string `json:"description"`
}

// PullLinks mark an issue as a pull request.
type PullLinks struct {
	URL      string  `json:"url"`
	HTMLURL  string  `json:"html_url"`
	DiffURL  string  `json:"diff_url"`
	PatchURL string  `json:"patch_url"`
	MergedAt *string `json:"merged_at"`
}

// Summary counts sub-issues.
type Summary struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
	Percent   int `json:"percent_completed"`
}

// Dependencies count what an issue waits for and what waits for it.
type Dependencies struct {
	BlockedBy      int `json:"blocked_by"`
	Blocking       int `json:"blocking"`
	TotalBlockedBy int `json:"total_blocked_by"`
	TotalBlocking  int `json:"total_blocking"`
}

// Rollup counts reactions.
type Rollup struct {
	URL      string `json:"url"`
	Total    int    `json:"total_count"`
	PlusOne  int    `json:"+1"`
	MinusOne int    `json:"-1"`
	Laugh    int    `json:"laugh"`
	Hooray   int    `json:"hooray"`
	Confused int    `json:"confused"`
	Heart    int    `json:"heart"`
	Rocket   int    `json:"rocket"`
	Eyes     int    `json:"eyes"`
}

// rollup counts the reactions of a post whose address is url.
func rollup(url string, list []model.Reaction) Rollup {
	r := Rollup{URL: url + "/reactions", Total: len(list)}
	at := map[string]*int{"+1": &r.PlusOne, "-1": &r.MinusOne, "laugh": &r.Laugh, "hooray": &r.Hooray,
		"confused": &r.Confused, "heart": &r.Heart, "rocket": &r.Rocket, "eyes": &r.Eyes}
	for _, x := range list {
		if n := at[x.Content]; n != nil {
			*n++
		}
	}
	return r
}

// Label is GitHub's label object (https://docs.github.com/rest/issues/labels).
type Label struct {
	ID          int64   `json:"id"`
	NodeID      string  `json:"node_id"`
	URL         string  `json:"url"`
	Name        string  `json:"name"`
	Description *string `json:"description"`
	Color       string  `json:"color"`
	Default     bool    `json:"default"`
}

// Milestone is GitHub's milestone object
// (https://docs.github.com/rest/issues/milestones).
type Milestone struct {
	URL          string    `json:"url"`
	HTMLURL      string    `json:"html_url"`
	LabelsURL    string    `json:"labels_url"`
	ID           int64     `json:"id"`
	NodeID       string    `json:"node_id"`
	Number       int64     `json:"number"`
	Title        string    `json:"title"`
	Description  *string   `json:"description"`
	Creator      *api.User `json:"creator"`
	OpenIssues   int       `json:"open_issues"`
	ClosedIssues int       `json:"closed_issues"`
	State        string    `json:"state"`
	CreatedAt    string    `json:"created_at"`
	UpdatedAt    string    `json:"updated_at"`
	DueOn        *string   `json:"due_on"`
	ClosedAt     *string   `json:"closed_at"`
}

// Comment is GitHub's issue comment object
// (https://docs.github.com/rest/issues/comments).
type Comment struct {
	URL               string    `json:"url"`
	HTMLURL           string    `json:"html_url"`
	IssueURL          string    `json:"issue_url"`
	ID                int64     `json:"id"`
	NodeID            string    `json:"node_id"`
	User              api.User  `json:"user"`
	CreatedAt         string    `json:"created_at"`
	UpdatedAt         string    `json:"updated_at"`
	AuthorAssociation string    `json:"author_association"`
	Body              string    `json:"body"`
	Reactions         Rollup    `json:"reactions"`
	App               *struct{} `json:"performed_via_github_app"`
}

// Reaction is GitHub's reaction object
// (https://docs.github.com/rest/reactions/reactions).
type Reaction struct {
	ID        int64    `json:"id"`
	NodeID    string   `json:"node_id"`
	User      api.User `json:"user"`
	Content   string   `json:"content"`
	CreatedAt string   `json:"created_at"`
}

// Event is GitHub's issue event object, and an entry of its timeline; only
// the fields of its kind are there
// (https://docs.github.com/rest/using-the-rest-api/issue-event-types).
type Event struct {
	ID        int64     `json:"id"`
	NodeID    string    `json:"node_id"`
	URL       string    `json:"url"`
	Actor     api.User  `json:"actor"`
	Event     string    `json:"event"`
	CommitID  *string   `json:"commit_id"`
	CommitURL *string   `json:"commit_url"`
	CreatedAt string    `json:"created_at"`
	App       *struct{} `json:"performed_via_github_app"`

	Label       *EventLabel     `json:"label,omitempty"`
	Assignee    *api.User       `json:"assignee,omitempty"`
	Assigner    *api.User       `json:"assigner,omitempty"`
	Milestone   *EventMilestone `json:"milestone,omitempty"`
	Rename      *Rename         `json:"rename,omitempty"`
	LockReason  *string         `json:"lock_reason,omitempty"`
	StateReason *string         `json:"state_reason,omitempty"`
	Issue       *Issue          `json:"issue,omitempty"`
}

// EventLabel is a label as it was.
type EventLabel struct {
	Name  string `json:"name"`
	Color string `json:"color"`
}

// EventMilestone is a milestone as it was.
type EventMilestone struct {
	Title string `json:"title"`
}

// Rename is a change of title.
type Rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// TimelineComment is a comment in the timeline.
type TimelineComment struct {
	Comment
	Event string   `json:"event"`
	Actor api.User `json:"actor"`
}

// CrossReference is a mention of an issue, in its timeline.
type CrossReference struct {
	Actor     api.User `json:"actor"`
	CreatedAt string   `json:"created_at"`
	UpdatedAt string   `json:"updated_at"`
	Source    Source   `json:"source"`
	Event     string   `json:"event"`
}

// Source is the thread whose text refers.
type Source struct {
	Type  string `json:"type"`
	Issue Issue  `json:"issue"`
}

// RollupOf counts the reactions to what has this address.
func RollupOf(url string, list []model.Reaction) Rollup { return rollup(url, list) }
