package repos

import (
	"github.com/gitfor/gitfor/app/api"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// Repository is GitHub's repository object
// (https://docs.github.com/rest/repos/repos#get-a-repository).
type Repository struct {
	ID            int64    `json:"id"`
	NodeID        string   `json:"node_id"`
	Name          string   `json:"name"`
	FullName      string   `json:"full_name"`
	Private       bool     `json:"private"`
	Owner         api.User `json:"owner"`
	HTMLURL       string   `json:"html_url"`
	Description   *string  `json:"description"`
	Fork          bool     `json:"fork"`
	URL           string   `json:"url"`
	CreatedAt     string   `json:"created_at"`
	UpdatedAt     string   `json:"updated_at"`
	PushedAt      *string  `json:"pushed_at"`
	GitURL        string   `json:"git_url"`
	SSHURL        string   `json:"ssh_url"`
	CloneURL      string   `json:"clone_url"`
	Homepage      *string  `json:"homepage"`
	Size          int64    `json:"size"`
	Stargazers    int      `json:"stargazers_count"`
	WatchersCount int      `json:"watchers_count"`
	Language      *string  `json:"language"`
	HasIssues     bool     `json:"has_issues"`
	HasProjects   bool     `json:"has_projects"`
	HasDownloads  bool     `json:"has_downloads"`
	HasWiki       bool     `json:"has_wiki"`
	HasPages      bool     `json:"has_pages"`
	Discussions   bool     `json:"has_discussions"`
	ForksCount    int      `json:"forks_count"`
	MirrorURL     *string  `json:"mirror_url"`
	Archived      bool     `json:"archived"`
	Disabled      bool     `json:"disabled"`
	OpenIssues    int64    `json:"open_issues_count"`
	License       *License `json:"license"`
	AllowForking  bool     `json:"allow_forking"`
	IsTemplate    bool     `json:"is_template"`
	Signoff       bool     `json:"web_commit_signoff_required"`
	Topics        []string `json:"topics"`
	Visibility    string   `json:"visibility"`
	Forks         int      `json:"forks"`
	OpenIssuesOld int64    `json:"open_issues"`
	Watchers      int      `json:"watchers"`
	DefaultBranch string   `json:"default_branch"`

	Permissions   *Permissions `json:"permissions,omitempty"`
	AllowSquash   *bool        `json:"allow_squash_merge,omitempty"`
	AllowMerge    *bool        `json:"allow_merge_commit,omitempty"`
	AllowRebase   *bool        `json:"allow_rebase_merge,omitempty"`
	AllowAuto     *bool        `json:"allow_auto_merge,omitempty"`
	DeleteOnMerge *bool        `json:"delete_branch_on_merge,omitempty"`
	Subscribers   int          `json:"subscribers_count"`
	NetworkCount  int          `json:"network_count"`
	Parent        *Repository  `json:"parent,omitempty"`
	Source        *Repository  `json:"source,omitempty"`

	Links
}

// Links are the addresses, some of them templates, that GitHub adds to a
// repository.
type Links struct {
	Archive       string `json:"archive_url"`
	Assignees     string `json:"assignees_url"`
	Blobs         string `json:"blobs_url"`
	Branches      string `json:"branches_url"`
	Collaborators string `json:"collaborators_url"`
	Comments      string `json:"comments_url"`
	Commits       string `json:"commits_url"`
	Compare       string `json:"compare_url"`
	Contents      string `json:"contents_url"`
	Contributors  string `json:"contributors_url"`
	Deployments   string `json:"deployments_url"`
	Downloads     string `json:"downloads_url"`
	Events        string `json:"events_url"`
	Forks         string `json:"forks_url"`
	GitCommits    string `json:"git_commits_url"`
	GitRefs       string `json:"git_refs_url"`
	GitTags       string `json:"git_tags_url"`
	Hooks         string `json:"hooks_url"`
	IssueComment  string `json:"issue_comment_url"`
	IssueEvents   string `json:"issue_events_url"`
	Issues        string `json:"issues_url"`
	Keys          string `json:"keys_url"`
	Labels        string `json:"labels_url"`
	Languages     string `json:"languages_url"`
	Merges        string `json:"merges_url"`
	Milestones    string `json:"milestones_url"`
	Notifications string `json:"notifications_url"`
	Pulls         string `json:"pulls_url"`
	Releases      string `json:"releases_url"`
	Stargazers    string `json:"stargazers_url"`
	Statuses      string `json:"statuses_url"`
	Subscribers   string `json:"subscribers_url"`
	Subscription  string `json:"subscription_url"`
	Tags          string `json:"tags_url"`
	Teams         string `json:"teams_url"`
	Trees         string `json:"trees_url"`
	SVN           string `json:"svn_url"`
}

// License is GitHub's short licence object.
type License struct {
	Key    string  `json:"key"`
	Name   string  `json:"name"`
	SPDX   string  `json:"spdx_id"`
	URL    *string `json:"url"`
	NodeID string  `json:"node_id"`
}

// Permissions are what the caller may do, in GitHub's words.
type Permissions struct {
	Admin    bool `json:"admin"`
	Maintain bool `json:"maintain"`
	Push     bool `json:"push"`
	Triage   bool `json:"triage"`
	Pull     bool `json:"pull"`
}

// PermissionsOf spells a role out.
func PermissionsOf(r model.Role) *Permissions {
	return &Permissions{Admin: r.AtLeast(model.RoleAdmin), Maintain: r.AtLeast(model.RoleMaintain),
		Push: r.AtLeast(model.RoleWrite), Triage: r.AtLeast(model.RoleTriage), Pull: r.AtLeast(model.RoleRead)}
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func not(b bool) *bool { b = !b; return &b }

// Wire is the repository as the API shows it to somebody with this role.
func (s *Service) Wire(c *web.Ctx, r *model.Repo, role model.Role, counts map[string]int64) Repository {
	base := c.URL(web.APIPrefix + "/repos" + link.Repo(r.Owner.Name, r.Name))
	urls := s.CloneURLs(c.Kit().Config().URL, r)
	open := counts["open_issues"] + counts["open_pulls"]
	w := Repository{ID: r.ID, NodeID: api.NodeID("Repository", r.ID), Name: r.Name, FullName: r.FullName(),
		Private: r.IsPrivate(), Owner: api.UserOf(c, r.Owner), HTMLURL: c.URL(link.Repo(r.Owner.Name, r.Name)),
		Description: text(r.Description), Fork: r.ForkOf != 0, URL: base, CreatedAt: api.Time(r.CreatedAt),
		UpdatedAt: api.Time(r.UpdatedAt), PushedAt: api.TimeRef(r.PushedAt), GitURL: urls.HTTPS, SSHURL: urls.SSH,
		CloneURL: urls.HTTPS, Homepage: text(r.Website), Size: r.SizeKB, Stargazers: r.Stars, WatchersCount: r.Stars,
		Language: mainLanguage(r.Languages), HasIssues: !r.Settings.NoIssues, HasDownloads: true,
		ForksCount: r.Forks, Archived: r.Archived(), OpenIssues: open, OpenIssuesOld: open, License: licenceOf(r.Licence),
		AllowForking: true, IsTemplate: r.Template, Topics: r.Topics, Visibility: r.Visibility, Forks: r.Forks,
		Watchers: r.Stars, DefaultBranch: r.DefaultBranch, Subscribers: r.Watchers, NetworkCount: r.Forks,
		Links: linksOf(base, urls.HTTPS)}
	if w.Topics == nil {
		w.Topics = []string{}
	}
	if role != model.RoleNone {
		w.Permissions = PermissionsOf(role)
	}
	if role.AtLeast(model.RoleWrite) {
		st := r.Settings
		auto, del := st.AutoMerge, st.DeleteOnMerge
		w.AllowMerge, w.AllowSquash, w.AllowRebase = not(st.NoMerge), not(st.NoSquash), not(st.NoRebase)
		w.AllowAuto, w.DeleteOnMerge = &auto, &del
	}
	return w
}

func mainLanguage(languages map[string]int64) *string {
	best, most := "", int64(0)
	for name, n := range languages {
		if n > most || n == most && name < best {
			best, most = name, n
		}
	}
	return text(best)
}

func licenceOf(spdx string) *License {
	for _, l := range Licences {
		if l.SPDX == spdx {
			return &License{Key: l.Key, Name: l.Name, SPDX: l.SPDX, NodeID: api.NodeID("License:" + l.Key)}
		}
	}
	return nil
}

func linksOf(base, clone string) Links {
	return Links{
		Archive: base + "/{archive_format}{/ref}", Assignees: base + "/assignees{/user}", Blobs: base + "/git/blobs{/sha}",
		Branches: base + "/branches{/branch}", Collaborators: base + "/collaborators{/collaborator}",
		Comments: base + "/comments{/number}", Commits: base + "/commits{/sha}", Compare: base + "/compare/{base}...{head}",
		Contents: base + "/contents/{+path}", Contributors: base + "/contributors", Deployments: base + "/deployments",
		Downloads: base + "/downloads", Events: base + "/events", Forks: base + "/forks", GitCommits: base + "/git/commits{/sha}",
		GitRefs: base + "/git/refs{/sha}", GitTags: base + "/git/tags{/sha}", Hooks: base + "/hooks",
		IssueComment: base + "/issues/comments{/number}", IssueEvents: base + "/issues/events{/number}",
		Issues: base + "/issues{/number}", Keys: base + "/keys{/key_id}", Labels: base + "/labels{/name}",
		Languages: base + "/languages", Merges: base + "/merges", Milestones: base + "/milestones{/number}",
		Notifications: base + "/notifications{?since,all,participating}", Pulls: base + "/pulls{/number}",
		Releases: base + "/releases{/id}", Stargazers: base + "/stargazers", Statuses: base + "/statuses/{sha}",
		Subscribers: base + "/subscribers", Subscription: base + "/subscription", Tags: base + "/tags",
		Teams: base + "/teams", Trees: base + "/git/trees{/sha}", SVN: clone,
	}
}
