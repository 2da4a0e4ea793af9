package link

// Home is the dashboard, or the landing page for strangers.
func Home() string { return "/" }

// Explore lists public repositories and accounts; q filters by name.
func Explore(q string) string { return Q("q", q).On("/explore") }

// Login is the sign-in page. next is the root-relative address to go to
// afterwards, or empty.
func Login(next string) string { return Q("next", next).On("/login") }

// LoginRecovery is the page that takes a recovery code in place of a passkey.
func LoginRecovery() string { return "/login/recovery" }

// Signup is the sign-up page.
func Signup() string { return "/signup" }

// Logout ends the session; it takes POST.
func Logout() string { return "/logout" }

// New is the form that creates a repository.
func New() string { return "/new" }

// NewOrg is the form that creates an organisation.
func NewOrg() string { return "/organizations/new" }

// Import is the form that imports a repository from elsewhere.
func Import() string { return "/new/import" }

// Notifications is the viewer's inbox.
func Notifications() string { return "/notifications" }

// InboxBadge is the link to the inbox as the top bar shows it.
func InboxBadge() string { return "/-/inbox-badge" }

// Settings is a section of the viewer's settings: "profile", "keys", "tokens",
// "passkeys", …; empty is the first one.
func Settings(section string) string {
	if section == "" {
		return "/settings"
	}
	return "/settings/" + Path(section)
}

// Admin is a section of the operator's pages; empty is the overview.
func Admin(section string) string {
	if section == "" {
		return "/admin"
	}
	return "/admin/" + Path(section)
}

// Palette is the command palette's source of options.
func Palette() string { return "/-/palette" }

// Preview renders Markdown for a composer; it takes POST.
func Preview() string { return "/-/preview" }

// Drafts keeps what people are writing.
func Drafts() string { return "/-/drafts" }

// SavedReplies is the menu of the viewer's saved replies.
func SavedReplies() string { return "/-/replies" }

// Live is the WebSocket that tells open pages what has changed.
func Live() string { return "/-/live" }

// Avatar is the generated picture of the account with this id.
func Avatar(accountID int64) string { return "/-/avatar/" + num(accountID) }

// Book is the storybook, served in development.
func Book() string { return "/-/ui" }

// Theme stores the viewer's theme; it takes POST.
func Theme() string { return "/-/theme" }

// Account is the page of a user or organisation.
func Account(name string) string { return "/" + Segment(name) }

// AccountTab is a tab of an account's page, such as "repositories" or
// "stars"; empty is the overview.
func AccountTab(name, tab string) string { return Q("tab", tab).On(Account(name)) }

// OrgSettings is a section of an organisation's settings.
func OrgSettings(name, section string) string {
	base := "/organizations/" + Segment(name) + "/settings"
	if section == "" {
		return base
	}
	return base + "/" + Path(section)
}

// Org is a page below an organisation, such as "people" or "teams".
func Org(name, page string) string { return "/orgs/" + Segment(name) + "/" + Path(page) }

// Team is the page of a team of an organisation.
func Team(org, team string) string { return Org(org, "teams") + "/" + Segment(team) }
