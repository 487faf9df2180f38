-- The tables that a package touches, as anybody would lay them out: the same columns, keys and indexes as the service's.

create table organization (organization_id text primary key, status text not null);
create table oauth_client (client_id text primary key, organization_id text not null references organization, status text not null);
create table agent (
  agent_id text primary key, organization_id text not null references organization, status text not null,
  protocol_versions text[] not null, transport_modes text[] not null
);
create table agent_key (
  agent_id text not null references agent, key_id text not null, use text not null, status text not null,
  valid_from text not null, invalid_from text, primary key (agent_id, key_id)
);
create table connector_connection (
  organization_id text not null references organization, connector_id text not null, status text not null,
  primary key (organization_id, connector_id)
);
create table policy_receipt (
  policy_receipt_id text primary key, package_id text not null, sender_org_id text not null references organization,
  recipient_org_id text not null, body text not null, accepted_at timestamptz not null, eligible boolean not null,
  audit_event_id text not null, audit_entries text not null, signing_key_id text not null
);
create index on policy_receipt (package_id);

create table thread (
  thread_id text primary key, transport_mode text not null, protocol_version text not null, created_at timestamptz not null,
  package_count bigint not null default 0, audit_count bigint not null default 0, audit_hash text,
  pairs text[] not null
);
create table package (
  package_id text primary key, thread_id text not null references thread, thread_position bigint not null,
  sender_org_id text not null references organization, sender_agent_id text not null,
  recipient_org_id text not null references organization, recipient_agent_id text not null, transport_mode text not null,
  state text not null, metadata text not null, content_digest text not null, digest_rule text, signing_key_id text not null,
  policy_receipt_id text not null references policy_receipt, created_at text not null, expires_at timestamptz not null,
  accepted_at timestamptz not null, updated_at timestamptz not null, correlation_id text not null,
  unique (thread_id, thread_position)
);
create index on package (policy_receipt_id);
create index on package (expires_at);
create table package_content (package_id text primary key references package, body bytea not null);
alter table package_content alter column body set storage external;

create table audit_entry (
  thread_id text not null, position bigint not null, package_id text not null, sender_org_id text not null,
  recipient_org_id text not null, audit_event_id text unique, event text, proof text not null, previous_hash text,
  hash text not null, recorded_at timestamptz not null, primary key (thread_id, position)
);
create index on audit_entry (package_id, position);

create table notification_stream (
  organization_id text primary key references organization, last_sequence bigint not null default 0
);
create table notification (
  organization_id text not null, sequence bigint not null, notification_id text not null unique, event_id text not null,
  event_type text not null, package_id text not null, body text not null, occurred_at timestamptz not null,
  primary key (organization_id, sequence)
);
create index on notification (occurred_at);

create table webhook_endpoint (
  webhook_endpoint_id text primary key, organization_id text not null references organization, url text not null,
  signing_key_id text not null, status text not null
);
create index on webhook_endpoint (organization_id);
create table delivery (
  delivery_id text primary key, webhook_endpoint_id text not null references webhook_endpoint,
  organization_id text not null, notification_id text not null, event_id text not null, state text not null,
  attempt integer not null default 0, next_attempt_at timestamptz not null, leased_until timestamptz,
  created_at timestamptz not null, finished_at timestamptz
);
create index on delivery (next_attempt_at) where state = 'pending';
create index on delivery (webhook_endpoint_id, state, created_at);
create index on delivery (notification_id);
create table delivery_attempt (
  delivery_id text not null references delivery, attempt integer not null, started_at timestamptz not null,
  outcome text not null, details text not null, primary key (delivery_id, attempt)
);

create table idempotency_record (
  organization_id text not null, scope text not null, key_hash bytea not null, content_hash bytea not null,
  status integer not null, body text not null, recorded_at timestamptz not null,
  primary key (organization_id, scope, key_hash)
);
create index on idempotency_record (recorded_at);
