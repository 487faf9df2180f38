-- Identifiers are text as the protocol gives them. What must come back byte for byte is text or bytea, never jsonb.
-- Times are timestamptz; where a client's own spelling matters, it stands in the stored body.

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

-- Retention is the one reason to delete from some append-only tables; its job says so for its own transaction.
create function refuse_delete_outside_retention() returns trigger language plpgsql as $$
begin
  if current_setting('aex.retention', true) = 'on' then return old; end if;
  raise exception '% is append-only outside retention', tg_table_name using errcode = 'restrict_violation';
end $$;

-- Organizations, their clients and operators -----------------------------------------------------------------

create table organization (
  organization_id text primary key,
  name text not null,
  contact text,
  status text not null default 'active' check (status in ('active', 'suspended')),
  created_at timestamptz not null
);

create table oauth_client (
  client_id text primary key,
  organization_id text not null references organization,
  agent_id text,
  authentication text not null
    check (authentication in ('private_key_jwt', 'tls_client_auth', 'self_signed_tls_client_auth')),
  public_jwk text,
  certificate text,
  tls_san_dns text,
  status text not null default 'active' check (status in ('active', 'disabled')),
  created_at timestamptz not null
);
create index oauth_client_by_organization on oauth_client (organization_id, created_at);

-- Each client assertion works once; rows go when the assertion would have expired.
create table assertion_use (
  assertion_hash bytea primary key,
  expires_at timestamptz not null
);
create index assertion_use_by_expiry on assertion_use (expires_at);

create table operator (
  name text primary key,
  token_hash bytea not null unique,
  created_at timestamptz not null,
  disabled_at timestamptz
);

create table operator_log (
  entry bigint generated always as identity primary key,
  recorded_at timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  reason text,
  details text not null default '{}'
);
create trigger operator_log_is_append_only before update or delete on operator_log
  for each row execute function refuse_change();
create trigger operator_log_keeps_all before truncate on operator_log
  for each statement execute function refuse_change();

-- The platform's own keys, private parts encrypted under the master key -----------------------------------------

create table platform_key (
  key_id text primary key,
  purpose text not null check (purpose in ('webhook', 'token', 'statement')),
  public_jwk text not null,
  private_key_encrypted bytea not null,
  valid_from timestamptz not null,
  valid_until timestamptz not null,
  status text not null check (status in ('active', 'retiring', 'retired', 'revoked')),
  created_at timestamptz not null,
  revoked_at timestamptz,
  invalid_from timestamptz
);
create index platform_key_by_purpose on platform_key (purpose, valid_from);

-- Agents and keys ------------------------------------------------------------------------------------------------

create table agent (
  agent_id text primary key,
  organization_id text not null references organization,
  implementation text not null,
  implementation_version text not null,
  protocol_versions text[] not null,
  skill_versions text not null,
  transport_modes text[] not null,
  status text not null,
  certification_status text not null,
  registered_at timestamptz not null,
  updated_at timestamptz not null
);

create table agent_key (
  agent_id text not null references agent,
  key_id text not null,
  use text not null check (use in ('signing', 'encryption')),
  public_jwk text not null,
  thumbprint text not null,
  valid_from text not null,
  replaces_key_id text,
  status text not null check (status in ('active', 'retiring', 'retired', 'revoked')),
  registered_at timestamptz not null,
  revoked_at timestamptz,
  invalid_from text,
  primary key (agent_id, key_id)
);

create table agent_key_event (
  event_id text primary key,
  agent_id text not null,
  key_id text not null,
  kind text not null check (kind in ('registered', 'retiring', 'revoked')),
  recorded_at timestamptz not null,
  actor text not null,
  details text not null,
  position bigint generated always as identity
);
create index agent_key_event_by_key on agent_key_event (agent_id, key_id, position);
create trigger agent_key_event_is_append_only before update or delete on agent_key_event
  for each row execute function refuse_change();
create trigger agent_key_event_keeps_all before truncate on agent_key_event
  for each statement execute function refuse_change();

-- Skills -----------------------------------------------------------------------------------------------------------

create table skill_artifact (
  digest text primary key,
  content bytea not null,
  stored_at timestamptz not null
);

create table skill_release (
  skill_id text not null,
  version text not null,
  position bigint generated always as identity unique,
  protocol_range text not null,
  body text not null,
  artifact_digest text not null references skill_artifact,
  published_at timestamptz not null,
  primary key (skill_id, version)
);

-- Connectors ---------------------------------------------------------------------------------------------------------

create table connector_connection (
  organization_id text not null references organization,
  connector_id text not null,
  participant_id text not null,
  endpoint text not null,
  status text not null check (status in ('approved', 'suspended', 'revoked')),
  approved_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, connector_id)
);

-- Policy receipts -------------------------------------------------------------------------------------------------------

-- From here on, rows that come with every package name others without a foreign key: what they name was read under lock
-- in the same transaction and is never deleted, and each check would lock its organization's one row anew.

create table policy_receipt (
  policy_receipt_id text primary key,
  package_id text not null,
  sender_org_id text not null,
  recipient_org_id text not null,
  body text not null,
  accepted_at timestamptz not null,
  eligible boolean not null,
  audit_event_id text not null,
  -- The audit entries of this receipt, three lines each; they join the thread's chain with the package that refers to it.
  audit_entries text not null,
  signing_key_id text not null
-- Rows of two or three kilobytes stay in their page as they are: packing them, and unpacking each for a package, costs more.
) with (toast_tuple_target = 8160);
create trigger policy_receipt_is_append_only before update or delete on policy_receipt
  for each row execute function refuse_change();
create trigger policy_receipt_keeps_all before truncate on policy_receipt
  for each statement execute function refuse_change();

-- Threads, packages, receipts ----------------------------------------------------------------------------------------------

create table thread (
  thread_id text primary key,
  transport_mode text not null check (transport_mode in ('native', 'ds_x')),
  protocol_version text not null,
  created_at timestamptz not null,
  package_count bigint not null default 0,
  audit_count bigint not null default 0,
  audit_hash text,
  -- Who has exchanged packages with whom, in the order of joining: two organizations with a space between them, once for
  -- each direction. How many may take part is limited (O-31).
  pairs text[] not null
);

create table package (
  package_id text primary key,
  thread_id text not null,
  thread_position bigint not null,
  sender_org_id text not null,
  sender_agent_id text not null,
  recipient_org_id text not null,
  recipient_agent_id text not null,
  transport_mode text not null,
  state text not null,
  metadata text not null,
  content_digest text not null,
  digest_rule text,
  signing_key_id text not null,
  policy_receipt_id text not null,
  responds_to_package_id text,
  edc text,
  sender_signature text,
  -- The sender's claim as it was written: it may have more digits, or an older year, than timestamptz keeps.
  created_at text not null,
  expires_at timestamptz not null,
  accepted_at timestamptz not null,
  updated_at timestamptz not null,
  correlation_id text not null,
  unique (thread_id, thread_position)
);

-- The submitted bytes of native packages; apart, so that retention can drop them and keep the record. In parts, two to a page:
-- one large value would be cut by the server into pieces half that size, each with an index entry of its own.
create table package_content (
  -- The package's, which whoever looks for its content knows. First in the key: what comes together lies together, and
  -- retention finds what is still to go, and never what has gone before.
  expires_at timestamptz not null,
  part integer not null,
  package_id text not null,
  -- The part's text: this, then the payload in base64url, then the other.
  before text not null,
  payload bytea not null,
  after text not null,
  primary key (expires_at, package_id, part)
) with (toast_tuple_target = 8160);
alter table package_content alter column payload set storage external;
create trigger package_content_is_never_updated before update on package_content
  for each row execute function refuse_change();
create trigger package_content_leaves_by_retention before delete on package_content
  for each row execute function refuse_delete_outside_retention();
create trigger package_content_keeps_all before truncate on package_content
  for each statement execute function refuse_change();

create table package_receipt (
  package_id text not null,
  receipt_id text not null,
  position bigint generated always as identity,
  state text not null,
  body text not null,
  signature_form text not null check (signature_form in ('bound', 'plain')),
  accepted_at timestamptz not null,
  primary key (package_id, receipt_id)
);
create trigger package_receipt_is_append_only before update or delete on package_receipt
  for each row execute function refuse_change();
create trigger package_receipt_keeps_all before truncate on package_receipt
  for each statement execute function refuse_change();

create table package_revocation (
  package_id text primary key references package,
  body text not null,
  signature_form text not null check (signature_form in ('bound', 'plain')),
  revoked_at timestamptz not null,
  audit_event_id text not null
);
create trigger package_revocation_is_append_only before update or delete on package_revocation
  for each row execute function refuse_change();
create trigger package_revocation_keeps_all before truncate on package_revocation
  for each statement execute function refuse_change();

-- A statement's signature belongs to one package (O-22).
create table statement_signature (
  signature_hash bytea primary key,
  package_id text not null
);

-- Audit ------------------------------------------------------------------------------------------------------------------------

-- What was added to a thread's chain about one package in one go. Positions are those of its first and last entry.
create table audit_record (
  thread_id text not null,
  first_position bigint not null,
  last_position bigint not null check (last_position >= first_position),
  package_id text not null,
  sender_org_id text not null,
  recipient_org_id text not null,
  -- Whose audit entries stand first in it: their text stays there.
  policy_receipt_id text,
  -- JSON: a list of {entry, hash}, each entry in the very form that was hashed. Those of the policy receipt are {position,
  -- previous_hash, hash}: what was added to their text.
  entries text not null,
  primary key (thread_id, last_position)
) with (toast_tuple_target = 8160);
create index audit_record_by_package on audit_record (package_id, last_position);
create trigger audit_record_is_append_only before update or delete on audit_record
  for each row execute function refuse_change();
create trigger audit_record_keeps_all before truncate on audit_record
  for each statement execute function refuse_change();

-- Notifications and deliveries -----------------------------------------------------------------------------------------------

-- The next sequence of each organization's stream; locked in the transaction that uses it, so that no number is lost.
create table notification_stream (
  organization_id text primary key references organization,
  last_sequence bigint not null default 0,
  first_retained bigint not null default 1
);

create table notification (
  organization_id text not null,
  sequence bigint not null,
  -- Begins with the time: what is oldest comes first in its index.
  notification_id text not null unique,
  event_id text not null,
  event_type text not null,
  package_id text not null,
  body text not null,
  occurred_at timestamptz not null,
  primary key (organization_id, sequence)
);
create trigger notification_is_never_updated before update on notification
  for each row execute function refuse_change();
create trigger notification_leaves_by_retention before delete on notification
  for each row execute function refuse_delete_outside_retention();
create trigger notification_keeps_all before truncate on notification
  for each statement execute function refuse_change();

create table notification_acknowledgement (
  notification_id text primary key,
  organization_id text not null,
  body text not null,
  acknowledged_at timestamptz not null
);

create table webhook_endpoint (
  webhook_endpoint_id text primary key,
  organization_id text not null references organization,
  url text not null,
  event_types text[] not null,
  signing_key_id text not null references platform_key,
  status text not null check (status in ('active', 'disabled', 'deleted')),
  status_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- What it missed and nobody has replayed yet: the stream after the one number up to the other, and deliveries that
  -- failed between the two times. A second pause before a replay only makes them wider.
  disabled_at timestamptz,
  enabled_at timestamptz,
  missed_after bigint,
  missed_until bigint
);
create index webhook_endpoint_by_organization on webhook_endpoint (organization_id) where status <> 'deleted';
create index webhook_endpoint_deleted on webhook_endpoint (organization_id) where status = 'deleted';
create index webhook_endpoint_by_key on webhook_endpoint (signing_key_id) where status <> 'deleted';

create table delivery (
  delivery_id text primary key,
  webhook_endpoint_id text not null references webhook_endpoint,
  organization_id text not null,
  package_id text not null,
  notification_id text not null,
  event_id text not null,
  state text not null check (state in ('pending', 'delivered', 'failed', 'dead')),
  attempt integer not null default 0 check (attempt between 0 and 7),
  next_attempt_at timestamptz not null,
  -- While an attempt is under way, and by which worker.
  leased_until timestamptz,
  leased_by text,
  created_at timestamptz not null,
  finished_at timestamptz,
  replay_of text references delivery,
  replay_actor text,
  replay_reason text
-- Each row is written three times in its first second, the second time in its place: for that pages keep room, and what is
-- left behind is cleared away early.
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- What is to be sent, endpoint by endpoint: a claim looks only into those whose turn it is. What is under way stays in it,
-- at the front: no index says so, and a claim changes none.
-- Many come due in the same millisecond: entries of their own can be marked dead one by one, and are not read again.
create index delivery_waiting on delivery (webhook_endpoint_id, next_attempt_at) with (deduplicate_items = off)
  where state = 'pending';
-- Evidence asks what was attempted for a package, a replay what became of a notification of it.
create index delivery_by_package on delivery (package_id);
-- Lists, the newest first: an id begins with the time at which it was made, so the key itself is the list of all. Those of an
-- endpoint are apart by state, so that each row enters them once, when it is finished.
create index delivery_delivered on delivery (webhook_endpoint_id, delivery_id) where state = 'delivered';
create index delivery_in_trouble on delivery (delivery_id) where state in ('failed', 'dead');
create index delivery_in_trouble_by_endpoint on delivery (webhook_endpoint_id, delivery_id)
  where state in ('failed', 'dead');
create index delivery_by_replay on delivery (replay_of) where replay_of is not null;

-- What a worker took at once. When the lease has ended, whatever of it is still under way was lost.
create table delivery_claim (
  leased_until timestamptz not null,
  claim_id bigint generated always as identity,
  worker text not null,
  delivery_ids text[] not null,
  primary key (leased_until, claim_id)
-- As many rows as claims in the length of a lease, each removed after it.
) with (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_insert_threshold = -1);

-- Written with its delivery in one statement and removed with it; a foreign key would cost as much as the rest of that.
create table delivery_attempt (
  delivery_id text not null,
  attempt integer not null check (attempt between 1 and 7),
  started_at timestamptz not null,
  outcome text not null,
  details text not null,
  primary key (delivery_id, attempt)
);
create function remove_delivery_attempts() returns trigger language plpgsql as $$
begin
  delete from delivery_attempt using gone where delivery_attempt.delivery_id = gone.delivery_id;
  return null;
end $$;
create trigger delivery_takes_its_attempts after delete on delivery referencing old table as gone
  for each statement execute function remove_delivery_attempts();

-- What the owner of an endpoint has to know (O-19). Only how its mail fares ever changes.
create table alert (
  alert_id bigint generated always as identity primary key,
  organization_id text not null references organization,
  webhook_endpoint_id text not null references webhook_endpoint,
  delivery_id text,
  kind text not null check (kind in ('delivery_dead', 'endpoint_disabled')),
  reason text not null,
  raised_at timestamptz not null,
  -- new: not yet logged. off, no_contact: there is no mail server, or nobody to write to.
  mail_state text not null check (mail_state in ('new', 'waiting', 'sent', 'failed', 'off', 'no_contact')),
  mail_tries integer not null default 0,
  mail_next_at timestamptz not null,
  mailed_at timestamptz,
  mail_error text,
  unique (delivery_id, kind)
);
create index alert_by_organization on alert (organization_id, alert_id);
create index alert_by_endpoint on alert (webhook_endpoint_id, alert_id);
create index alert_by_time on alert (raised_at);
create index alert_to_log on alert (alert_id) where mail_state = 'new';
create index alert_to_mail on alert (mail_next_at) where mail_state = 'waiting';
create index alert_last_mail on alert (webhook_endpoint_id, mailed_at) where mail_state = 'sent';
create function alert_keeps_what_it_says() returns trigger language plpgsql as $$
begin
  if (old.alert_id, old.organization_id, old.webhook_endpoint_id, old.kind, old.reason, old.raised_at)
    is distinct from
    (new.alert_id, new.organization_id, new.webhook_endpoint_id, new.kind, new.reason, new.raised_at)
    or old.delivery_id is distinct from new.delivery_id
  then raise exception 'what an alert says is append-only' using errcode = 'restrict_violation'; end if;
  return new;
end $$;
create trigger alert_keeps_what_it_says before update on alert
  for each row execute function alert_keeps_what_it_says();
create trigger alert_leaves_by_retention before delete on alert
  for each row execute function refuse_delete_outside_retention();
create trigger alert_keeps_all before truncate on alert
  for each statement execute function refuse_change();

-- Idempotency ------------------------------------------------------------------------------------------------------------------

create table idempotency_record (
  organization_id text not null,
  scope text not null,
  key_hash bytea not null,
  content_hash bytea not null,
  status integer not null,
  body text not null,
  recorded_at timestamptz not null,
  primary key (organization_id, scope, key_hash)
);
create index idempotency_record_by_time on idempotency_record (recorded_at);

-- Upkeep -----------------------------------------------------------------------------------------------------------------------

-- By default the server reads every new page again soon after it was filled, and notes in it that its rows are there for
-- all: under load that took a tenth of a core. What retention takes away is looked at when it goes; what stays, in large
-- steps.
alter table package_content set (autovacuum_vacuum_insert_threshold = -1);
alter table notification set (autovacuum_vacuum_insert_threshold = -1);
alter table delivery set (autovacuum_vacuum_insert_threshold = -1);
alter table delivery_attempt set (autovacuum_vacuum_insert_threshold = -1);
alter table idempotency_record set (autovacuum_vacuum_insert_threshold = -1);
alter table policy_receipt set (autovacuum_vacuum_insert_threshold = 1000000);
alter table thread set (autovacuum_vacuum_insert_threshold = 1000000);
alter table package set (autovacuum_vacuum_insert_threshold = 1000000);
alter table audit_record set (autovacuum_vacuum_insert_threshold = 1000000);

-- Statements go by their indexes whatever the statistics say: a small sample is enough, and none of texts that are never
-- searched. With the default, an analysis of the audit of 70,000 packages took nine seconds.
do $$
declare one record;
begin
  for one in
    select attrelid::regclass as name, attname as field,
      case when attname in ('body', 'before', 'payload', 'after', 'audit_entries', 'metadata', 'edc', 'sender_signature',
          'entries', 'details')
        then 0 else 10 end as target
    from pg_attribute
    where attnum > 0 and attrelid in ('policy_receipt'::regclass, 'thread'::regclass, 'package'::regclass,
      'package_content'::regclass, 'audit_record'::regclass, 'notification'::regclass, 'delivery'::regclass,
      'delivery_attempt'::regclass, 'idempotency_record'::regclass)
  loop
    execute format('alter table %s alter column %I set statistics %s', one.name, one.field, one.target);
  end loop;
end $$;
