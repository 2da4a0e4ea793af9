-- Large files of this repository: what it may give out, and who has locked
-- which path.
CREATE TABLE ?scope.lfs_objects (
	oid text PRIMARY KEY,
	size bigint NOT NULL,
	account_id bigint NOT NULL,
	created_at timestamptz NOT NULL
);
CREATE TABLE ?scope.lfs_locks (
	id bigint PRIMARY KEY,
	path text NOT NULL UNIQUE,
	-- The ref that the client named; a lock holds on every branch.
	ref text NOT NULL DEFAULT '',
	account_id bigint NOT NULL,
	created_at timestamptz NOT NULL
);
