// Package orgs is what organisations have beside an account: people with
// roles, invitations, teams within teams, and rules for their members.
//
// Pages: /orgs/{org}/people, /orgs/{org}/teams, /organizations/{org}/settings,
// /invitations/{token}. API: GitHub's organisation members, invitations and
// teams. Tables: directory.org_members, teams, team_members, invitations.
// Events: member.*, team.*, organization.*.
package orgs

import "time"

// LinkTime is how long an invitation is good.
const LinkTime = 7 * 24 * time.Hour

// Roles in an organisation.
const (
	Owner  = "owner"
	Member = "member"
)
