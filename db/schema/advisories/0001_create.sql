CREATE TABLE advisories.published_advisory_packages (
	advisory_id text NOT NULL,
	ecosystem text NOT NULL,
	package text NOT NULL,
	ranges jsonb NOT NULL,
	repo_id bigint,
	published_at timestamptz NOT NULL,
	PRIMARY KEY (ecosystem, package, advisory_id)
);
