-- What others say of a commit: statuses, of which each report is a row, and
-- check runs, which change.
CREATE TABLE ?scope.statuses (
	id bigint PRIMARY KEY,
	sha text NOT NULL,
	kind text NOT NULL,
	context text NOT NULL,
	-- statuses: error, failure, pending, success; check runs: their conclusion,
	-- or their status while they have none.
	state text NOT NULL,
	description text NOT NULL DEFAULT '',
	target_url text NOT NULL DEFAULT '',
	creator_id bigint NOT NULL,
	-- What only check runs have.
	data jsonb,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE INDEX statuses_commit ON ?scope.statuses (sha, id);
