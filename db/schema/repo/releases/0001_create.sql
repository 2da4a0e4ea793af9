-- A release is a tag with notes and files. A draft may have a tag that does
-- not exist yet, and several drafts the same one. latest is 1 for the marked
-- one, 0 for those that are it when none is marked, -1 for those that never are.
CREATE TABLE ?scope.releases (
	id bigint PRIMARY KEY,
	tag text NOT NULL,
	target text NOT NULL DEFAULT '',
	commit_sha text NOT NULL DEFAULT '',
	name text NOT NULL DEFAULT '',
	body text NOT NULL DEFAULT '',
	draft boolean NOT NULL DEFAULT false,
	prerelease boolean NOT NULL DEFAULT false,
	immutable boolean NOT NULL DEFAULT false,
	latest smallint NOT NULL DEFAULT 0,
	author_id bigint NOT NULL,
	version int NOT NULL DEFAULT 1,
	created_at timestamptz NOT NULL,
	published_at timestamptz,
	updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX releases_tag ON ?scope.releases (tag) WHERE NOT draft;
CREATE INDEX releases_list ON ?scope.releases (coalesce(published_at, created_at) DESC, id DESC);

-- The files of releases, by their contents' hash in the store of blobs.
CREATE TABLE ?scope.release_assets (
	id bigint PRIMARY KEY,
	release_id bigint NOT NULL,
	name text NOT NULL,
	label text NOT NULL DEFAULT '',
	content_type text NOT NULL DEFAULT '',
	size bigint NOT NULL,
	sha256 text NOT NULL,
	uploader_id bigint NOT NULL,
	downloads bigint NOT NULL DEFAULT 0,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX release_assets_name ON ?scope.release_assets (release_id, name);
