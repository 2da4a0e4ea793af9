// Package odb reads git's object database from its files: loose objects, packs
// with version 2 indexes and alternates (gitformat-pack(5),
// gitrepository-layout(5)). It also writes loose objects.
//
// Files that other processes add or remove are noticed: a miss looks for new
// packs before it says so, and a pack that vanished during a read is replaced
// by the one that took its objects.
package odb
