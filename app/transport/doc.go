// Package transport is how git reaches repositories: over HTTP and SSH. It
// decides who may fetch and push, writes a push down before its refs move and
// publishes it after; the protocols themselves are app/git/protocol.
//
// Routes: /{owner}/{repo}/info/refs, git-upload-pack, git-receive-pack, with
// and without .git. Tables: cell.push_intents through repos. Events: git.push.
package transport
