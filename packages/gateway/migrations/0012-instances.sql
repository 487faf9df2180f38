-- phase: expand
-- runs beside: 0011

-- Running instances, with fingerprints of the master keys that each has: a rotation waits for all of them.
create table gateway_instance (
  instance_id text primary key,
  master_key_ids text[] not null,
  seen_at timestamptz not null
);
