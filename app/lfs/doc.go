// Package lfs keeps large files beside git, as git-lfs wants them
// (https://github.com/git-lfs/git-lfs/tree/main/docs): objects by their
// SHA-256, and locks on paths.
//
//	lfs.go        Service; pointers; finding and opening objects
//	object.go     receiving objects, quotas, removing what nobody has
//	lock.go       Lock, Unlock, Locks
//	push.go       refusing changes to what others have locked
//	adopt.go      objects that come with commits from a fork
//	token.go      what the client is given for its transfers
//	http*.go      the batch, transfer and lock endpoints; settings pages
//
// Content is in the blob space "lfs", once for the whole instance. Tables: the
// domain "lfs" of a repository's scope says what the repository may give out;
// directory.lfs_blobs and lfs_holders say which blobs are still wanted. Events:
// lfs.locked, lfs.unlocked. Job: lfs.sweep. Views: views/lfsview.
package lfs
