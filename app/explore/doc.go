// Package explore is the way in: the landing page, the dashboard of who is
// signed in, the list of public repositories, and the command palette. It
// reads the directory only.
package explore
