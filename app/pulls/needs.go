package pulls

import (
	"context"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
)

// Need is one thing that is asked of a pull request before it may be merged.
type Need struct {
	// Key tells what it is about: state, draft, conflicts, reviews, checks,
	// conversations, history, access.
	Key string
	// Met says that it is there.
	Met bool
	// Pending says that it is on its way, so nobody needs to do anything.
	Pending bool
	// Text says what is missing or there, Who can do something about it.
	Text, Who string
}

// Needs are what is asked of a pull request.
type Needs struct {
	List []Need
	// Bypass says that the viewer may merge in spite of unmet rules.
	Bypass bool
}

// Open are those that are not met.
func (n *Needs) Open() []Need {
	var out []Need
	for _, need := range n.List {
		if !need.Met {
			out = append(out, need)
		}
	}
	return out
}

// refusal is the fault for a merge while something is missing.
func (n *Needs) refusal(Place) error {
	for _, need := range n.List {
		if !need.Met {
			text := need.Text
			if need.Who != "" {
				text += " " + need.Who
			}
			return fault.Wrap(fault.Conflict, text, &NotMergeable{text})
		}
	}
	return nil
}

// needsOf looks at all that is asked of a pull request before it may be
// merged with a method ("" for any). It reads the repository's state only, so
// it can be asked within the transaction that decides about the merge.
func (s *Service) needsOf(_ context.Context, _ db.Repo, p Place, pull *model.Pull, _ string) (*Needs, error) {
	n := &Needs{}
	add := func(need Need) { n.List = append(n.List, need) }
	if pull.Issue.Draft {
		add(Need{Key: "draft", Text: "This pull request is still a draft.", Who: "Its author or someone with write access can mark it as ready."})
	}
	switch pull.Mergeable {
	case model.MergeGone:
		add(Need{Key: "state", Text: "The branch " + git.Display(pull.BaseRef) + " no longer exists.", Who: "Its author can choose another base."})
	case model.MergeUnrelated:
		if !p.Repo.Settings.AllowUnrelated {
			add(Need{Key: "history", Text: "The two branches have no common history, and this repository does not allow merging such.",
				Who: "An administrator can allow it in the settings."})
		}
	}
	return n, nil
}
