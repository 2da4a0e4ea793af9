-- What a person is writing, by the form that it is written in.
CREATE TABLE ?scope.drafts (
	key text PRIMARY KEY,
	fields jsonb NOT NULL,
	at timestamptz NOT NULL
);

-- Texts that a person keeps for writing often.
CREATE TABLE ?scope.replies (
	id bigint PRIMARY KEY,
	title text NOT NULL,
	body text NOT NULL,
	updated_at timestamptz NOT NULL
);
