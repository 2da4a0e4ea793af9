-- What the account has to do with threads of any repository: an index fed by
-- events, so that no page walks repositories. Who reads it leaves out what the
-- account may not read any more.
CREATE TABLE ?scope.involvements (
	repo_id bigint NOT NULL,
	number bigint NOT NULL,
	pull boolean NOT NULL,
	open boolean NOT NULL,
	title text NOT NULL,
	-- author, assignee, reviewer (asked) and reviewed; none: no longer.
	roles text[] NOT NULL,
	-- The event, by its place in the log, after which this was so.
	seq bigint NOT NULL,
	updated_at timestamptz NOT NULL,
	PRIMARY KEY (repo_id, number)
);
