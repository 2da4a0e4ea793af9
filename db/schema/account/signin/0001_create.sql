CREATE TABLE ?scope.sessions (
	hash bytea PRIMARY KEY,
	data jsonb NOT NULL,
	created_at timestamptz NOT NULL,
	seen_at timestamptz NOT NULL,
	expires_at timestamptz NOT NULL
);

-- kind: passkey, recovery, token, ssh_key, gpg_key, totp.
CREATE TABLE ?scope.credentials (
	id bigint PRIMARY KEY,
	kind text NOT NULL,
	key bytea NOT NULL,
	name text NOT NULL DEFAULT '',
	data jsonb NOT NULL DEFAULT '{}',
	created_at timestamptz NOT NULL,
	used_at timestamptz,
	expires_at timestamptz,
	UNIQUE (kind, key)
);
