-- Browsers that take pushes.
CREATE TABLE ?scope.push_browsers (
	id bigint PRIMARY KEY,
	-- The SHA-256 of the endpoint.
	key bytea NOT NULL UNIQUE,
	-- The session that turned pushes on: they end with it.
	session bytea NOT NULL,
	name text NOT NULL,
	-- The endpoint with its keys.
	sealed bytea NOT NULL,
	created_at timestamptz NOT NULL
);
