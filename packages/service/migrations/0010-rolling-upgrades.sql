-- phase: expand
-- runs beside: 0009
-- locks: oauth_client access exclusive; schema_migration access exclusive; service_process access exclusive
-- backfill: key thumbprints of clients

-- Rolling upgrades --------------------------------------------------------------------------------------------------------

-- The oldest release that can run on the schema after this migration, named by its last migration. Null: only releases
-- that contain the migration.
alter table schema_migration add column oldest_code integer;

-- The last migration that the release of the process contains. Null: the release is older than this migration.
alter table service_process add column code_level integer;

-- Rate limits over all processes (O-13) -----------------------------------------------------------------------------------

-- One token bucket per holder, from which processes lease tokens. Unlogged, because a lost bucket is a full one.
create unlogged table rate_bucket (
  holder text primary key,
  tokens double precision not null,
  -- Tokens of the latest lease.
  granted double precision not null,
  filled_at timestamptz not null
-- Updated by every lease: leaves room for the next row version in the same page.
) with (fillfactor = 50);
create index rate_bucket_by_age on rate_bucket (filled_at);

-- Clients are found by the RFC 7638 thumbprint of their key ---------------------------------------------------------------

alter table oauth_client add column key_thumbprint text;
create index oauth_client_by_thumbprint on oauth_client using hash (key_thumbprint);
-- What the backfill has not reached. A process of the previous release adds to it.
create index oauth_client_without_thumbprint on oauth_client (client_id)
  where public_jwk is not null and key_thumbprint is null;
-- A process of the previous release replaces keys without their thumbprint.
create function oauth_client_clears_thumbprint() returns trigger language plpgsql as $$
begin
  new.key_thumbprint := null;
  return new;
end $$;
create trigger oauth_client_clears_thumbprint before update of public_jwk on oauth_client
  for each row when (
    new.public_jwk is distinct from old.public_jwk and new.key_thumbprint is not distinct from old.key_thumbprint)
  execute function oauth_client_clears_thumbprint();
