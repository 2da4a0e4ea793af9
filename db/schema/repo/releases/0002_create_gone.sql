-- Contents that lost a row: a day later they are deleted, unless another row
-- has them.
CREATE TABLE ?scope.release_gone (
	sha256 text PRIMARY KEY,
	gone_at timestamptz NOT NULL
);
