-- The inbox: one row per thread, whatever happened in it.
CREATE TABLE ?scope.notifications (
	id bigint PRIMARY KEY,
	repo_id bigint NOT NULL,
	kind text NOT NULL,
	key text NOT NULL,
	title text NOT NULL,
	state text NOT NULL DEFAULT '',
	author_id bigint NOT NULL DEFAULT 0,
	reason text NOT NULL,
	actor_id bigint NOT NULL DEFAULT 0,
	what text NOT NULL DEFAULT '',
	comment_id bigint NOT NULL DEFAULT 0,
	-- How much happened since it was read.
	news int NOT NULL DEFAULT 0,
	unread boolean NOT NULL DEFAULT true,
	saved boolean NOT NULL DEFAULT false,
	-- Since when it waits for this person.
	turn_at timestamptz,
	snoozed_until timestamptz,
	done_at timestamptz,
	read_at timestamptz,
	-- When the digest is due that tells of it.
	digest_at timestamptz,
	seq bigint NOT NULL,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	UNIQUE (repo_id, kind, key)
);
CREATE INDEX notifications_list ON ?scope.notifications (updated_at DESC, id DESC) WHERE done_at IS NULL;
