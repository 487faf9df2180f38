-- phase: expand
-- runs beside: 0009
-- locks: service_process access exclusive; organization share row exclusive; alert access exclusive; oauth_client access exclusive
-- backfill: expiry of client certificates

-- Secrets under the master key: a rotation replaces their wrapping ------------------------------------------------------

create table wrapped_secret (
  -- platform_keys encrypts private keys of the platform; mac authenticates cursors and derives ids.
  name text primary key check (name in ('platform_keys', 'mac')),
  -- AES-256-GCM under the master key, with the name as additional data.
  wrapped bytea not null,
  -- Fingerprint of that master key.
  master_key_id text not null,
  created_at timestamptz not null,
  wrapped_at timestamptz not null
);

alter table service_process
  -- Fingerprints of the master keys that the process has; null: its release cannot rotate the master key.
  add column master_key_ids text[],
  add column client_ca_expires_at timestamptz;

-- Certificates and keys that expire soon ----------------------------------------------------------------------------------

-- One row for each, until it is replaced. Its alert is raised when the row appears, and once more when it has expired.
create table expiry_notice (
  -- Such as `certificate tls`, `key webhook`, `client client_...`.
  subject text primary key,
  organization_id text not null references organization,
  expires_at timestamptz not null,
  is_expired boolean not null,
  noticed_at timestamptz not null
);

alter table alert drop constraint alert_kind_check;
alter table alert add constraint alert_kind_check check (kind in (
  'delivery_dead', 'endpoint_disabled', 'log_behind', 'log_refusing', 'log_unwitnessed',
  'certificate_expiring', 'key_expiring'));

-- Filled when the certificate is stored; the service fills it for clients of earlier releases.
alter table oauth_client add column certificate_expires_at timestamptz;
create index oauth_client_by_expiry on oauth_client (certificate_expires_at) where certificate is not null;
