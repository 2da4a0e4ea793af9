// Package accounts is who there is: people and organisations, their names,
// profiles, addresses and keys.
//
//	name.go      which names may be taken
//	create.go    CreateUser
//
// Tables: directory.accounts, users, user_emails, account_redirects,
// retired_names. What an account signs in with is in package auth.
package accounts
