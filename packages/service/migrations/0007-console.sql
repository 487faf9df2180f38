-- Roles, sessions and sign-in attempts of operators ---------------------------------------------------------------------

-- Existing operators could do everything. A process of the previous version creates viewers, which is the safe side.
alter table operator add column role text not null default 'administrator'
  check (role in ('viewer', 'operator', 'administrator'));
alter table operator alter column role set default 'viewer';

-- Browser sessions of the console. The cookie holds the token; only its hash is stored.
create table operator_session (
  session_id text primary key,
  token_hash bytea not null unique,
  -- A row of `operator` for tokens, a name of the identity provider (`oidc:...`) otherwise.
  operator_name text not null,
  -- For `oidc` only: the role of a token session is that of its operator.
  role text check (role in ('viewer', 'operator', 'administrator')),
  signed_in_by text not null check (signed_in_by in ('token', 'oidc')),
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  check ((signed_in_by = 'oidc') = (role is not null))
);
create index operator_session_by_operator on operator_session (operator_name, created_at);
create index operator_session_by_expiry on operator_session (expires_at);

-- Addresses are hashed into a fixed number of rows, so the table is bounded.
create table sign_in_attempts (
  bucket integer primary key,
  window_start timestamptz not null,
  attempts integer not null
);

-- Filters of the operator log.
create index operator_log_by_actor on operator_log (actor, entry);
create index operator_log_by_action on operator_log (action, entry);
create index operator_log_by_target on operator_log (target, entry);

-- The overview ----------------------------------------------------------------------------------------------------------

-- What all processes counted, minute by minute; kept for 25 hours. A latency has a row for each bucket of its histogram.
create table activity_minute (
  minute timestamptz not null,
  metric text not null,
  bucket smallint not null default 0,
  count bigint not null,
  primary key (minute, metric, bucket)
) with (fillfactor = 50);

-- Processes that report. One that has stopped disappears after an hour.
create table service_process (
  process_id text primary key,
  role text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null,
  certificate_expires_at timestamptz,
  disk_free_bytes bigint,
  disk_total_bytes bigint
);

create index webhook_endpoint_disabled on webhook_endpoint (disabled_at) where status = 'disabled';
