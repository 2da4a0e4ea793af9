// Package markup turns what people write into HTML that is safe to show.
//
//	markup.go    Renderer, Options, RenderAll: the way through the package
//	syntax.go    the Markdown that is understood; math.go, alert.go
//	slots.go     HTML of our own that bypasses sanitising, by unguessable marks
//	sanitize.go  what of an author's HTML stays
//	tree.go      ids, headings, addresses (link.go), references (refs.go)
//	lookup.go    what references mean, asked once for all texts of a page
//	watch.go     bounds on the work that one text may cause
//	extract.go   mentions, references and closing keywords; task.go; text.go
//	kind.go      how a file is shown; notebook.go, table.go
//
// A text is parsed (goldmark), written as HTML, sanitised (bluemonday), parsed
// as HTML so that it cannot close elements of the page around it, given ids,
// addresses and references, and written again. All but the references depends
// on the text alone and is kept in memory. Text that is too long, too deeply
// nested or that a parser fails on is shown as plain text.
package markup
