-- Files in texts. threads are the numbers of those whose texts have it, 0 for
-- a text that everyone who reads the repository sees; while there is none only
-- its uploader sees it. A file that no text has had for long is given up at
-- gone_at, and its content deleted a day later.
CREATE TABLE ?scope.attachments (
	id text PRIMARY KEY,
	uploader_id bigint NOT NULL,
	name text NOT NULL,
	content_type text NOT NULL,
	size bigint NOT NULL,
	sha256 text NOT NULL,
	threads bigint[] NOT NULL DEFAULT '{}',
	loose_at timestamptz,
	gone_at timestamptz,
	created_at timestamptz NOT NULL
);
CREATE INDEX attachments_loose ON ?scope.attachments (loose_at) WHERE loose_at IS NOT NULL;
