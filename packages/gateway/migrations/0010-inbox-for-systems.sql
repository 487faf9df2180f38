-- phase: expand
-- runs beside: 0010

-- Packages that wait for a system of the company. The content itself is in the table of contents.
create table inbox_item (
  item_id text primary key,
  agent_id text not null,
  package_id text not null,
  thread_id text not null,
  sequence bigint not null,
  content_type text not null,
  received_at timestamptz not null,
  state text not null default 'waiting' check (state in ('waiting', 'done', 'set_aside')),
  -- Null while an earlier item of the thread waits. While leased: the end of the lease.
  available_at timestamptz,
  attempts integer not null default 0,
  lease_hash bytea,
  leased_by text,
  leased_at timestamptz,
  failure text,
  finished_at timestamptz,
  unique (agent_id, package_id)
);

-- One lease a thread at a time: at most one of its items can be taken.
create unique index inbox_item_head on inbox_item (agent_id, thread_id)
  where state = 'waiting' and available_at is not null;
create index inbox_item_available on inbox_item (agent_id, available_at)
  where state = 'waiting' and available_at is not null;
create index inbox_item_in_thread on inbox_item (agent_id, thread_id, sequence) where state = 'waiting';
create index inbox_item_set_aside on inbox_item (agent_id, item_id) where state = 'set_aside';
create index inbox_item_finished on inbox_item (finished_at) where state = 'done';
