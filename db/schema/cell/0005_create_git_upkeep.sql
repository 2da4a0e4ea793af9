-- What maintenance did to a repository's git folder, or to the pool that the
-- forks of a network borrow from, the last time; and what it must still do.
CREATE TABLE cell.git_upkeep (
	repo_id bigint NOT NULL,
	pool boolean NOT NULL DEFAULT false,
	-- dropped_at is when commits were first dropped since the last full repack.
	dropped_at timestamptz,
	full_at timestamptz,
	started_at timestamptz,
	took_ms bigint NOT NULL DEFAULT 0,
	did text[] NOT NULL DEFAULT '{}',
	bytes_before bigint NOT NULL DEFAULT 0,
	bytes_after bigint NOT NULL DEFAULT 0,
	files_before bigint NOT NULL DEFAULT 0,
	files_after bigint NOT NULL DEFAULT 0,
	error text NOT NULL DEFAULT '',
	PRIMARY KEY (repo_id, pool)
);
CREATE INDEX git_upkeep_started ON cell.git_upkeep (started_at DESC);
