-- Repositories elsewhere that this one was imported from, follows or is copied
-- to.
CREATE TABLE ?scope.mirrors (
	id bigint PRIMARY KEY,
	-- import (once), pull or push
	kind text NOT NULL,
	url text NOT NULL,
	username text NOT NULL DEFAULT '',
	-- The password, sealed; NULL for none.
	secret bytea,
	account_id bigint NOT NULL,
	-- How often it is repeated; 0 is not by the clock.
	every_minutes int NOT NULL DEFAULT 0,
	-- waiting, running, ok or failed
	state text NOT NULL,
	message text NOT NULL DEFAULT '',
	phase text NOT NULL DEFAULT '',
	percent int NOT NULL DEFAULT 0,
	-- again: once more after this run, since the branches moved meanwhile.
	again boolean NOT NULL DEFAULT false,
	failures int NOT NULL DEFAULT 0,
	created_at timestamptz NOT NULL,
	started_at timestamptz,
	-- A sign of life of the process that runs it.
	beat_at timestamptz,
	finished_at timestamptz,
	ok_at timestamptz,
	next_at timestamptz
);
