-- Issues and pull requests share their numbers and their conversation, so
-- both have a row here; kind tells them apart.
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
	blocked_by bigint[] NOT NULL DEFAULT '{}',
	comments int NOT NULL DEFAULT 0,
	reactions jsonb NOT NULL DEFAULT '{}',
	locked text NOT NULL DEFAULT '',
	confidential boolean NOT NULL DEFAULT false,
	pinned_at timestamptz,
	version int NOT NULL DEFAULT 1,
	closed_by bigint,
	closed_at timestamptz,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE INDEX issues_list ON ?scope.issues (kind, state, updated_at DESC);
CREATE INDEX issues_sets ON ?scope.issues USING gin (label_ids, assignee_ids);

-- Everything in a thread after its first post: comments and the small lines
-- between them, in the order of their ids.
CREATE TABLE ?scope.timeline (
	id bigint PRIMARY KEY,
	number bigint NOT NULL,
	kind text NOT NULL,
	author_id bigint NOT NULL,
	body text NOT NULL DEFAULT '',
	data jsonb NOT NULL DEFAULT '{}',
	reactions jsonb NOT NULL DEFAULT '{}',
	version int NOT NULL DEFAULT 1,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE INDEX timeline_thread ON ?scope.timeline (number, id);

-- kind: label, milestone, subscription, saved_view, edit, draft.
CREATE TABLE ?scope.issue_records (
	kind text NOT NULL,
	key text NOT NULL,
	id bigint NOT NULL,
	data jsonb NOT NULL DEFAULT '{}',
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	PRIMARY KEY (kind, key)
);
