// Package highlight colours source code, line by line.
//
//	lines.go     Lines: a file as one piece of HTML a line
//	snippet.go   Snippet: a block of code in a text
//	lexer.go     which language a file is in
//	language.go  names, colours and kinds of languages, for statistics
//	hidden.go    characters that deceive the reader
//	mark.go      Mark: ranges of a coloured line, for word diffs and searches
//	cache.go     Cache: coloured files in memory
//
// The HTML holds spans with chroma's short class names (Classes lists them)
// below an element of class chroma, and no styles.
package highlight
