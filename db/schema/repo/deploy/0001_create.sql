-- Keys and tokens that open this repository alone, for machines.
CREATE TABLE ?scope.deploy_credentials (
	id bigint PRIMARY KEY,
	-- key or token
	kind text NOT NULL,
	name text NOT NULL,
	-- A key's fingerprint, a token's SHA-256.
	key bytea NOT NULL,
	-- A key as OpenSSH writes it, '' for a token.
	public text NOT NULL DEFAULT '',
	writes boolean NOT NULL,
	account_id bigint NOT NULL,
	created_at timestamptz NOT NULL,
	used_at timestamptz,
	expires_at timestamptz,
	UNIQUE (kind, key)
);
