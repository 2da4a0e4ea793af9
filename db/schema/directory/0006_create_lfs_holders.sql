-- Which repositories keep a blob alive. One that none has is deleted a day
-- after that was noticed: unheld_at, then gone while its content is removed.
ALTER TABLE directory.lfs_blobs ADD COLUMN unheld_at timestamptz, ADD COLUMN gone boolean NOT NULL DEFAULT false;
CREATE TABLE directory.lfs_holders (
	repo_id bigint NOT NULL REFERENCES directory.repos (id) ON DELETE CASCADE,
	oid text NOT NULL REFERENCES directory.lfs_blobs (oid),
	size bigint NOT NULL,
	created_at timestamptz NOT NULL,
	PRIMARY KEY (repo_id, oid)
);
CREATE INDEX lfs_holders_oid ON directory.lfs_holders (oid);
