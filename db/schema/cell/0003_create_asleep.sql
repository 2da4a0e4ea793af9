-- What the schemas of sleeping scopes held: one parcel each, in parts.
CREATE TABLE cell.asleep (
	scope text NOT NULL,
	part int NOT NULL,
	data bytea NOT NULL,
	PRIMARY KEY (scope, part)
);
ALTER TABLE cell.asleep ALTER COLUMN data SET STORAGE EXTERNAL;

-- When a scope may sleep that was woken for somebody who does not count as a
-- touch; null: a while after touched_at.
ALTER TABLE cell.scopes ADD COLUMN sleep_at timestamptz;
