// Package protocol speaks git's wire protocols on the server's side, over HTTP
// and over SSH.
//
// Fetches: the capability advertisement of protocol v2 and ls-refs are answered
// here without a process; the packs come from git upload-pack, and identical
// fetches share one of them (PackCache). Protocols v0 and v1 go to git whole.
//
// Pushes: the package is a receive-pack of its own. The pack goes into a
// quarantine through git index-pack or unpack-objects, git rev-list checks that
// nothing is missing, the caller's Check and Prepare run in this process, the
// objects move into the repository, and git update-ref moves the refs; then the
// caller's Done. There are no hooks.
//
// What may be read or pushed by whom is the caller's to decide; the package
// knows no accounts. The formats are in the git manual: gitprotocol-common(5),
// gitprotocol-pack(5), gitprotocol-v2(5), gitprotocol-capabilities(5) and
// gitprotocol-http(5).
package protocol
