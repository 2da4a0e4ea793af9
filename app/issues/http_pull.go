package issues

import (
	"github.com/a-h/templ"
	"github.com/gitfor/gitfor/app/threads"
	"github.com/gitfor/gitfor/app/web"
	"github.com/gitfor/gitfor/db/threaddb"
	"github.com/gitfor/gitfor/views/issueview"
	"github.com/gitfor/gitfor/views/threadview"
	"github.com/gitfor/gitfor/views/ui"
)

// PullPages is how pull requests show what they have in common with issues:
// the handlers of threads answer through it where the thread is one.
type PullPages interface {
	// Part answers with the part of the page that htmx wants.
	Part(c *web.Ctx, status int, v *threads.View, errors ui.Errors) error
	// Refused answers with the whole page, its composer changed.
	Refused(c *web.Ctx, v *threads.View, change func(p *threadview.ComposerProps)) error
	// Head is the head of the page, or the form for its title.
	Head(c *web.Ctx, v *threads.View, h issueview.HeadProps) (templ.Component, error)
}

// Parts are what the page of a thread is made of.
type Parts struct {
	Head     issueview.HeadProps
	Timeline threadview.TimelineProps
	Composer threadview.ComposerProps
	Sidebar  threadview.SidebarProps
}

// Parts makes the parts of a thread's page.
func (s *Service) Parts(c *web.Ctx, v *threads.View) Parts {
	b := s.building(c, v)
	return Parts{b.head(), b.timeline(), b.composer(), b.sidebar()}
}

// Refs are other threads of the repository as links; those that the viewer
// may not see, or that the view does not know, are left out.
func (s *Service) Refs(c *web.Ctx, v *threads.View, numbers []int64) []*threadview.Ref {
	return s.building(c, v).refs(numbers)
}

// Window is the part of a thread's timeline that the request asks for.
func (s *Service) Window(c *web.Ctx) threaddb.Window { return window(c) }
