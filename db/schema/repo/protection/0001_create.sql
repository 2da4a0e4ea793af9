-- Rules for branches by pattern; all that match a branch hold together.
CREATE TABLE ?scope.branch_rules (
	id bigint PRIMARY KEY,
	pattern text NOT NULL UNIQUE,
	data jsonb NOT NULL,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
