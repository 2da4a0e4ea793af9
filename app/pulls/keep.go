package pulls

import (
	"context"
	"strconv"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/git/protocol"
	"github.com/gitfor/gitfor/db/model"
)

// headRef is the ref by which a pull request's head is fetched, as on GitHub.
func headRef(number int64) string {
	return "refs/pull/" + strconv.FormatInt(number, 10) + "/head"
}

// roundRef keeps a round's commits alive after the branch was rewritten.
func roundRef(number int64, round int) string {
	return protocol.InternalRefs + "pull/" + strconv.FormatInt(number, 10) + "/" + strconv.Itoa(round)
}

// keep moves the hidden refs of a pull request to its newest round. They are
// no part of what people push, so no event tells of them. What is not kept
// because the process ends here is kept by the next round, or by the grace
// that maintenance gives to objects without a ref.
func keep(ctx context.Context, g *git.Repository, pull *model.Pull) error {
	head := git.OID(pull.HeadSHA)
	return g.UpdateRefs(ctx, []git.RefUpdate{
		{Name: headRef(pull.Number), New: head},
		{Name: roundRef(pull.Number, pull.Round()), New: head},
	})
}
