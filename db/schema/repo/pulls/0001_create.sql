-- What a pull request has beyond its thread, whose row in issues has the same
-- number. Shas are hexadecimal; '' is none.
CREATE TABLE ?scope.pulls (
	number bigint PRIMARY KEY,
	base_ref text NOT NULL,
	-- Where the base was when mergeability was last computed.
	base_sha text NOT NULL,
	-- 0 when the head's repository is gone.
	head_repo bigint NOT NULL,
	head_ref text NOT NULL,
	head_sha text NOT NULL,
	-- owner:branch, for the time after the repository is gone.
	head_label text NOT NULL,
	merge_base text NOT NULL DEFAULT '',
	-- clean, conflict, unrelated or gone (a branch does not exist).
	mergeable text NOT NULL DEFAULT '',
	conflicts text[] NOT NULL DEFAULT '{}',
	commits int NOT NULL DEFAULT 0,
	additions int NOT NULL DEFAULT 0,
	deletions int NOT NULL DEFAULT 0,
	changed_files int NOT NULL DEFAULT 0,
	-- Versions of the head, oldest first: {head, base, at, by, forced}.
	rounds jsonb NOT NULL DEFAULT '[]',
	-- Who was asked for a review and has not given one since.
	reviewer_ids bigint[] NOT NULL DEFAULT '{}',
	team_ids bigint[] NOT NULL DEFAULT '{}',
	maintainer_edits boolean NOT NULL DEFAULT true,
	-- What merges by itself once all is met: {method, title, message, by, at}.
	auto_merge jsonb,
	-- A merge on its way: {sha, method, by, at}.
	merging jsonb,
	merge_sha text NOT NULL DEFAULT '',
	merge_method text NOT NULL DEFAULT '',
	merged_by bigint,
	merged_at timestamptz,
	updated_at timestamptz NOT NULL
);
CREATE INDEX pulls_base ON ?scope.pulls (base_ref) WHERE merged_at IS NULL;

-- A review; its state is pending until it is submitted.
CREATE TABLE ?scope.reviews (
	id bigint PRIMARY KEY,
	number bigint NOT NULL,
	author_id bigint NOT NULL,
	state text NOT NULL,
	body text NOT NULL DEFAULT '',
	-- The head that was reviewed.
	sha text NOT NULL,
	round int NOT NULL,
	-- Whether the author could write when the review was submitted: others'
	-- approvals count for no rule.
	counts boolean NOT NULL DEFAULT false,
	reactions jsonb NOT NULL DEFAULT '[]',
	dismissal text NOT NULL DEFAULT '',
	submitted_at timestamptz,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE INDEX reviews_pull ON ?scope.reviews (number, id);

-- Comments on changes. Those that answer another have its id in thread; the
-- first of a thread has its own.
CREATE TABLE ?scope.review_comments (
	id bigint PRIMARY KEY,
	number bigint NOT NULL,
	review_id bigint NOT NULL,
	thread bigint NOT NULL,
	author_id bigint NOT NULL,
	body text NOT NULL,
	-- What it was written about: line 0 is the file as a whole.
	path text NOT NULL,
	side text NOT NULL DEFAULT 'RIGHT',
	line int NOT NULL DEFAULT 0,
	start_line int NOT NULL DEFAULT 0,
	start_side text NOT NULL DEFAULT '',
	sha text NOT NULL,
	base_sha text NOT NULL,
	round int NOT NULL,
	hunk text NOT NULL DEFAULT '',
	-- Where that is in the current round: {path, line, start}; null when it is
	-- outdated.
	place jsonb,
	-- Not submitted yet: only its author sees it.
	pending boolean NOT NULL DEFAULT false,
	resolved_by bigint,
	resolved_at timestamptz,
	reactions jsonb NOT NULL DEFAULT '[]',
	version int NOT NULL DEFAULT 1,
	edited_at timestamptz,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE INDEX review_comments_pull ON ?scope.review_comments (number, thread, id);
