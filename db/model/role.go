package model

// Role is what somebody may do with a repository, from least to most.
type Role string

// The roles, as GitHub names them.
const (
	RoleNone     Role = ""
	RoleRead     Role = "read"
	RoleTriage   Role = "triage"
	RoleWrite    Role = "write"
	RoleMaintain Role = "maintain"
	RoleAdmin    Role = "admin"
)

var roleRank = map[Role]int{RoleRead: 1, RoleTriage: 2, RoleWrite: 3, RoleMaintain: 4, RoleAdmin: 5}

// AtLeast says that r includes all that want allows.
func (r Role) AtLeast(want Role) bool { return roleRank[r] >= roleRank[want] }

// Valid says that r is one of the roles that can be given.
func (r Role) Valid() bool { return roleRank[r] > 0 }

// MaxRole is the higher of two roles.
func MaxRole(a, b Role) Role {
	if a.AtLeast(b) {
		return a
	}
	return b
}
