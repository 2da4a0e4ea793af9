package app

import (
	"github.com/gitfor/gitfor/app/access"
	"github.com/gitfor/gitfor/app/accounts"
	"github.com/gitfor/gitfor/app/codes"
	"github.com/gitfor/gitfor/app/events"
	"github.com/gitfor/gitfor/app/issues"
	"github.com/gitfor/gitfor/app/lfs"
	"github.com/gitfor/gitfor/app/orgs"
	"github.com/gitfor/gitfor/app/protection"
	"github.com/gitfor/gitfor/app/pulls"
	"github.com/gitfor/gitfor/app/releases"
	"github.com/gitfor/gitfor/app/repos"
	"github.com/gitfor/gitfor/app/reviews"
	"github.com/gitfor/gitfor/app/statuses"
)

// Catalogue is every type of event that gitfor publishes.
func Catalogue() events.Catalogue {
	return events.CatalogueOf(
		access.Payloads(),
		accounts.Payloads(),
		codes.Payloads(),
		issues.Payloads(),
		lfs.Payloads(),
		orgs.Payloads(),
		protection.Payloads(),
		pulls.Payloads(),
		releases.Payloads(),
		repos.Payloads(),
		reviews.Payloads(),
		statuses.Payloads(),
	)
}
