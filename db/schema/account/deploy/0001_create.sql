-- The deploy tokens that this person made, so that they are found again from
-- here: which repository has them.
CREATE TABLE ?scope.deploy_token_index (
	repo_id bigint NOT NULL,
	token_id bigint NOT NULL,
	name text NOT NULL,
	created_at timestamptz NOT NULL,
	PRIMARY KEY (repo_id, token_id)
);
