-- What happened and waits for an account to take it into its inbox: one row
-- per person and event, so that telling many people is one statement.
CREATE TABLE cell.deliveries (
	account_id bigint NOT NULL,
	event_id text NOT NULL,
	seq bigint NOT NULL,
	item jsonb NOT NULL,
	PRIMARY KEY (account_id, event_id)
);
