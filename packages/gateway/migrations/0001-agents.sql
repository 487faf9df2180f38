-- Identifiers are text as the protocol gives them. What must come back byte for byte is text or bytea, never jsonb.
-- Every table of an agent carries agent_id, and every statement filters on it.

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create table gateway_agent (
  agent_id text primary key,
  organization_id text not null,
  base_url text not null,
  client_id text not null,
  -- AgentSettings beside the columns above, as JSON text: log policy, trust, defaults.
  settings text not null default '{}',
  added_at timestamptz not null
);
