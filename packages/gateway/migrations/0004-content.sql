-- phase: expand
-- runs beside: 0004

-- Opened objects of packages, each encrypted by a data key of its own. Deletion removes both; the row stays.
create table content (
  agent_id text not null references gateway_agent,
  package_id text not null,
  number bigint generated always as identity,
  thread_id text not null,
  direction text not null check (direction in ('received', 'sent')),
  content_type text not null,
  stored_at timestamptz not null,
  retention_until timestamptz,
  wrapped_key bytea,
  sealed bytea,
  deleted_at timestamptz,
  primary key (agent_id, package_id),
  check ((deleted_at is null) = (sealed is not null) and (sealed is null) = (wrapped_key is null))
);
create index content_newest on content (agent_id, number desc);
create index content_of_thread on content (agent_id, thread_id, number desc);
create index content_due on content (retention_until) where deleted_at is null and retention_until is not null;

-- A legal hold: nothing of the thread is deleted while it stands.
create table content_hold (
  agent_id text not null references gateway_agent,
  thread_id text not null,
  reason text not null,
  placed_by text not null,
  placed_at timestamptz not null,
  primary key (agent_id, thread_id)
);

-- Who read which plaintext and what for, what was deleted, and every change of a hold.
create table access_record (
  number bigint generated always as identity primary key,
  at timestamptz not null,
  agent_id text not null references gateway_agent,
  thread_id text not null,
  package_id text,
  action text not null check (action in ('read', 'deleted', 'hold_placed', 'hold_released')),
  actor_kind text not null check (actor_kind in ('person', 'system', 'model', 'gateway')),
  actor_id text not null,
  purpose text not null
);
create index access_record_of_package on access_record (agent_id, package_id, number);
create trigger access_record_is_append_only before update or delete on access_record
  for each row execute function refuse_change();
create trigger access_record_is_not_truncated before truncate on access_record
  for each statement execute function refuse_change();
