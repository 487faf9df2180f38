-- phase: expand
-- runs beside: 0027
-- locks: agent_outbox share

-- The outbox keeps accepted packages for 30 days; metrics and mail ask for the others every few seconds.
create index agent_outbox_unsent on agent_outbox (agent_id, created_at) where state not in ('accepted', 'refused');
