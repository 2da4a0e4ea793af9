package threads

import (
	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db/model"
)

func (p Place) sees(i *model.Issue) bool { return i.VisibleTo(p.Viewer.ID(), p.Role) }

// MayComment says whether the viewer may write and react in a thread.
func (p Place) MayComment(i *model.Issue) bool {
	return p.Viewer.SignedIn() && !p.Repo.Archived() && (i.Locked == "" || p.Role.AtLeast(model.RoleWrite))
}

// MayEdit says whether the viewer may change a text of this author.
func (p Place) MayEdit(authorID int64) bool {
	return p.Viewer.SignedIn() && !p.Repo.Archived() && (p.Viewer.ID() == authorID || p.Role.AtLeast(model.RoleWrite))
}

// MayTriage says whether the viewer may set labels, assignees, milestones and
// types.
func (p Place) MayTriage() bool { return !p.Repo.Archived() && p.Role.AtLeast(model.RoleTriage) }

// MayModerate says whether the viewer may lock and pin.
func (p Place) MayModerate() bool { return !p.Repo.Archived() && p.Role.AtLeast(model.RoleWrite) }

// MayClose says whether the viewer may close a thread.
func (p Place) MayClose(i *model.Issue) bool {
	return p.MayTriage() || p.Viewer.SignedIn() && !p.Repo.Archived() && p.Viewer.ID() == i.AuthorID
}

// MayReopen says whether the viewer may open a thread again: its author only
// where nobody else has closed it.
func (p Place) MayReopen(i *model.Issue) bool {
	return p.MayTriage() || p.MayClose(i) && (i.ClosedBy == 0 || i.ClosedBy == i.AuthorID)
}

// MayDelete says whether the viewer may remove a thread for good.
func (p Place) MayDelete() bool { return p.Role.AtLeast(model.RoleAdmin) }

func denied(sentence string) error { return fault.New(fault.Forbidden, sentence) }
