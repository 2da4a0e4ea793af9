-- Names that begin with what is typed, whatever the database's locale, and the
-- texts that are searched beside names.
CREATE INDEX accounts_name_prefix ON directory.accounts (name_key text_pattern_ops) WHERE deleted_at IS NULL;
CREATE INDEX accounts_display_trgm ON directory.accounts USING gin (lower(display_name) gin_trgm_ops);
CREATE INDEX repos_description_trgm ON directory.repos USING gin (description gin_trgm_ops);
