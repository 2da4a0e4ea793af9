// Package access is who may do what with a repository: people who were
// invited by name, teams, and why each person has the role that they have.
//
// Pages: …/settings/access and …/invitations. API: GitHub's collaborators and
// repository invitations. Tables: directory.collaborators, team_repos and
// invitations. Events: collaborator.*, team.*_repository.
package access

import "time"

// InvitationTime is how long an invitation is good.
const InvitationTime = 7 * 24 * time.Hour
