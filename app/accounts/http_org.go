package accounts

import (
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/views/layout"
	"github.com/gitfor/gitfor/views/link"
	"github.com/gitfor/gitfor/views/ui"
)

// OrgSection is a page of an organisation's settings that a feature adds.
type OrgSection struct{ Key, Label, Icon string }

// OrgShell is the frame of the settings pages of the organisation in c, with
// the page of this key as the current one.
func (s *Service) OrgShell(c *web.Ctx, active string) layout.Shell {
	name := c.Account.Name
	var nav ui.NavSection
	for _, sec := range s.OrgSections {
		nav.Links = append(nav.Links, ui.Tab{Key: sec.Key, Label: sec.Label, Icon: sec.Icon, Href: link.OrgSettings(name, sec.Key)})
	}
	return layout.SettingsShell(layout.SettingsProps{Label: "Settings of " + name, Active: active, Sections: []ui.NavSection{nav},
		Place: []layout.Crumb{{Label: name, Href: link.Account(name)}, {Label: "Settings", Href: link.OrgSettings(name, "")}}})
}
