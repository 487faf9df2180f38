-- The transparency log (docs/transparency.md) ----------------------------------------------------------------------------

-- Leaves that wait for the sequencer: one row for each transaction, written in it. Rows that depend on each other are
-- ordered by position, which is allocated under the lock of the thread or agent.
create table log_pending (
  position bigint generated always as identity primary key,
  batch_id bytea not null,
  -- The salts of the leaves are derived from it.
  secret bytea not null check (octet_length(secret) = 32),
  -- 64 bytes for each leaf.
  leaves bytea not null check (octet_length(leaves) > 0 and octet_length(leaves) % 64 = 0),
  recorded_at timestamptz not null default now()
) with (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_insert_threshold = -1);

-- Batches that are in the tree, and the index of their first leaf.
create table log_batch (
  batch_id bytea primary key,
  secret bytea not null,
  first_index bigint not null unique,
  leaf_count integer not null
);

-- The widest version of each tile; level -1 holds the bundles of entries. A narrower version is a prefix of it.
create table log_tile (
  level smallint not null,
  tile_index bigint not null,
  width smallint not null check (width between 1 and 256),
  bytes bytea not null,
  primary key (level, tile_index)
);
-- Hashes do not compress.
alter table log_tile alter column bytes set storage external;

-- One row: the tree, and what the sequencer reports about itself.
create table log_state (
  is_only boolean primary key default true check (is_only),
  origin text not null,
  size bigint not null default 0,
  root bytea not null,
  -- Records and key events from before the log become its first leaves.
  backfilled_through text,
  is_backfilled boolean not null default false,
  holder text,
  -- Set while the sequencer must not sign; JSON with reason and details.
  refusal text,
  reported_at timestamptz,
  -- Since when the tree has leaves that no published checkpoint covers.
  unpublished_since timestamptz,
  -- Kinds of alerts that were raised and whose cause has not ended.
  alerted text[] not null default '{}'
);

-- Signed checkpoints: at most one for each size. `published` is the note with the cosignatures of witnesses.
create table log_checkpoint (
  origin text not null,
  size bigint not null,
  root bytea not null,
  note text not null,
  signed_at timestamptz not null,
  published text,
  published_at timestamptz,
  primary key (origin, size)
);
create index log_checkpoint_published on log_checkpoint (published_at) where published is not null;
create function log_checkpoint_is_signed_once() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE'
    and (old.origin, old.size, old.root, old.note, old.signed_at) = (new.origin, new.size, new.root, new.note, new.signed_at)
    and old.published is null
  then return new; end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger log_checkpoint_is_signed_once before update or delete on log_checkpoint
  for each row execute function log_checkpoint_is_signed_once();
create trigger log_checkpoint_keeps_all before truncate on log_checkpoint
  for each statement execute function refuse_change();

-- Origins that replaced another one, with the last checkpoint of the log before.
create table log_origin (
  origin text primary key,
  previous_origin text not null,
  previous_checkpoint text not null,
  started_at timestamptz not null
);
create trigger log_origin_is_append_only before update or delete on log_origin
  for each row execute function refuse_change();
create trigger log_origin_keeps_all before truncate on log_origin
  for each statement execute function refuse_change();

-- The last answer of each witness.
create table log_witness (
  name text primary key,
  outcome text not null,
  size bigint,
  cosigned_at timestamptz,
  tried_at timestamptz not null
);

-- Where the leaf of a record is. Records from before this migration have a row in log_backfilled_record instead.
-- A process of the previous version cannot add records that the log would miss.
alter table audit_record add column log_batch_id bytea, add column log_offset integer;
alter table audit_record add constraint audit_record_is_logged
  check (log_batch_id is not null and log_offset is not null) not valid;
alter table audit_record alter column log_batch_id set statistics 0, alter column log_offset set statistics 0;
create table log_backfilled_record (
  thread_id text not null,
  last_position bigint not null,
  batch_id bytea not null,
  log_offset integer not null,
  primary key (thread_id, last_position)
);

-- Where the leaf of a key event is.
create table log_key_event (
  event_id text primary key,
  batch_id bytea not null,
  log_offset integer not null
);
-- Checked at commit. A process of the previous version cannot add events that the log would miss.
create function agent_key_event_is_logged() returns trigger language plpgsql as $$
begin
  if not exists (select from log_key_event where event_id = new.event_id) then
    raise exception 'a key event needs a leaf of the transparency log' using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create constraint trigger agent_key_event_is_logged after insert on agent_key_event
  deferrable initially deferred for each row execute function agent_key_event_is_logged();

-- The label of a record needs the signature of the policy receipt: it travels with the package. Null in packages from
-- before this migration, whose policy receipt has it.
alter table package add column receipt_signature text;
alter table package alter column receipt_signature set statistics 0;

-- The key that signs checkpoints (Ed25519).
alter table platform_key drop constraint platform_key_purpose_check;
alter table platform_key add constraint platform_key_purpose_check
  check (purpose in ('webhook', 'token', 'statement', 'log'));

-- Alerts about the log itself belong to the platform and to no endpoint.
alter table alert alter column webhook_endpoint_id drop not null;
alter table alert drop constraint alert_kind_check;
alter table alert add constraint alert_kind_check
  check (kind in ('delivery_dead', 'endpoint_disabled', 'log_behind', 'log_refusing', 'log_unwitnessed'));
