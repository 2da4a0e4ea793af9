-- Issues, pull requests and discussions share their numbers and their
-- conversation, so each has a row here; kind tells them apart.
CREATE TABLE ?scope.issues (
	number bigint PRIMARY KEY,
	id bigint NOT NULL,
	kind text NOT NULL DEFAULT 'issue',
	title text NOT NULL,
	body text NOT NULL DEFAULT '',
	state text NOT NULL DEFAULT 'open',
	state_reason text NOT NULL DEFAULT '',
	author_id bigint NOT NULL,
	label_ids bigint[] NOT NULL DEFAULT '{}',
	assignee_ids bigint[] NOT NULL DEFAULT '{}',
	milestone_id bigint,
	issue_type text NOT NULL DEFAULT '',
	parent bigint,
	children bigint[] NOT NULL DEFAULT '{}',
	blocked_by bigint[] NOT NULL DEFAULT '{}',
	blocking bigint[] NOT NULL DEFAULT '{}',
	duplicate_of bigint,
	-- Threads of this repository that the body names.
	refs bigint[] NOT NULL DEFAULT '{}',
	tasks int NOT NULL DEFAULT 0,
	tasks_done int NOT NULL DEFAULT 0,
	comments int NOT NULL DEFAULT 0,
	reactions jsonb NOT NULL DEFAULT '[]',
	locked text NOT NULL DEFAULT '',
	confidential boolean NOT NULL DEFAULT false,
	draft boolean NOT NULL DEFAULT false,
	pinned_at timestamptz,
	version int NOT NULL DEFAULT 1,
	closed_by bigint,
	closed_at timestamptz,
	edited_at timestamptz,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	search tsvector GENERATED ALWAYS AS (
		setweight(to_tsvector('simple', title), 'A') || to_tsvector('simple', left(body, 30000))) STORED
);
CREATE INDEX issues_list ON ?scope.issues (kind, state, updated_at DESC);
CREATE INDEX issues_sets ON ?scope.issues USING gin (label_ids, assignee_ids, search);

-- Everything in a thread after its first post: comments and the small lines
-- between them, in the order of their ids.
CREATE TABLE ?scope.timeline (
	id bigint PRIMARY KEY,
	number bigint NOT NULL,
	kind text NOT NULL,
	author_id bigint NOT NULL,
	body text NOT NULL DEFAULT '',
	data jsonb NOT NULL DEFAULT '{}',
	refs bigint[] NOT NULL DEFAULT '{}',
	reactions jsonb NOT NULL DEFAULT '[]',
	version int NOT NULL DEFAULT 1,
	edited_at timestamptz,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE INDEX timeline_thread ON ?scope.timeline (number, id);
CREATE INDEX timeline_search ON ?scope.timeline USING gin (to_tsvector('simple', left(body, 30000))) WHERE kind = 'comment';

-- kind: label, milestone, subscription, edit, draft, view.
CREATE TABLE ?scope.issue_records (
	kind text NOT NULL,
	key text NOT NULL,
	id bigint NOT NULL,
	data jsonb NOT NULL DEFAULT '{}',
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	PRIMARY KEY (kind, key)
);

-- The labels that every repository starts with; ids to 16 are theirs.
INSERT INTO ?scope.issue_records (kind, key, id, data, created_at, updated_at)
SELECT 'label', lower(name), id, jsonb_build_object('name', name, 'color', color, 'description', description, 'default', true), now(), now()
FROM (VALUES
	(1, 'bug', 'd73a4a', 'Something does not work as it should'),
	(2, 'documentation', '0075ca', 'About the documentation'),
	(3, 'duplicate', 'cfd3d7', 'Reported elsewhere already'),
	(4, 'enhancement', 'a2eeef', 'Something new or better'),
	(5, 'good first issue', '7057ff', 'A good place to start'),
	(6, 'help wanted', '008672', 'Help from others is welcome'),
	(7, 'invalid', 'e4e669', 'Not right as it is'),
	(8, 'question', 'd876e3', 'More information is asked for'),
	(9, 'wontfix', 'ffffff', 'This stays as it is')
) AS label (id, name, color, description);
