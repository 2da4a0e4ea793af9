// Package threads is the conversation that issues, pull requests and
// discussions share: the first post, its state and facts, comments and the
// lines between them, reactions, subscriptions and references. A thread's kind
// decides only what its events are called and what the features that build on
// it add.
//
//	threads.go    Service, Place (who acts where), Find
//	text.go       what may be written: limits, references, mentions, tasks
//	open.go       a new thread
//	update.go     one change of any facts; change.go has each of them
//	comment.go    comments: create, edit, delete
//	react.go      reactions
//	subscribe.go  who is told
//	refs.go       cross references, as lines in the timeline
//	render.go     texts to HTML, with people and threads looked up once
//	policy.go     who may do what
//	events.go     what is published
package threads
