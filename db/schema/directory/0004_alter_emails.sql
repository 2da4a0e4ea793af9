-- An address belongs to whoever confirmed it; others may name it without
-- learning whether it is known.
ALTER TABLE directory.user_emails DROP CONSTRAINT user_emails_pkey;
ALTER TABLE directory.user_emails ADD PRIMARY KEY (email_key, account_id);
CREATE UNIQUE INDEX user_emails_verified ON directory.user_emails (email_key) WHERE verified_at IS NOT NULL;
