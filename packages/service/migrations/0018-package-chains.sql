-- phase: expand
-- runs beside: 0009
-- locks: package access exclusive; audit_record access exclusive; log_state access exclusive; alert access exclusive

-- Version 2 of the evidence: each package has a chain of audit entries of its own (docs/transparency.md). Its last position
-- and link; null where the entries of the package are in the chain of its thread (version 1).
alter table package add column chain_position bigint, add column chain_link bytea;
alter table package add constraint package_chain_has_end
  check ((chain_position is null) = (chain_link is null)) not valid;
alter table package alter column chain_position set statistics 0, alter column chain_link set statistics 0;

-- Position of the first entry of the record in the chain of its package. Null in version 1.
alter table audit_record add column chain_position bigint;
alter table audit_record alter column chain_position set statistics 0;

-- The version of packages that are accepted from now on. The next migration changes it once no older process is left: that
-- one would add entries of version 1 to every package.
create table evidence_version (
  is_only boolean primary key default true check (is_only),
  version integer not null check (version in (1, 2))
);
insert into evidence_version (version) values (1);

-- JSON: the proof that the stored tiles do not give, because one of them is damaged. Null: none is known.
alter table log_state add column damage text;

alter table alert drop constraint alert_kind_check;
alter table alert add constraint alert_kind_check check (kind in (
  'delivery_dead', 'delivery_failed', 'endpoint_disabled', 'endpoint_failing', 'log_behind', 'log_refusing',
  'log_unwitnessed', 'log_damaged', 'certificate_expiring', 'key_expiring'));
