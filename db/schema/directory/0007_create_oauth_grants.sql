-- Who lets an app act for them: whose tokens end when the app goes.
CREATE TABLE directory.oauth_grants (
	client_id text NOT NULL,
	account_id bigint NOT NULL REFERENCES directory.accounts (id) ON DELETE CASCADE,
	created_at timestamptz NOT NULL,
	PRIMARY KEY (client_id, account_id)
);
CREATE INDEX oauth_grants_account ON directory.oauth_grants (account_id);
