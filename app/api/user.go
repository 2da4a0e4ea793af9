package api

import (
	"encoding/base64"
	"fmt"
	"time"

	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/views/link"
)

// User is GitHub's simple user
// (https://docs.github.com/rest/users/users#get-a-user).
type User struct {
	Login             string `json:"login"`
	ID                int64  `json:"id"`
	NodeID            string `json:"node_id"`
	AvatarURL         string `json:"avatar_url"`
	GravatarID        string `json:"gravatar_id"`
	URL               string `json:"url"`
	HTMLURL           string `json:"html_url"`
	FollowersURL      string `json:"followers_url"`
	FollowingURL      string `json:"following_url"`
	GistsURL          string `json:"gists_url"`
	StarredURL        string `json:"starred_url"`
	SubscriptionsURL  string `json:"subscriptions_url"`
	OrganizationsURL  string `json:"organizations_url"`
	ReposURL          string `json:"repos_url"`
	EventsURL         string `json:"events_url"`
	ReceivedEventsURL string `json:"received_events_url"`
	Type              string `json:"type"`
	UserViewType      string `json:"user_view_type"`
	SiteAdmin         bool   `json:"site_admin"`
}

// UserOf is the account as the API shows it; a missing one is GitHub's ghost.
func UserOf(c *web.Ctx, a *model.Account) User {
	if a == nil {
		a = &model.Account{Name: "ghost", Kind: model.KindUser}
	}
	u := c.URL(web.APIPrefix + "/users/" + a.Name)
	kind := "User"
	if !a.IsUser() {
		kind = "Organization"
	}
	return User{Login: a.Name, ID: a.ID, NodeID: NodeID("User", a.ID), AvatarURL: c.URL(web.Avatar(a)),
		URL: u, HTMLURL: c.URL(link.Account(a.Name)), FollowersURL: u + "/followers",
		FollowingURL: u + "/following{/other_user}", GistsURL: u + "/gists{/gist_id}",
		StarredURL: u + "/starred{/owner}{/repo}", SubscriptionsURL: u + "/subscriptions",
		OrganizationsURL: u + "/orgs", ReposURL: u + "/repos", EventsURL: u + "/events{/privacy}",
		ReceivedEventsURL: u + "/received_events", Type: kind, UserViewType: "public"}
}

// UserRef is UserOf for fields that are null when there is nobody.
func UserRef(c *web.Ctx, a *model.Account) *User {
	if a == nil {
		return nil
	}
	u := UserOf(c, a)
	return &u
}

// NodeID is an id that is unique on the instance, of a kind and the ids that
// name one within it.
func NodeID(kind string, ids ...int64) string {
	s := kind
	for _, id := range ids {
		s += fmt.Sprintf(":%d", id)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(s))
}

// Time is a time as the API writes it: UTC, whole seconds (RFC 3339).
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// TimeRef is Time for fields that are null when unset.
func TimeRef(t *time.Time) *string {
	if t == nil {
		return nil
	}
	s := Time(*t)
	return &s
}
