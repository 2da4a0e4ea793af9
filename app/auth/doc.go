// Package auth is how people and programs prove who they are: passkeys,
// recovery codes, sessions, personal access tokens and SSH keys.
//
//	http.go               Service, New; the route table
//	http_authenticate.go  Authenticate: which viewer a request acts for
//	http_store.go         the sessions' store, over the account's scope
//	session.go            StartSession, EndSession: sessions and sudo
//	token.go              NewToken, ByToken: personal access tokens
//	scope.go              what a token's scopes allow
//	cache.go, warm.go     what is kept in memory for 30 seconds at most
//	touch.go              when credentials were last used, written in batches
//
// Sessions and credentials are rows of the account's own scope (domain
// "signin"). Session and token texts embed the account's id, so no index is
// needed to find them; only SHA-256 sums are stored. Passkeys and SSH keys,
// which cannot embed it, have a row in directory.scope_locators.
package auth
