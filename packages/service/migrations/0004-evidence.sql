-- Evidence is ordered by the time of recording, which never runs backwards along a chain (O-43): the end of the chain keeps
-- the last one. A constant default rewrites no row: entries that follow in an old thread are recorded from now on.
alter table thread add column audit_recorded_at timestamptz not null default now();
alter table thread alter column audit_recorded_at set statistics 10;

-- AUD-01: which clients of the recipient's organization have fetched a package. Each leaves one entry in evidence.
create table content_fetch (
  package_id text not null,
  client_id text not null,
  primary key (package_id, client_id)
);
create trigger content_fetch_is_append_only before update or delete on content_fetch
  for each row execute function refuse_change();
create trigger content_fetch_keeps_all before truncate on content_fetch
  for each statement execute function refuse_change();

-- AUD-02: the sender finds the audit entries of a policy receipt by its thread, also where no package ever referred to it.
-- Of the receipts that are there, only those without a package need the thread's id: it is in their audit events.
drop trigger policy_receipt_is_append_only on policy_receipt;
alter table policy_receipt add column thread_id text, alter column body drop not null;
update policy_receipt set thread_id = substring(audit_entries from '"thread_id":"([A-Za-z0-9_-]+)"')
  where not exists (
    select from package where package.package_id = policy_receipt.package_id
      and package.policy_receipt_id = policy_receipt.policy_receipt_id);
create index policy_receipt_by_thread on policy_receipt (thread_id, sender_org_id, accepted_at, audit_event_id)
  where thread_id is not null;
create index policy_receipt_by_time on policy_receipt (accepted_at);
alter table policy_receipt alter column thread_id set statistics 10;

-- O-18: retention takes the body of a receipt that no package refers to. The rest of the row stays: its audit entries, and
-- its id, which nobody gets again.
create function policy_receipt_keeps_all_but_body() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and current_setting('aex.retention', true) = 'on' and new.body is null
    and to_jsonb(new) - 'body' = to_jsonb(old) - 'body'
  then return new; end if;
  raise exception '% is append-only outside retention', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger policy_receipt_is_append_only before update or delete on policy_receipt
  for each row execute function policy_receipt_keeps_all_but_body();

-- How far a task of retention has come that looks at each row once.
create table retention_progress (
  task text primary key,
  done_until timestamptz not null
);
