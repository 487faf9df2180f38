-- phase: expand
-- runs beside: 0009
-- locks: delivery_attempt access exclusive; package_content access exclusive; partition_bound access exclusive

-- Second of two steps to partitions. Names and columns of the tables are unchanged, so the previous release keeps working.

-- Reads the tables once, without blocking writers.
do $$
declare
  bound partition_bound;
begin
  for bound in select * from partition_bound order by parent loop
    execute format('alter table %I validate constraint before_bound', bound.parent);
  end loop;
end $$;

-- From here to the commit both tables are locked; every statement changes only the catalog.
select lock_in_short_waits('package_content, delivery_attempt');

-- The partition of all rows before the bound is named after it. A table without a bound is the default partition.
create function partition_of_all(table_name text) returns text stable language sql as $$
  select coalesce(
    (select format('%s_00010101_%s', parent, to_char(until, 'YYYYMMDD')) from partition_bound where parent = table_name),
    table_name || '_default')
$$;

create function set_aside(parent text) returns void language plpgsql as $$
declare
  name text := partition_of_all(parent);
begin
  if exists (select from partition_bound as bound where bound.parent = set_aside.parent) then
    execute format('drop trigger insert_beyond_bound on %I', parent);
    execute format('alter table %I no inherit %I', parent || '_default', parent);
  end if;
  execute format('alter table %I rename to %I', parent, name);
  execute format('alter index %I rename to %I', parent || '_pkey', name || '_pkey');
end $$;

create function attach_partitions(parent text) returns void language plpgsql as $$
declare
  name text := partition_of_all(parent);
  bound partition_bound;
begin
  select * into bound from partition_bound where partition_bound.parent = attach_partitions.parent;
  if found then
    execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', parent, name, bound.key);
  end if;
  execute format('alter table %I attach partition %I default', parent, parent || '_default');
  if bound is not null then
    execute format('alter table %I drop constraint before_bound', name);
    execute format('alter table %I drop constraint beyond_bound', parent || '_default');
  end if;
end $$;

-- One partition for each day of expiry: retention drops it as a whole.
drop trigger package_content_is_never_updated on package_content;
drop trigger package_content_leaves_by_retention on package_content;
select set_aside('package_content');
create table package_content (
  expires_at timestamptz not null,
  part integer not null,
  package_id text not null,
  before text not null,
  payload bytea not null,
  after text not null,
  primary key (expires_at, package_id, part)
) partition by range (expires_at);
alter table package_content alter column payload set storage external;
create trigger package_content_is_never_updated before update on package_content
  for each row execute function refuse_change();
create trigger package_content_leaves_by_retention before delete on package_content
  for each row execute function refuse_delete_outside_retention();
create trigger package_content_keeps_all before truncate on package_content
  for each statement execute function refuse_change();
select attach_partitions('package_content');
-- A truncate trigger applies only to the table that the statement names.
create or replace trigger package_content_keeps_all before truncate on package_content_default
  for each statement execute function refuse_change();
alter table package_content_default set (toast_tuple_target = 8160, autovacuum_vacuum_insert_threshold = -1);

-- One partition for each week in which the deliveries were created.
select set_aside('delivery_attempt');
create table delivery_attempt (
  delivery_id text not null,
  attempt integer not null constraint delivery_attempt_attempt_check check (attempt between 1 and 7),
  started_at timestamptz not null,
  outcome text not null,
  details text not null,
  primary key (delivery_id, attempt)
) partition by range (delivery_id);
select attach_partitions('delivery_attempt');
alter table delivery_attempt_default set (autovacuum_vacuum_insert_threshold = -1);

-- Retention says that it leaves attempts to their partitions. Every other delete, and every delete of the previous release,
-- takes the attempts along.
create or replace function remove_delivery_attempts() returns trigger language plpgsql as $$
begin
  if current_setting('aex.attempts_leave_by_partition', true) = 'on' then return null; end if;
  delete from delivery_attempt using gone where delivery_attempt.delivery_id = gone.delivery_id;
  return null;
end $$;

-- The service copies these settings from the default partition to each partition that it makes.
do $$
declare
  one record;
begin
  for one in
    select attrelid::regclass as name, attname as field,
      case when attname in ('before', 'payload', 'after', 'details') then 0 else 10 end as target
    from pg_attribute
    where attnum > 0 and not attisdropped
      and attrelid in ('package_content_default'::regclass, 'delivery_attempt_default'::regclass)
  loop
    execute format('alter table %s alter column %I set statistics %s', one.name, one.field, one.target);
  end loop;
end $$;

drop function attach_partitions(text), set_aside(text), partition_of_all(text);
drop function prepare_partitions(text, text, text, date), insert_into_child(), lock_in_short_waits(text);
drop table partition_bound;
