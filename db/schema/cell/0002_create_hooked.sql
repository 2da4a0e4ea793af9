-- Ids of webhooks and their deliveries: unique in the whole cell, because
-- receivers serve many repositories.
CREATE SEQUENCE cell.webhook_ids;

-- The scopes that have active webhooks, so that an event looks only there.
CREATE TABLE cell.hooked (scope text PRIMARY KEY);
