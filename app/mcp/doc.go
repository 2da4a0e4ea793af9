// Package mcp serves agents by the Model Context Protocol at /mcp (streamable
// HTTP, https://modelcontextprotocol.io/specification). Each tool is an
// operation of the REST API, called in this process with the caller's own
// credentials: the same permissions, limits and errors.
//
//	tools.go   the table of tools
//	call.go    a tool's call as a request to the API, and its answer
//	http.go    the address, and where clients learn how to sign in
package mcp
