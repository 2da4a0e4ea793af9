// Package secret holds what gitfor keeps secret and how it proves things:
// the instance's key file, sealing of values at rest, self-locating tokens,
// recovery codes, one-time link tokens and sortable random ids.
//
//	key.go       Ring, LoadOrCreateKey, RotateKey: the key file
//	seal.go      Ring.Seal, Ring.Open: authenticated encryption by purpose
//	token.go     Tokens: g1t_<kind>_<body><checksum>
//	link.go      Tokens.NewLink, ParseLink: tokens for addresses sent by mail
//	recovery.go  recovery codes for people who lost their passkeys
//	id.go        NewID, EventID: UUIDv7 with a prefix
//
// Nothing here reads a database; callers store hashes and sealed bytes.
package secret
