-- How much of each quota (O-13) an organization uses. Counted with the change itself, so that nothing is ever scanned.
create table organization_usage (
  organization_id text primary key references organization,
  agents bigint not null default 0,
  -- Policy receipts that no package has used.
  policy_receipts bigint not null default 0,
  -- Content of the packages that the organization sent and that retention has not removed.
  stored_bytes bigint not null default 0
-- Updated with every batch: there is room for the next version in the same page.
) with (fillfactor = 50);

-- This reads whole tables, which the service's connections otherwise avoid.
set local enable_seqscan = on;
set local enable_hashjoin = on;

insert into organization_usage (organization_id, agents, policy_receipts, stored_bytes)
select organization_id,
  (select count(*) from agent where agent.organization_id = organization.organization_id),
  coalesce(unused.count, 0),
  coalesce(stored.bytes, 0)
from organization
left join (
  select sender_org_id, count(*) from policy_receipt
  where not exists (
    select from package where package.package_id = policy_receipt.package_id
      and package.policy_receipt_id = policy_receipt.policy_receipt_id)
  group by sender_org_id) as unused on unused.sender_org_id = organization_id
left join (
  select sender_org_id, sum(octet_length(before) + octet_length(payload) + octet_length(after)) as bytes
  from package_content join package using (package_id)
  group by sender_org_id) as stored on stored.sender_org_id = organization_id;

-- A revocation names a key and no agent: the key's owner is looked up among the agents of the organization.
create index agent_by_organization on agent (organization_id, agent_id);

-- Who signed: since any agent of a party's organization may sign (O-46), the package no longer says so.
alter table package_receipt add column actor_agent_id text, add column signing_key_id text;
alter table package_receipt disable trigger package_receipt_is_append_only;
update package_receipt set
  actor_agent_id = body::json ->> 'actor_agent_id',
  signing_key_id = body::json #>> '{signature,key_id}';
alter table package_receipt enable trigger package_receipt_is_append_only;
alter table package_receipt alter column actor_agent_id set not null, alter column signing_key_id set not null;

alter table package_revocation add column agent_id text;
alter table package_revocation disable trigger package_revocation_is_append_only;
update package_revocation set agent_id = package.sender_agent_id
from package where package.package_id = package_revocation.package_id;
alter table package_revocation enable trigger package_revocation_is_append_only;
alter table package_revocation alter column agent_id set not null;
