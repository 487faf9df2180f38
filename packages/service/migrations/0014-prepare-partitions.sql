-- phase: expand
-- runs beside: 0009
-- locks: delivery_attempt access exclusive; package_content access exclusive

-- First of two steps to partitions (docs/decisions/0026-partitions.md). A table that has rows becomes the partition of all
-- rows before a bound. The proof that no row lies beyond the bound reads the whole table; the next migration does so without
-- blocking writers. Until then, rows beyond the bound go to a child table, which every read of the table includes.

-- Detached partitions that have not been dropped yet.
create table retired_partition (
  name text primary key,
  parent text not null,
  detached_at timestamptz not null,
  -- Blocks of package_content whose bytes no longer count against the quotas of their senders.
  credited_blocks bigint not null default 0
);

-- The bound of each table that had rows. Dropped by the next migration.
create table partition_bound (
  parent text primary key,
  key text not null,
  until date not null
);

-- Waits two seconds at a time, so that the requests that queue behind it are not held up longer. Autovacuum gives way to
-- a lock request after one second.
create function lock_in_short_waits(tables text) returns void language plpgsql as $$
declare
  usual text := current_setting('lock_timeout');
begin
  for attempt in 1..60 loop
    begin
      perform set_config('lock_timeout', '2s', true);
      execute 'lock table ' || tables || ' in access exclusive mode';
      perform set_config('lock_timeout', usual, true);
      return;
    exception when lock_not_available then
      perform pg_sleep(1);
    end;
  end loop;
  raise exception 'tables % stayed locked for minutes: end long transactions, then start again', tables
    using errcode = 'lock_not_available';
end $$;

create function insert_into_child() returns trigger language plpgsql as $$
begin
  execute format('insert into %I select ($1).*', tg_table_name || '_default') using new;
  return null;
end $$;

create function prepare_partitions(parent text, field text, key text, until date) returns void language plpgsql as $$
declare
  child text := parent || '_default';
begin
  execute format(
    'create table %I (like %I including all, constraint beyond_bound check (%I >= %L)) inherits (%I)',
    child, parent, field, key, parent);
  execute format(
    'with moved as (delete from only %I where %I >= %L returning *) insert into %I select * from moved',
    parent, field, key, child);
  execute format(
    'create trigger insert_beyond_bound before insert on %I for each row when (new.%I >= %L)
       execute function insert_into_child()',
    parent, field, key);
  execute format(
    'alter table %I add constraint before_bound check (%I < %L) no inherit not valid', parent, field, key);
  insert into partition_bound values (parent, key, until);
end $$;

do $$
declare
  -- Rows that this transaction moves to the child at most; more would hold the lock for too long.
  most constant integer := 2000;
  ahead interval;
  bound timestamptz;
begin
  perform lock_in_short_waits('package_content, delivery_attempt');
  perform set_config('aex.retention', 'on', true);
  if exists (select from package_content) then
    -- The nearest bound that few contents lie beyond. Without one, the whole table becomes the default partition.
    foreach ahead in array array['8 days', '36 days', '1 year', '10 years']::interval[] loop
      bound := date_trunc('day', now() + ahead, 'UTC');
      exit when (
        select count(*) <= most from (
          select from package_content where expires_at >= bound limit most + 1) as beyond);
      bound := null;
    end loop;
    if bound is not null then
      perform prepare_partitions('package_content', 'expires_at', bound::text, (bound at time zone 'UTC')::date);
    end if;
  end if;
  if exists (select from delivery_attempt) then
    -- Delivery ids begin with the time. Weeks begin as those of the service do, counted from 1970.
    bound := date_bin('7 days', now() + interval '14 days', '1970-01-01 00:00:00+00');
    perform prepare_partitions(
      'delivery_attempt', 'delivery_id',
      'dlv_' || lpad(to_hex((extract(epoch from bound) * 1000)::bigint), 12, '0'), (bound at time zone 'UTC')::date);
  end if;
end $$;
