-- Apps that the account made.
CREATE TABLE ?scope.apps (
	id bigint PRIMARY KEY,
	client_id text NOT NULL UNIQUE,
	name text NOT NULL,
	description text NOT NULL DEFAULT '',
	homepage text NOT NULL DEFAULT '',
	callbacks text[] NOT NULL DEFAULT '{}',
	device boolean NOT NULL DEFAULT false,
	expires boolean NOT NULL DEFAULT true,
	secrets jsonb NOT NULL DEFAULT '[]',
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);

-- Apps that the account lets act for it; their tokens are credentials.
CREATE TABLE ?scope.grants (
	id bigint PRIMARY KEY,
	client_id text NOT NULL UNIQUE,
	scopes text[] NOT NULL DEFAULT '{}',
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
