-- phase: expand
-- runs beside: 0040
-- locks: agent_draft share

-- An agent keeps ten thousand sent drafts; those that are open are counted with each new one.
create index agent_draft_open on agent_draft (agent_id, created_at) where sent_at is null;
