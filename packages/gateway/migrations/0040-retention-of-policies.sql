-- phase: expand
-- runs beside: 0027
-- locks: content access exclusive; received_policy access exclusive

-- How long a received policy lets the content under it be kept. Null: the policy came before this column.
alter table received_policy add column retention_days double precision;

-- Which policy of its sender a content is under, and when its retention begins: a policy that comes later shortens it.
-- Null: content that is not under a received policy, or that was stored before these columns.
alter table content
  add column sender_organization_id text,
  add column policy_id text,
  add column retention_from timestamptz;
create index content_under_policy on content (agent_id, sender_organization_id, policy_id)
  where deleted_at is null and policy_id is not null;
