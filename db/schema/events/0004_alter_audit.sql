-- What an entry names, as it was called then, and how the actor came in.
ALTER TABLE events.audit
	ADD COLUMN actor text NOT NULL DEFAULT '',
	ADD COLUMN target text NOT NULL DEFAULT '',
	ADD COLUMN via text NOT NULL DEFAULT '';
CREATE INDEX audit_actor ON events.audit (actor_id, id);
