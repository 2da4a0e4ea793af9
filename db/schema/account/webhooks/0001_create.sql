-- Who wants to be told of events, and where. The secret is sealed.
CREATE TABLE ?scope.hooks (
	id bigint PRIMARY KEY,
	active boolean NOT NULL DEFAULT true,
	format text NOT NULL,
	url text NOT NULL,
	content_type text NOT NULL DEFAULT 'json',
	events text[] NOT NULL,
	secret bytea,
	creator_id bigint NOT NULL,
	failures integer NOT NULL DEFAULT 0,
	failing_since timestamptz,
	last jsonb,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);

-- One row per hook and event, kept 14 days; a redelivery is a row of its own.
CREATE TABLE ?scope.deliveries (
	id bigint PRIMARY KEY,
	hook_id bigint NOT NULL,
	event_id text NOT NULL,
	again boolean NOT NULL DEFAULT false,
	guid text NOT NULL,
	event text NOT NULL,
	action text NOT NULL DEFAULT '',
	repo_id bigint,
	state text NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
	attempt integer NOT NULL DEFAULT 0,
	next_at timestamptz,
	request jsonb NOT NULL,
	response jsonb,
	attempts jsonb NOT NULL DEFAULT '[]',
	created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX deliveries_once ON ?scope.deliveries (hook_id, event_id) WHERE NOT again;
CREATE INDEX deliveries_due ON ?scope.deliveries (next_at) WHERE next_at IS NOT NULL;
